// thread_exchange_test.cpp: blocks made by one thread, checked and freed by another.
// Method: threads swap blocks through lock-free slots; whoever takes one out verifies its pattern
// and frees it, so most frees are remote. Budget: operations, not time.
// Read next: thread_life_test.cpp.
// SPDX-License-Identifier: MIT
#include "stress/stress.hpp"
#include "support/process_memory.hpp"
#include "support/subject.hpp"

#include <cstdlib>

namespace drey::test {
namespace {
using ThreadExchange = SubjectTest;
using ProducerConsumer = SubjectTest;

/// Swaps `operations` blocks a thread through `slot_count` slots.
template <std::size_t kSlots>
void exchange_storm(std::size_t thread_count, unsigned bits_max, std::size_t operations) {
  const auto slots = std::make_unique<Slots<kSlots>>();
  const std::uint64_t seed = test_seed(200 + bits_max);
  std::atomic<bool> intact{true};
  run_threads(thread_count, [&](std::size_t thread) {
    Random random(seed + thread);
    for (std::size_t i = 0; i < operations; ++i) {
      Travelling* const made = make_travelling(draw_size(random, bits_max), random.next());
      // Relaxed: a verdict only, read after the join.
      if (!check_and_free(slots->exchange(random.below(kSlots), made))) {
        intact.store(false, std::memory_order_relaxed);
      }
    }
  });
  EXPECT_TRUE(slots->drain());
  EXPECT_TRUE(intact.load(std::memory_order_relaxed));
}

TEST_F(ThreadExchange, SmallBlocksThroughFewSlots) {
  exchange_storm<16>(8, 9, scaled(60000));
}

TEST_F(ThreadExchange, SmallBlocksThroughManySlots) {
  exchange_storm<20000>(8, 9, scaled(60000));
}

TEST_F(ThreadExchange, BlocksOfEveryKind) {
  exchange_storm<300>(4, 17, scaled(30000));
}

TEST_F(ThreadExchange, LargeBlocks) {
  exchange_storm<24>(4, 21, scaled(3000));
}

TEST_F(ThreadExchange, ReallocOfAnotherThreadsBlockKeepsItsContent) {
  const auto slots = std::make_unique<Slots<64>>();
  const std::uint64_t seed = test_seed(210);
  std::atomic<bool> intact{true};
  run_threads(4, [&](std::size_t thread) {
    Random random(seed + thread);
    for (std::size_t i = 0; i < scaled(20000); ++i) {
      Travelling* block = slots->exchange(random.below(64), nullptr);
      if (block == nullptr) block = make_travelling(draw_size(random, 12), random.next());
      const std::uint64_t tag = block->tag;
      const std::size_t bytes = block->bytes + random.below(500);
      block = static_cast<Travelling*>(heap::resize(block, bytes));
      const bool kept = block->tag == tag;
      // Relaxed: a verdict only, read after the join.
      if (!kept) intact.store(false, std::memory_order_relaxed);
      const std::size_t shrunk = sizeof(Travelling) + random.below(2000);
      block->bytes = shrunk < bytes ? shrunk : bytes;
      fill_pattern(block + 1, block->bytes - sizeof(Travelling), tag);
      if (!check_and_free(slots->exchange(random.below(64), block))) {
        intact.store(false, std::memory_order_relaxed);
      }
    }
  });
  EXPECT_TRUE(slots->drain());
  EXPECT_TRUE(intact.load(std::memory_order_relaxed));
}

/// A ring from one producer to one consumer.
class Ring {
 public:
  /// Release publishes the block; acquire sees that its place is free. Pairs with take().
  void put(Travelling* block) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    while (tail - head_.load(std::memory_order_acquire) == kPlaces) std::this_thread::yield();
    places_[tail % kPlaces] = block;
    tail_.store(tail + 1, std::memory_order_release);
  }

  /// Acquire sees the block; release frees its place. Pairs with put().
  Travelling* take() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    while (tail_.load(std::memory_order_acquire) == head) std::this_thread::yield();
    Travelling* const block = places_[head % kPlaces];
    head_.store(head + 1, std::memory_order_release);
    return block;
  }

 private:
  static constexpr std::size_t kPlaces = 1000;
  std::array<Travelling*, kPlaces> places_{};
  std::atomic<std::size_t> head_{0};
  std::atomic<std::size_t> tail_{0};
};

TEST_F(ProducerConsumer, MemoryStaysBoundedWhileAnotherThreadFreesEverything) {
  const std::uint64_t seed = test_seed(43);
  std::array<Ring, 2> rings;
  std::atomic<bool> intact{true};
  long resident_early = 0;
  const std::size_t count = scaled(150000);
  run_threads(4, [&](std::size_t thread) {
    Ring& ring = rings[thread / 2];
    Random random(seed + thread);
    for (std::size_t i = 0; i < count; ++i) {
      if (thread % 2 == 0) ring.put(make_travelling(1 + random.below(2000), random.next()));
      // Relaxed: a verdict only, read after the join.
      if (thread % 2 == 1 && !check_and_free(ring.take())) {
        intact.store(false, std::memory_order_relaxed);
      }
      if (thread == 1 && i == count / 4) resident_early = resident_bytes();
    }
  });
  EXPECT_TRUE(intact.load(std::memory_order_relaxed));
  // At most 2,000 blocks of 2,000 bytes were ever alive.
  EXPECT_LT(resident_bytes() - resident_early, long{32} << 20);
}

TEST_F(ProducerConsumer, AThreadThatOnlyFreesGivesMemoryBackToItsMaker) {
  // Rounds of making here and freeing there: the second thread never allocates.
  long resident_after_first_rounds = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<Travelling*> blocks;
    for (std::uint64_t i = 0; i < 5000; ++i) blocks.push_back(make_travelling(100 + i % 1500, i));
    bool intact = true;
    std::thread([&] {
      for (Travelling* block : blocks) intact = check_and_free(block) && intact;
    }).join();
    ASSERT_TRUE(intact);
    if (round == 10) resident_after_first_rounds = resident_bytes();
  }
  EXPECT_LT(resident_bytes() - resident_after_first_rounds, long{16} << 20);
}
}  // namespace
}  // namespace drey::test
