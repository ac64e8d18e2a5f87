// throwing.cpp: the calls of device_allocator.hpp that throw; the one file of the layer with exceptions.
// SPDX-License-Identifier: MIT
#include <drey/cuda/allocator_error.hpp>

namespace drey::cuda {
namespace {
[[noreturn]] void throw_error(Outcome outcome, const void* pointer, const OomReport& report) {
  switch (outcome.status) {
    case Status::kOutOfMemory:
      throw OutOfDeviceMemory(outcome, report);
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
}  // namespace drey::cuda
