// settings.hpp: what the environment says of the trace: DREY_TRACE=FILE, DREY_TRACE_LIMIT=BYTES,
// DREY_TRACE_CLOCK=kernel.
// Read next: settings.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/units.hpp>

#include <cstdint>

namespace drey::trace {
inline constexpr std::uint64_t kLimitDefaultBytes = 1_GiB;
inline constexpr std::uint64_t kLimitMinBytes = 128_KiB;  // the header and one chunk

struct Settings {
  char path[960] = {};  ///< absolute: the program may change its folder
  std::uint64_t limit_bytes = kLimitDefaultBytes;
  bool wants_kernel_clock = false;  ///< even where the processor's counter would do
};

/// Returns: false where no trace is wanted, or its name is too long (one line says so).
/// A limit or a clock that cannot be read is one line, and the default.
[[nodiscard]] bool read_settings(Settings& settings) noexcept;
}  // namespace drey::trace
