// channel.hpp: hands batches of anything from one thread to another. Whoever has to wait sleeps, so
// that the CPU time of a case is work, not waiting.
//
// Invariant: batches come out in the order they went in; at most kDepth are under way.
// Threads: one puts, one takes.
// Read next: threads.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace drey::bench {
inline constexpr std::size_t kBatchBlocks = 4096;
using Batch = std::array<void*, kBatchBlocks>;

template <class Item>
class BatchChannel {
 public:
  /// A batch to fill; waits for one that has been emptied.
  Item& empty_batch() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return put_count_ - taken_count_ < kDepth; });
    return batches_[put_count_ % kDepth];
  }

  void put() {
    const std::lock_guard lock(mutex_);
    ++put_count_;
    changed_.notify_one();
  }

  /// The oldest batch; waits for one.
  Item& full_batch() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return taken_count_ < put_count_; });
    return batches_[taken_count_ % kDepth];
  }

  void take() {
    const std::lock_guard lock(mutex_);
    ++taken_count_;
    changed_.notify_one();
  }

 private:
  static constexpr std::size_t kDepth = 4;

  std::array<Item, kDepth> batches_{};
  std::size_t put_count_ = 0;
  std::size_t taken_count_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

using Channel = BatchChannel<Batch>;
}  // namespace drey::bench
