// cupy.cpp: the part of drey/cuda/adapters.h for CuPy, whose calls cannot take an exception.
// Read next: devices.hpp.
// SPDX-License-Identifier: MIT
#include "adapters/devices.hpp"

#include <drey/cuda/adapters.h>
#include <drey/base/text.hpp>

#include <exception>
#include <memory>
#include <new>

using drey::cuda::Stream;
using drey::cuda::adapters::device_of;

namespace {
// A pointer: there is little room for thread-local memory in a library that is loaded late.
using ErrorText = drey::Text<2048>;
thread_local std::unique_ptr<ErrorText> last_error;

void keep(const char* line) noexcept {
  if (last_error == nullptr) last_error.reset(new (std::nothrow) ErrorText);
  if (last_error != nullptr) last_error->add(line);
}
void forget() noexcept {
  if (last_error != nullptr) last_error->clear();
}
}  // namespace

extern "C" {
[[gnu::visibility("default")]] void* drey_cupy_malloc(void* param, size_t bytes, int device) {
  forget();
  try {
    return device_of(device).allocate(bytes, static_cast<Stream>(param));
  } catch (const std::exception& error) {
    keep(error.what());
    return nullptr;
  }
}

[[gnu::visibility("default")]] void drey_cupy_free(void* param, void* pointer, int device) {
  forget();
  try {
    device_of(device).deallocate(pointer, nullptr, static_cast<Stream>(param));
  } catch (const std::exception& error) {
    keep(error.what());
  }
}

[[gnu::visibility("default")]] const char* drey_cupy_error(void) {
  return last_error != nullptr ? last_error->c_str() : "";
}
}
