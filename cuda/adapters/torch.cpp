// torch.cpp: the part of drey/cuda/adapters.h for PyTorch.
// Read next: devices.hpp.
// SPDX-License-Identifier: MIT
#include "adapters/devices.hpp"

#include <drey/cuda/adapters.h>
#include <drey/cuda/allocator_error.hpp>

using drey::cuda::DeviceAllocator;
using drey::cuda::DriverError;
using drey::cuda::MisuseError;
using drey::cuda::Outcome;
using drey::cuda::Stream;
using drey::cuda::adapters::AdaptedDevice;
using drey::cuda::adapters::device_of;
using drey::cuda::adapters::open_device;
using drey::cuda::adapters::owner_of;

extern "C" {
[[gnu::visibility("default")]] void drey_torch_init(int /*device_count*/) {
  static_cast<void>(drey::cuda::adapters::driver_of_process());
}

[[gnu::visibility("default")]] void* drey_torch_alloc(size_t bytes, int device, void* stream) {
  return device_of(device).allocate(bytes, static_cast<Stream>(stream));
}

[[gnu::visibility("default")]] void drey_torch_free(void* pointer, size_t bytes, int device,
                                                    void* stream) {
  device_of(device).deallocate(pointer, &bytes, static_cast<Stream>(stream));
}

// All devices are trimmed, whatever one of them says.
[[gnu::visibility("default")]] void drey_torch_reset(void) {
  Outcome first_failure;
  for (std::size_t place = 0; place < DeviceAllocator::kAllocatorsMax; ++place) {
    AdaptedDevice* const device = open_device(place);
    if (device == nullptr) continue;
    const Outcome trimmed = device->trim();
    if (first_failure.is_ok()) first_failure = trimmed;
  }
  if (!first_failure.is_ok()) throw DriverError(first_failure);
}

[[gnu::visibility("default")]] void drey_torch_memory_fraction(double fraction, int device) {
  device_of(device).set_fraction(fraction);
}

[[gnu::visibility("default")]] void* drey_torch_base_alloc(void* pointer, size_t* bytes) {
  void* base = nullptr;
  std::size_t base_bytes = 0;
  const Outcome found = owner_of(pointer).allocator().base_of(pointer, &base, &base_bytes);
  if (!found.is_ok()) throw MisuseError(found, pointer);
  if (bytes != nullptr) *bytes = base_bytes;
  return base;
}

[[gnu::visibility("default")]] void drey_torch_record_stream(void* pointer, void* stream) {
  if (pointer == nullptr) return;
  const Outcome recorded =
      owner_of(pointer).allocator().record_stream(pointer, static_cast<Stream>(stream));
  if (!recorded.is_ok()) throw MisuseError(recorded, pointer);
}

[[gnu::visibility("default")]] void drey_torch_begin_allocate_to_pool(
    int device, std::pair<unsigned long long, unsigned long long> pool,
    std::function<bool(CUstream_st*)> filter) {
  device_of(device).begin_pool(pool, std::move(filter));
}
[[gnu::visibility("default")]] void drey_torch_end_allocate_to_pool(
    int device, std::pair<unsigned long long, unsigned long long> pool) {
  device_of(device).end_pool(pool);
}
[[gnu::visibility("default")]] void drey_torch_release_pool(
    int device, std::pair<unsigned long long, unsigned long long> pool) {
  device_of(device).release_pool(pool);
}

[[gnu::visibility("default")]] void drey_torch_stream_retired(int device, void* stream) {
  const Outcome retired = device_of(device).allocator().stream_retired(static_cast<Stream>(stream));
  if (!retired.is_ok()) throw DriverError(retired);
}
}
