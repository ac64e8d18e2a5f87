// throwing.cpp: the calls of device_allocator.hpp and pinned_cache.hpp that throw; the one file of the layer with exceptions.
// SPDX-License-Identifier: MIT
#include <drey/cuda/allocator_error.hpp>
#include <drey/cuda/pinned_cache.hpp>

namespace drey::cuda {
namespace {
[[noreturn]] void throw_error(Outcome outcome, const void* pointer, const OomReport& report) {
  switch (outcome.status) {
    case Status::kOutOfMemory:
      throw OutOfDeviceMemory(outcome, report);
    case Status::kOutOfPinnedMemory:
      throw OutOfPinnedMemory(outcome);
    case Status::kDriver:
    case Status::kCaptureForbids:
      throw DriverError(outcome);
    case Status::kAsleep:
    case Status::kForkedChild:
    case Status::kClosed:
    case Status::kTooManyStreams:
    case Status::kTooManyAllocators:
    case Status::kTooManyPools:
    case Status::kNoMetadata:
      throw UnusableError(outcome);
    default:
      throw MisuseError(outcome, pointer);
  }
}

void check(Outcome outcome, const void* pointer) {
  if (!outcome.is_ok()) throw_error(outcome, pointer, {});
}
}  // namespace

void* DeviceAllocator::allocate(std::size_t bytes, std::size_t alignment, Stream stream) {
  OomReport report;
  const Allocation made = try_allocate(bytes, alignment, stream, &report);
  if (!made.outcome.is_ok()) throw_error(made.outcome, nullptr, report);
  return made.pointer;
}

void* DeviceAllocator::allocate_in(PoolId pool, std::size_t bytes, std::size_t alignment,
                                   Stream stream) {
  OomReport report;
  const Allocation made = try_allocate_in(pool, bytes, alignment, stream, &report);
  if (!made.outcome.is_ok()) throw_error(made.outcome, nullptr, report);
  return made.pointer;
}

void DeviceAllocator::deallocate(void* pointer) {
  check(try_deallocate(pointer), pointer);
}
void DeviceAllocator::deallocate(void* pointer, Stream stream) {
  check(try_deallocate(pointer, stream), pointer);
}
void DeviceAllocator::deallocate(void* pointer, std::size_t bytes, std::size_t alignment,
                                 Stream stream) {
  check(try_deallocate(pointer, bytes, alignment, stream), pointer);
}

void* PinnedCache::allocate(std::size_t bytes, std::size_t alignment) {
  const Allocation made = try_allocate(bytes, alignment);
  check(made.outcome, nullptr);
  return made.pointer;
}
void* PinnedCache::allocate(std::size_t bytes, std::size_t alignment, Stream stream) {
  const Allocation made = try_allocate(bytes, alignment, stream);
  check(made.outcome, nullptr);
  return made.pointer;
}
void PinnedCache::deallocate(void* pointer) {
  check(try_deallocate(pointer), pointer);
}
void PinnedCache::deallocate(void* pointer, Stream stream) {
  check(try_deallocate(pointer, stream), pointer);
}
void PinnedCache::deallocate_sized(void* pointer, std::size_t bytes) {
  check(try_deallocate_sized(pointer, bytes), pointer);
}
void PinnedCache::deallocate_sized(void* pointer, std::size_t bytes, Stream stream) {
  check(try_deallocate_sized(pointer, bytes, stream), pointer);
}
}  // namespace drey::cuda
