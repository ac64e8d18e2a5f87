// memory_resource.hpp: the device allocator as a resource of cuda::mr, for containers and libraries on CCCL.
//
// CCCL 3.0 and those from 3.1 on name the same calls differently; one class has both sets, so it is a `resource`
// and an `async_resource` of the first, a `synchronous_resource` and a `resource` of the second, with
// the property device_accessible. Empty where <cuda/memory_resource> is not found.
//
// Invariants: two are equal if memory of the one may be freed by the other: they have the same allocator.
// Read next: device_allocator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#if __has_include(<cuda/memory_resource>)
#include <drey/cuda/allocator_error.hpp>

#include <cuda/memory_resource>
#include <cuda/stream_ref>

#if CCCL_VERSION < 3001000 && !defined(LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE)
#error "CCCL 3.0 shows cuda::mr only if LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE is defined"
#endif

#include <cstddef>

namespace drey::cuda {
/// A view: copies are cheap. The allocator and the driver's table must outlive it. Threads: any.
/// Fails: allocating as AllocatorError; freeing is noexcept, as CCCL wants it, so misuse ends the program
/// with the line of its MisuseError.
class MemoryResource {
 public:
  /// What most kernels and CUB's primitives rely on; the allocator gives 512.
  static constexpr std::size_t kDefaultAlignment = 256;

  /// `driver`: the table that the allocator was opened with. `stream`: of the allocator's device, for the calls
  /// without a stream; the legacy stream needs the device's context to be current in these.
  MemoryResource(DeviceAllocator& allocator, const DriverTable& driver,
                 Stream stream = nullptr) noexcept
      : allocator_(&allocator), driver_(&driver), stream_(stream) {}

  /// In the order of a stream: since 3.1.
  [[nodiscard]] void* allocate(::cuda::stream_ref stream, std::size_t bytes,
                               std::size_t alignment = kDefaultAlignment) {
    return allocator_->allocate(bytes, alignment, stream.get());
  }
  void deallocate(::cuda::stream_ref stream, void* pointer, std::size_t bytes,
                  std::size_t alignment = kDefaultAlignment) noexcept {
    allocator_->deallocate(pointer, bytes, alignment, stream.get());
  }
  /// The same, as 3.0 calls it.
  [[nodiscard]] void* allocate_async(std::size_t bytes, std::size_t alignment,
                                     ::cuda::stream_ref stream) {
    return allocate(stream, bytes, alignment);
  }
  void deallocate_async(void* pointer, std::size_t bytes, std::size_t alignment,
                        ::cuda::stream_ref stream) noexcept {
    deallocate(stream, pointer, bytes, alignment);
  }

  /// Memory that any stream, and any copy, may use at once: since 3.1.
  /// Cost: waits until all work of the resource's stream is complete.
  [[nodiscard]] void* allocate_sync(std::size_t bytes, std::size_t alignment = kDefaultAlignment) {
    void* const pointer = allocator_->allocate(bytes, alignment, stream_);
    const Result waited =
        pointer == nullptr ? Result::kSuccess : driver_->stream_synchronize(stream_);
    if (waited == Result::kSuccess) return pointer;
    static_cast<void>(allocator_->try_deallocate(pointer, stream_));
    throw DriverError({Status::kDriver, waited});
  }
  /// Requires: all uses, in whatever stream, are complete. Does not wait.
  void deallocate_sync(void* pointer, std::size_t bytes,
                       std::size_t alignment = kDefaultAlignment) noexcept {
    allocator_->deallocate(pointer, bytes, alignment, stream_);
  }
  /// The same, as 3.0 calls it.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) {
    return allocate_sync(bytes, alignment);
  }
  void deallocate(void* pointer, std::size_t bytes, std::size_t alignment) noexcept {
    deallocate_sync(pointer, bytes, alignment);
  }

  [[nodiscard]] friend bool operator==(const MemoryResource& left,
                                       const MemoryResource& right) noexcept {
    return left.allocator_ == right.allocator_;
  }
  friend constexpr void get_property(const MemoryResource& /*resource*/,
                                     ::cuda::mr::device_accessible /*property*/) noexcept {}

 private:
  DeviceAllocator* allocator_;
  const DriverTable* driver_;
  Stream stream_;
};
}  // namespace drey::cuda
#endif
