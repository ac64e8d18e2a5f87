// pinned_resource.hpp: pinned host memory for containers of std::pmr.
//
// Invariant: memory is freed as the resource says: in the order of its stream, or with the uses that were recorded.
// Read next: pinned_cache.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/allocator_error.hpp>
#include <drey/cuda/pinned_cache.hpp>

#include <cstddef>
#include <memory_resource>

namespace drey::cuda {
/// Memory that the host may use at once. The cache must outlive it. Threads: any.
/// Fails: AllocatorError (of which containers' destructors make the end of the program: misuse is one).
class PinnedResource final : public std::pmr::memory_resource {
 public:
  /// The device's uses are told by record_use() of the cache.
  explicit PinnedResource(PinnedCache& cache) noexcept : cache_(&cache) {}
  /// All uses of what is freed come before the end of `stream` at that time.
  PinnedResource(PinnedCache& cache, Stream stream) noexcept
      : cache_(&cache), stream_(stream), has_stream_(true) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    // A container may ask for nothing, and wants a pointer.
    return cache_->allocate(bytes == 0 ? 1 : bytes, alignment);
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t /*alignment*/) override {
    const std::size_t asked = bytes == 0 ? 1 : bytes;
    if (has_stream_) {
      cache_->deallocate_sized(pointer, asked, stream_);
    } else {
      cache_->deallocate_sized(pointer, asked);
    }
  }
  /// Another resource may free in another order.
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  PinnedCache* cache_;
  Stream stream_ = nullptr;
  bool has_stream_ = false;
};
}  // namespace drey::cuda
