// devices.hpp: the allocators of libdrey_cuda_torch.so, one a device, opened at first use.
//
// Invariants: an open device stays open until the process ends, so a pointer to it stays good. No memory is
// handed out for a stream that captures. What is freed in such a stream stays a live block until the
// capture is over: neither the capture nor a free list knows of it before.
// Read next: devices.cpp; drey/cuda/adapters.h; docs/CONCURRENCY.md.
// SPDX-License-Identifier: MIT
#pragma once

#include "threads/mutex.hpp"

#include <drey/cuda/device_allocator.hpp>

#include <atomic>
#include <cstddef>
#include <vector>

namespace drey::cuda::adapters {
class AdaptedDevice {
 public:
  /// Fails: std::runtime_error with the reason in one line; nothing is left of it.
  AdaptedDevice(const DriverTable& driver, int ordinal);
  AdaptedDevice(const AdaptedDevice&) = delete;
  AdaptedDevice& operator=(const AdaptedDevice&) = delete;

  /// Fails: AllocatorError; std::runtime_error if the stream captures.
  [[nodiscard]] void* allocate(std::size_t bytes, Stream stream);
  /// `bytes`: null for any. Fails: AllocatorError. After the driver's end nothing happens.
  void deallocate(void* pointer, const std::size_t* bytes, Stream stream);
  /// Fails: std::runtime_error if it is no part of 1.
  void set_fraction(double fraction);
  /// Idle memory goes back to the driver.
  Outcome trim() noexcept;
  [[nodiscard]] DeviceAllocator& allocator() noexcept { return allocator_; }

 private:
  struct Kept {
    void* pointer;
    Stream stream;
  };
  [[nodiscard]] bool is_capturing(Stream stream) const noexcept;
  bool keep(void* pointer, Stream stream);
  void free_kept() noexcept;

  const DriverTable& driver_;
  int ordinal_;
  Context context_ = nullptr;
  DeviceAllocator allocator_;
  Mutex lock_;  // before the allocator's
  std::vector<Kept> kept_;
  std::atomic<std::size_t> kept_count_{0};
};

/// The driver of the process. Fails: std::runtime_error.
const DriverTable& driver_of_process();
/// Opens it if nobody did. Fails: std::runtime_error; the next call tries again.
AdaptedDevice& device_of(int ordinal);
/// The open device in whose addresses the pointer lies. Fails: MisuseError.
AdaptedDevice& owner_of(const void* pointer);
/// The open device, or null.
[[nodiscard]] AdaptedDevice* open_device(std::size_t ordinal) noexcept;
}  // namespace drey::cuda::adapters
