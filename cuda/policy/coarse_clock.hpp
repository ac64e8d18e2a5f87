// coarse_clock.hpp: milliseconds by a clock that costs little; for how long a block is free.
// Invariant: none; it wraps around after 49 days, and then a block may count as freed just now.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ctime>

namespace drey::cuda {
[[nodiscard]] inline std::uint32_t coarse_ms() noexcept {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint32_t>(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}
}  // namespace drey::cuda
