// temporary_storage.hpp: what Thrust takes for its temporaries, `thrust::cuda::par_nosync(storage).on(stream)`:
// an allocator of char whose memory is of one stream.
// Invariant: what is freed is used again in the order of the stream, so nobody waits for the device.
// Read next: device_allocator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/allocator_error.hpp>

#include <cstddef>

namespace drey::cuda {
// NOLINTBEGIN(readability-identifier-naming): Thrust's own name.
class TemporaryStorage {
 public:
  using value_type = char;
  /// Requires: `stream` is the one of the execution policy. The allocator must outlive it.
  TemporaryStorage(DeviceAllocator& allocator, Stream stream) noexcept
      : allocator_(&allocator), stream_(stream) {}
  /// Fails: AllocatorError.
  [[nodiscard]] char* allocate(std::ptrdiff_t bytes) {
    return static_cast<char*>(
        allocator_->allocate(static_cast<std::size_t>(bytes), kAlignment, stream_));
  }
  /// Fails: AllocatorError; nothing has changed.
  void deallocate(char* pointer, std::size_t bytes) {
    allocator_->deallocate(pointer, bytes, kAlignment, stream_);
  }

 private:
  static constexpr std::size_t kAlignment = 256;
  DeviceAllocator* allocator_;
  Stream stream_;
};
// NOLINTEND(readability-identifier-naming)
}  // namespace drey::cuda
