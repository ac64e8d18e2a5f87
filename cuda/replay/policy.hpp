// policy.hpp: an allocator's policy as the replay sees it: blocks come and go, memory is taken from the
// device and given back, and what that costs is counted.
//
// Invariants: reserved_bytes never exceeds the capacity; allocate() fails only after the policy's own
// last resort, and then nothing has changed but what was given back.
// Time: a model does not know when work is complete. It takes work to be complete as soon as somebody
// asks, so what it says about other streams is the best that the policy can do.
// Read next: run.hpp, policies.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

namespace drey::cuda {
class DeviceAllocator;
}

namespace drey::cuda::replay {
struct PolicyCounts {
  std::uint64_t reserved_bytes = 0;
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t page_moves = 0;    ///< pieces of memory taken back to be used at another address
  std::uint64_t moved_bytes = 0;   ///< in these
  std::uint64_t driver_calls = 0;  ///< of any kind, events and waits included
  std::uint64_t events = 0;        ///< recorded
  std::uint64_t waits = 0;         ///< of one stream for another
};

/// Blocks are numbered as in the trace. Threads: one at a time.
class Policy {
 public:
  Policy() = default;
  virtual ~Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  /// Returns: false if the capacity does not do.
  [[nodiscard]] virtual bool allocate(std::uint32_t block, std::uint64_t bytes,
                                      std::uint32_t stream) = 0;
  /// All uses are before the end of `stream`, or in streams that were told.
  virtual void deallocate(std::uint32_t block, std::uint32_t stream) = 0;
  /// The same, for the stream that the block was allocated in.
  virtual void deallocate(std::uint32_t block) = 0;
  virtual void record_stream(std::uint32_t block, std::uint32_t stream) = 0;
  virtual void record_use(std::uint32_t block, std::uint32_t stream) = 0;
  virtual void wait(std::uint32_t waiter, std::uint32_t waited) = 0;
  virtual void synchronize(std::uint32_t stream) = 0;
  [[nodiscard]] virtual PolicyCounts counts() const = 0;
  /// Null of a model.
  [[nodiscard]] virtual DeviceAllocator* allocator() { return nullptr; }
};

/// Makes a policy on a device of `capacity` bytes.
using MakePolicy = std::unique_ptr<Policy> (*)(std::uint64_t capacity);

/// What all models count alike.
class CountedDevice {
 public:
  explicit CountedDevice(std::uint64_t capacity) : capacity_(capacity) {}

  [[nodiscard]] bool take(std::uint64_t bytes, std::uint64_t calls) {
    counts.driver_calls += calls;
    if (bytes > capacity_ - counts.reserved_bytes) return false;
    counts.reserved_bytes += bytes;
    if (counts.reserved_bytes > counts.peak_reserved_bytes)
      counts.peak_reserved_bytes = counts.reserved_bytes;
    return true;
  }
  void give_back(std::uint64_t bytes, std::uint64_t calls) {
    counts.driver_calls += calls;
    counts.reserved_bytes -= bytes;
  }
  void record_event() {
    ++counts.driver_calls;
    ++counts.events;
  }
  void wait() {
    ++counts.driver_calls;
    ++counts.waits;
  }
  [[nodiscard]] std::uint64_t free_bytes() const { return capacity_ - counts.reserved_bytes; }

  PolicyCounts counts;

 private:
  std::uint64_t capacity_;
};
}  // namespace drey::cuda::replay
