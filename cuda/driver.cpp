// driver.cpp: see driver.hpp. The three functions are declared here, from the driver's documented C
// interface, so that no CUDA header is needed to build.
// SPDX-License-Identifier: MIT
#include <drey/cuda/driver.hpp>

#include <cstdint>

#include <dlfcn.h>

namespace drey::cuda {
namespace {
using InitialiseFunction = int (*)(unsigned flags);
using NumberFunction = int (*)(int* number);

DriverStatus without_device(DriverStatus status, const char* what, const char* detail) noexcept {
  status.reason.clear();
  status.reason.add(what).add(detail);
  return status;
}

DriverStatus without_device(DriverStatus status, const char* what, int result) noexcept {
  status.reason.clear();
  status.reason.add(what).add(static_cast<std::uint64_t>(result));
  return status;
}
}  // namespace

DriverStatus probe_driver(const char* library) noexcept {
  DriverStatus status;
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return without_device(status, "no CUDA driver: cannot load ", library);
  const auto initialise = reinterpret_cast<InitialiseFunction>(::dlsym(handle, "cuInit"));
  const auto version = reinterpret_cast<NumberFunction>(::dlsym(handle, "cuDriverGetVersion"));
  const auto count = reinterpret_cast<NumberFunction>(::dlsym(handle, "cuDeviceGetCount"));
  if (initialise == nullptr || version == nullptr || count == nullptr) {
    ::dlclose(handle);
    return without_device(status, "no CUDA driver: functions missing in ", library);
  }
  // The handle stays open: a driver that has started must not be unloaded.
  const int started = initialise(0);
  if (started != 0)
    return without_device(status, "the CUDA driver does not start: error ", started);
  static_cast<void>(version(&status.version));
  const int counted = count(&status.device_count);
  if (counted != 0)
    return without_device(status, "the CUDA driver counts no devices: error ", counted);
  if (status.device_count == 0)
    return without_device(status, "the CUDA driver shows no device", "");
  return status;
}

DriverStatus probe_driver() noexcept {
  return probe_driver("libcuda.so.1");
}
}  // namespace drey::cuda
