// device_buffer.hpp: so many T of a device's memory, freed in the order of a stream when the owner ends.
//
// Invariants: data() is null if and only if size() is 0. The memory has one owner, so it is freed once.
// The free promises what try_deallocate() does: all uses are before the present end of stream(), or of
// those recorded. Nothing is constructed: the host cannot write there.
// Read next: device_allocator.hpp; temporary_storage.hpp for what CUB and Thrust ask for.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/allocator_error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace drey::cuda {
/// Threads: one at a time. The allocator must outlive it.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory is copied, never constructed");
  static_assert(!std::is_const_v<T> && !std::is_volatile_v<T>);

 public:
  DeviceBuffer() noexcept = default;
  /// Memory that work put into `stream` from now on may use.
  /// Fails: AllocatorError, as allocate(); a count whose bytes overflow is an invalid size.
  DeviceBuffer(DeviceAllocator& allocator, std::size_t count, Stream stream)
      : allocator_(&allocator),
        data_(static_cast<T*>(allocator.allocate(bytes_of(count), kAlignment, stream))),
        size_(count),
        stream_(stream) {}
  /// Takes over a pointer of release(). Requires: it is live, and has so many T.
  DeviceBuffer(DeviceAllocator& allocator, T* data, std::size_t count, Stream stream) noexcept
      : allocator_(&allocator), data_(data), size_(count), stream_(stream) {}
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  /// Frees it now and is empty. If the driver no longer knows stream(), the stream it was allocated for
  /// is meant; if that is gone too, or the allocator is closed, the block stays.
  void reset() noexcept {
    T* const data = release();
    if (data == nullptr || allocator_->try_deallocate(data, stream_).is_ok()) return;
    static_cast<void>(allocator_->try_deallocate(data));
  }
  /// The memory is the caller's from now on; null if there was none.
  [[nodiscard]] T* release() noexcept {
    size_ = 0;
    return std::exchange(data_, nullptr);
  }
  /// The free will be in this stream, where all other uses are waited for.
  void set_stream(Stream stream) noexcept { stream_ = stream; }
  /// It was used in `stream`, until now. Fails: as record_use() of the allocator.
  Outcome record_use(Stream stream) noexcept {
    return data_ == nullptr ? Outcome{} : allocator_->record_use(data_, stream);
  }
  void swap(DeviceBuffer& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(stream_, other.stream_);
  }

  /// A device's addresses: for kernels and copies, not for the host.
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::span<T> span() noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }
  [[nodiscard]] Stream stream() const noexcept { return stream_; }

 private:
  static constexpr std::size_t kAlignment = std::max<std::size_t>(alignof(T), 256);
  static constexpr std::size_t bytes_of(std::size_t count) noexcept {
    return count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T);
  }

  DeviceAllocator* allocator_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  Stream stream_ = nullptr;
};
}  // namespace drey::cuda
