// one_run.hpp: one run of drey's allocator on a device of a given size, to its end or to an event: on the
// simulated device or on the driver that is here, with a snapshot of its memory at that moment.
// Read next: run.hpp, policy.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "replay/run.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace drey::cuda::replay {
struct OneRunOptions {
  bool on_real_driver = false;
  std::uint64_t capacity =
      0;  ///< bytes; 0: without limit simulated, 2 % above the live bytes on a driver
  std::string snapshot_at;  ///< "peak", "oom" or an event's number from 0; empty: no snapshot
};

struct OneRun {
  std::string driver;  ///< "simulated", or the driver's version
  std::uint64_t capacity = 0;
  Run run;
  double seconds = 0;    ///< by the wall's clock
  std::string snapshot;  ///< a pickle for PyTorch's memory viewer; empty if none was asked for
  std::size_t snapshot_event = 0;
};

/// Fails: BadInput for a moment that does not come, or a driver that is not there.
[[nodiscard]] OneRun run_once(const trace::DeviceTrace& trace, const OneRunOptions& options);
[[nodiscard]] std::string line_of(const std::string& source, const OneRun& once);
[[nodiscard]] std::string json_of(const std::string& source, const trace::DeviceTrace& trace,
                                  const OneRun& once);
}  // namespace drey::cuda::replay
