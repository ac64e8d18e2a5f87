// probe.cpp: see driver.hpp.
// Read next: load.cpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/driver.hpp>

#include <drey/cuda/driver_table.hpp>

#include <cstdint>

namespace drey::cuda {
namespace {
DriverStatus ask(const LoadedDriver& driver) noexcept {
  DriverStatus status;
  if (driver.reason.length() != 0) {
    status.reason.add(driver.reason.c_str());
    return status;
  }
  status.version = driver.version;
  const Result started = driver.table.init(0);
  if (started != Result::kSuccess) {
    status.reason.add("the CUDA driver does not start: error ");
    status.reason.add(static_cast<std::uint64_t>(started));
    return status;
  }
  const Result counted = driver.table.device_get_count(&status.device_count);
  if (counted != Result::kSuccess) {
    status.reason.add("the CUDA driver counts no devices: error ");
    status.reason.add(static_cast<std::uint64_t>(counted));
  } else if (status.device_count == 0) {
    status.reason.add("the CUDA driver shows no device");
  }
  return status;
}
}  // namespace

DriverStatus probe_driver(const char* library) noexcept {
  return ask(load_driver(library));
}

DriverStatus probe_driver() noexcept {
  return ask(load_driver());
}
}  // namespace drey::cuda
