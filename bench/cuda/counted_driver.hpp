// counted_driver.hpp: the driver that does nothing, with a count of its calls and of recorded events.
// Invariant: every entry of the table counts one call; the counts are the calling thread's.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_table.hpp>

#include <cstdint>

namespace drey::bench {
struct DriverCalls {
  std::uint64_t all = 0;
  std::uint64_t events = 0;  ///< cuEventRecord
};

[[nodiscard]] const cuda::DriverTable& counted_driver() noexcept;
/// The calling thread's, since it began.
[[nodiscard]] DriverCalls driver_calls() noexcept;
}  // namespace drey::bench
