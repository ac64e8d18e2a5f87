// cross_thread.cpp: blocks freed by another thread than took them, and threads that come and go.
//
// All cases measure real time, and want two cores: one thread per core. Waiting threads yield, so a
// single core gives an answer too, of another kind.
// Read next: small_blocks.cpp.
// SPDX-License-Identifier: MIT
#include "micro/measure.hpp"

#include <drey/base/units.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

namespace drey::bench {
namespace {
constexpr std::size_t kBatchCount = 1000;
using Batch = std::array<void*, kBatchCount>;

/// A ring of one producer and one consumer. Counts only grow; the slot is the count modulo size.
class Ring {
 public:
  void push(void* block) noexcept {
    const std::size_t pushed = pushed_.load(std::memory_order_relaxed);  // own counter
    // Acquire pairs with the release in pop_all: the slot has been read before it is overwritten.
    while (pushed - popped_.load(std::memory_order_acquire) == kSlots) std::this_thread::yield();
    slots_[pushed % kSlots] = block;
    // Release pairs with the acquire in pop_all: the slot is written before it is counted.
    pushed_.store(pushed + 1, std::memory_order_release);
  }

  /// Frees everything there is; returns how many.
  std::size_t free_all() noexcept {
    const std::size_t popped = popped_.load(std::memory_order_relaxed);  // own counter
    const std::size_t pushed = pushed_.load(std::memory_order_acquire);  // pairs with push
    for (std::size_t index = popped; index < pushed; ++index) std::free(slots_[index % kSlots]);
    popped_.store(pushed, std::memory_order_release);  // pairs with push
    return pushed - popped;
  }

  /// Producer: waits until all that was pushed is freed.
  void wait_until_drained() const noexcept {
    const std::size_t pushed = pushed_.load(std::memory_order_relaxed);  // own counter
    // Acquire pairs with the release in free_all.
    while (popped_.load(std::memory_order_acquire) != pushed) std::this_thread::yield();
  }

 private:
  static constexpr std::size_t kSlots = 4096;
  alignas(kCacheLineBytes) std::atomic<std::size_t> pushed_{0};
  alignas(kCacheLineBytes) std::atomic<std::size_t> popped_{0};
  alignas(kCacheLineBytes) std::array<void*, kSlots> slots_{};
};

/// One thread takes, the other gives back.
void producer_consumer(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const auto ring = std::make_unique<Ring>();
  std::atomic<bool> stop{false};
  std::thread consumer([&] {
    // Acquire pairs with the release store below; what was pushed before it is drained first.
    while (!stop.load(std::memory_order_acquire)) {
      if (ring->free_all() == 0) std::this_thread::yield();
    }
  });
  for (auto _ : state) {
    for (std::size_t count = 0; count < kBatchCount; ++count) {
      void* const block = std::malloc(size);
      touch_first_byte(block);
      ring->push(block);
    }
  }
  ring->wait_until_drained();
  stop.store(true, std::memory_order_release);
  consumer.join();
  report_pairs(state, kBatchCount);
}

void fill(Batch& batch, Random& random) noexcept {
  for (void*& block : batch) {
    block = std::malloc(random.between(8, 256));
    touch_first_byte(block);
  }
}

void free_batch(const Batch& batch) noexcept {
  for (void* block : batch) std::free(block);
}

/// Where a batch waits for the other thread. Owner publishes, the other takes.
using Slot = std::atomic<Batch*>;

void publish(Slot& slot, Batch* batch) noexcept {
  slot.store(batch, std::memory_order_release);  // pairs with take
}

Batch* take(Slot& slot, const std::atomic<bool>& stop) noexcept {
  for (;;) {
    Batch* const batch = slot.exchange(nullptr, std::memory_order_acquire);  // pairs with publish
    if (batch != nullptr || stop.load(std::memory_order_acquire)) return batch;
    std::this_thread::yield();
  }
}

/// Two threads fill batches of mixed sizes, swap them, and free each other's.
void exchange(benchmark::State& state) {
  Slot from_partner{nullptr};
  Slot to_partner{nullptr};
  std::atomic<bool> stop{false};
  const std::atomic<bool> never{false};
  const auto round = [](Random& random, Slot& out, Slot& in, const std::atomic<bool>& end) {
    auto batch = std::make_unique<Batch>();
    fill(*batch, random);
    publish(out, batch.release());
    const std::unique_ptr<Batch> received(take(in, end));
    if (received != nullptr) free_batch(*received);
    return received != nullptr;
  };
  std::thread partner([&] {
    Random random(kSeed + 1);
    while (round(random, from_partner, to_partner, stop)) continue;
  });
  Random random(kSeed);
  for (auto _ : state) round(random, to_partner, from_partner, never);
  stop.store(true, std::memory_order_release);  // pairs with take: nothing more will come
  partner.join();
  const std::unique_ptr<Batch> left(from_partner.load(std::memory_order_relaxed));  // joined
  if (left != nullptr) free_batch(*left);
  report_pairs(state, 2.0 * kBatchCount);
}

constexpr std::size_t kBlocksPerThread = 100;
using ThreadBlocks = std::array<void*, kBlocksPerThread>;

void take_blocks(ThreadBlocks& blocks) noexcept {
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    blocks[index] = std::malloc(16 + 8 * index);
    touch_first_byte(blocks[index]);
  }
}

void free_blocks(const ThreadBlocks& blocks) noexcept {
  for (void* block : blocks) std::free(block);
}

/// Born, 100 blocks taken and given back, ended.
void short_thread(benchmark::State& state) {
  for (auto _ : state) {
    std::thread([] {
      ThreadBlocks blocks;
      take_blocks(blocks);
      free_blocks(blocks);
    }).join();
  }
  report_pairs(state, kBlocksPerThread);
}

/// Born, 100 blocks taken, ended; the parent gives them back.
void short_thread_leaves_blocks(benchmark::State& state) {
  for (auto _ : state) {
    ThreadBlocks blocks;
    std::thread([&] { take_blocks(blocks); }).join();
    free_blocks(blocks);
  }
  report_pairs(state, kBlocksPerThread);
}

// The names start with "threads_": drey-bench runs these apart, not bound to one core.
BENCHMARK(producer_consumer)->Name("threads_producer_consumer")->Arg(64)->Arg(900)->UseRealTime();
BENCHMARK(exchange)->Name("threads_exchange")->UseRealTime();
BENCHMARK(short_thread)->Name("threads_short")->UseRealTime();
BENCHMARK(short_thread_leaves_blocks)->Name("threads_short_leave_blocks")->UseRealTime();
}  // namespace
}  // namespace drey::bench
