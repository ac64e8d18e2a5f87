// event_cache.hpp: a test double of a common design: freed blocks wait in a list, each with an event
// that says when its stream was done with it; whoever takes one asks the event first, unless the block
// was freed on the same stream. The order of "make it visible" and "record its event" is the caller's to
// choose: one of the two is a race.
//
// Invariants: a block is in the list or with the user. Blocks have one size. With kRecordFirst, an
// event of a listed block has been recorded after the block's last free.
// Read next: event_cache_test.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "unit/cuda/simulated_device.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace drey::cuda::sim {
enum class FreeOrder {
  kRecordFirst,   // the block is visible once its event covers its last use
  kVisibleFirst,  // the lock is let go between the two: others see the block too soon
};

class EventCache {
 public:
  static constexpr std::size_t kBlockBytes = 4096;

  EventCache(SimulatedDevice& device, FreeOrder order) : device_(device), order_(order) {}
  ~EventCache() {
    for (const Entry& entry : free_) {
      SimulatedDevice::expect(device_.driver.event_destroy(entry.ready));
      SimulatedDevice::expect(device_.driver.mem_free(entry.block));
    }
  }
  EventCache(const EventCache&) = delete;
  EventCache& operator=(const EventCache&) = delete;

  /// Called in a free when the lock is let go and before the call returns: another thread's turn.
  std::function<void()> at_unlock;

  DevicePointer allocate(Stream stream) {
    Entry taken;
    {
      const std::lock_guard guard(lock_);
      taken = take_ready(stream);
      if (taken.block == 0) taken = {device_.new_memory(kBlockBytes), device_.new_event(), stream};
      taken.stream = stream;
      live_.push_back(taken);
    }
    device_.simulator.block_allocated(taken.block, kBlockBytes, stream);
    return taken.block;
  }

  /// The block goes back to the stream that it was allocated for.
  void deallocate(DevicePointer block) {
    device_.simulator.block_freed(block);
    Entry entry;
    {
      const std::lock_guard guard(lock_);
      entry = remove_live(block);
      if (order_ == FreeOrder::kRecordFirst) device_.record(entry.ready, entry.stream);
      free_.push_back(entry);
    }
    if (at_unlock) std::exchange(at_unlock, nullptr)();
    if (order_ == FreeOrder::kVisibleFirst) device_.record(entry.ready, entry.stream);
  }

 private:
  struct Entry {
    DevicePointer block = 0;
    Event ready = nullptr;
    Stream stream = nullptr;
  };

  Entry take_ready(Stream stream) {
    for (std::size_t index = 0; index < free_.size(); ++index) {
      const Entry entry = free_[index];
      if (entry.stream != stream && device_.driver.event_query(entry.ready) != Result::kSuccess)
        continue;
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(index));
      return entry;
    }
    return {};
  }

  Entry remove_live(DevicePointer block) {
    for (std::size_t index = 0; index < live_.size(); ++index) {
      const Entry entry = live_[index];
      if (entry.block != block) continue;
      live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
      return entry;
    }
    ADD_FAILURE() << "free of what is not allocated";
    return {};
  }

  SimulatedDevice& device_;
  FreeOrder order_;
  std::mutex lock_;
  std::vector<Entry> free_;
  std::vector<Entry> live_;
};
}  // namespace drey::cuda::sim
