// devices.hpp: the allocators of libdrey_cuda_torch.so, one a device, opened at first use.
//
// Invariants: an open device stays open until the process ends, so a pointer to it stays good. Memory for a
// stream that captures is a pool's that was begun for it. What is freed in a capture without one stays a live
// block until the capture is over: neither the capture nor a free list knows of it before.
// Read next: devices.cpp; drey/cuda/adapters.h; docs/CONCURRENCY.md.
// SPDX-License-Identifier: MIT
#pragma once

#include "threads/mutex.hpp"

#include <drey/cuda/device_allocator.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace drey::cuda::adapters {
/// PyTorch's name of a pool.
using PoolKey = std::pair<unsigned long long, unsigned long long>;
/// Whether an allocation for the stream is the pool's.
using PoolFilter = std::function<bool(Stream)>;

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
  /// What the filter says yes to is the pool's, until end_pool(). One use of the pool, for release_pool().
  void begin_pool(const PoolKey& key, PoolFilter filter);
  /// Nothing happens if it is not begun, or its capture was seen to have failed.
  void end_pool(const PoolKey& key);
  void release_pool(const PoolKey& key);
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
  struct KnownPool {
    PoolKey key;
    PoolId id;
    std::size_t uses;
  };
  struct Route {
    PoolKey key;
    PoolId id;
    CaptureId capture;
    PoolFilter filter;
    Stream stream;  // that captures, if it is bound
    bool is_bound;
    bool is_broken;  // no graph can come of it
  };
  [[nodiscard]] CaptureStatus capture_status(Stream stream) const noexcept;
  [[nodiscard]] bool is_capturing(Stream stream) const noexcept {
    return capture_status(stream) != CaptureStatus::kNone;
  }
  PoolId pool_for(Stream stream, CaptureStatus status);
  void end(const Route& route, bool is_kept) noexcept;
  void end_dead_routes() noexcept;
  void drop_use(const PoolKey& key) noexcept;
  bool keep(void* pointer, Stream stream);
  void free_kept() noexcept;

  const DriverTable& driver_;
  int ordinal_;
  Context context_ = nullptr;
  DeviceAllocator allocator_;
  Mutex lock_;  // before the allocator's
  std::vector<Kept> kept_;
  std::atomic<std::size_t> kept_count_{0};
  std::vector<KnownPool> pools_;
  std::vector<Route> routes_;  // the last one that says yes counts
  std::atomic<std::size_t> route_count_{0};
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
