// driver.hpp: is there a CUDA driver, and what does it see? Asked by dlopen, so that a program that
// can use a GPU starts without one.
// Invariants: never throws, never prints; `reason` is empty exactly if a device can be used.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/text.hpp>

namespace drey::cuda {
struct DriverStatus {
  int version = 0;       ///< 12040 for 12.4; 0 without a driver
  int device_count = 0;  ///< devices the driver shows this process
  Text<160> reason;      ///< why no device can be used; empty if one can
};

/// Loads the driver (load_driver) and counts its devices. Threads: any. Cost: the driver's start, once a process.
[[nodiscard]] DriverStatus probe_driver() noexcept;

/// As probe_driver(), with the name of the driver's library. For tests.
[[nodiscard]] DriverStatus probe_driver(const char* library) noexcept;
}  // namespace drey::cuda
