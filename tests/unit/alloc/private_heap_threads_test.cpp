// private_heap_threads_test.cpp: private heaps between threads: anybody frees, one holds, the
// holder changes, ends, and forks.
//
// Method: real threads; what is handed over goes through exchanges that order it, so that the
// thread sanitizer finds whatever the allocator itself does not order.
// SPDX-License-Identifier: MIT
#include "core/check.hpp"
#include "core/private_heap.hpp"
#include "core/thread_heap.hpp"
#include "support/pattern.hpp"
#include "support/seed.hpp"

#include <drey/alloc/heap.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace drey::core {
namespace {
using test::scaled;

void expect_sound() {
  const CoreReport report = check_core();
  EXPECT_EQ(report.broken, nullptr) << report.broken << " at " << report.where;
  EXPECT_TRUE(heaps_are_consistent(true));
}

std::size_t live_blocks(drey_heap_t* heap) {
  drey_heap_stats_t stats;
  drey_heap_stats_read(heap, &stats);
  return stats.live_blocks;
}

std::size_t draw_size(test::Random& random) {
  return random.below(64) == 0 ? 1'500'000 : 16 + random.below(std::size_t{1} << random.below(18));
}

/// Places through which blocks go from the holder to the threads that free them.
using Slots = std::array<std::atomic<void*>, 256>;

/// Frees what it finds until `stop`, then the rest.
void free_what_comes(Slots& slots, const std::atomic<bool>& stop, std::uint64_t seed) {
  test::Random random(seed);
  // Acquire: pairs with the release that ends the test's storm.
  while (!stop.load(std::memory_order_acquire)) {
    // Acquire: the block as it was left; pairs with the holder's exchange.
    drey_free(slots[random.below(slots.size())].exchange(nullptr, std::memory_order_acq_rel));
  }
}

class Freers {
 public:
  Freers() {
    for (std::uint64_t index = 0; index < 2; ++index) {
      threads_.emplace_back([this, index] { free_what_comes(slots, stop_, 100 + index); });
    }
  }
  ~Freers() { join(); }
  Freers(const Freers&) = delete;
  Freers& operator=(const Freers&) = delete;

  void join() {
    stop_.store(true, std::memory_order_release);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  Slots slots{};

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

TEST(PrivateHeapThreads, OthersFreeWhileTheHolderAllocates) {
  drey_heap_t* const heap = drey_heap_create();
  test::Random random(test::test_seed(41));
  Freers freers;
  for (std::size_t step = 0; step < scaled(100'000); ++step) {
    const std::size_t size = draw_size(random);
    void* const block = drey_heap_malloc(heap, size);
    ASSERT_NE(block, nullptr);
    test::fill_sparse(block, size, step);
    drey_heap_free(heap,
                   freers.slots[random.below(256)].exchange(block, std::memory_order_acq_rel));
  }
  freers.join();
  std::size_t left = 0;
  for (std::atomic<void*>& slot : freers.slots) left += slot.load() != nullptr ? 1 : 0;
  EXPECT_EQ(live_blocks(heap), left) << "every block is live or came home";
  expect_sound();
  drey_heap_destroy(heap);
  expect_sound();
}

TEST(PrivateHeapThreads, TheHeapMayEndAsSoonAsTheFreesHaveReturned) {
  // The freers' own heaps live on, and must keep nothing of a heap that has ended.
  test::Random random(test::test_seed(42));
  for (std::size_t round = 0; round < scaled(150); ++round) {
    drey_heap_t* const heap = drey_heap_create();
    std::vector<void*> blocks(1000);
    for (void*& block : blocks) block = drey_heap_malloc(heap, draw_size(random));
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    std::vector<std::thread> threads;
    threads.reserve(2);
    for (int index = 0; index < 2; ++index) {
      threads.emplace_back([&] {
        for (std::size_t at = 0; (at = next.fetch_add(1, std::memory_order_relaxed)) < 700;) {
          drey_free(blocks[at]);
          // Release: the free has returned; pairs with the holder's acquire.
          done.fetch_add(1, std::memory_order_release);
        }
        // The thread goes on using its own heap while the other one ends.
        for (int more = 0; more < 200; ++more) drey_free(drey_malloc(16 + more));
      });
    }
    while (done.load(std::memory_order_acquire) < 700) std::this_thread::yield();
    if (round % 2 == 0) drey_heap_free_all(heap);
    drey_heap_destroy(heap);
    for (std::thread& thread : threads) thread.join();
  }
  expect_sound();
}

TEST(PrivateHeapThreads, AHeapIsHandedOverByALock) {
  drey_heap_t* const heap = drey_heap_create();
  std::mutex lock;
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (std::uint64_t index = 0; index < 3; ++index) {
    threads.emplace_back([&, index] {
      test::Random random(200 + index);
      std::vector<void*> mine;
      for (std::size_t step = 0; step < scaled(5'000); ++step) {
        {
          const std::lock_guard hold(lock);
          mine.push_back(drey_heap_malloc(heap, draw_size(random)));
        }
        if (random.below(3) == 0) continue;
        const std::size_t at = random.below(mine.size());
        drey_free(mine[at]);
        mine[at] = mine.back();
        mine.pop_back();
      }
      for (void* const block : mine) drey_free(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(live_blocks(heap), 0u);
  expect_sound();
  drey_heap_destroy(heap);
}

TEST(PrivateHeapThreads, AHeapOutlivesTheThreadThatMadeIt) {
  drey_heap_t* heap = nullptr;
  void* block = nullptr;
  std::thread([&] {
    heap = drey_heap_create();
    block = drey_heap_malloc(heap, 500);
    test::fill_pattern(block, 500, 1);
  }).join();
  EXPECT_TRUE(drey_heap_owns(heap, block));
  EXPECT_TRUE(test::check_pattern(block, 500, 1));
  ASSERT_NE(drey_heap_malloc(heap, 500), nullptr);
  EXPECT_EQ(live_blocks(heap), 2u);
  std::thread([&] { drey_heap_destroy(heap); }).join();
  expect_sound();
}

TEST(PrivateHeapThreads, ManyHeapsComeAndGoAtOnce) {
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (std::uint64_t index = 0; index < 3; ++index) {
    threads.emplace_back([index] {
      test::Random random(300 + index);
      for (std::size_t round = 0; round < scaled(300); ++round) {
        drey_heap_t* const heap = drey_heap_create();
        for (int count = 0; count < 100; ++count) {
          void* const block = drey_heap_malloc(heap, draw_size(random));
          if (random.below(2) == 0) drey_free(block);
        }
        drey_heap_destroy(heap);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect_sound();
}

/// A thread's last words come after its heap has ended: a destructor of thread-specific data.
struct UsesHeapAtExit {
  drey_heap_t* heap = nullptr;
  void* block = nullptr;
  ~UsesHeapAtExit() {
    drey_free(block);
    drey_free(drey_heap_malloc(heap, 100));
  }
};

TEST(PrivateHeapThreads, AHeapIsUsedByThreadsThatEnd) {
  drey_heap_t* const heap = drey_heap_create();
  for (int round = 0; round < 50; ++round) {
    void* const block = drey_heap_malloc(heap, 100);
    std::thread([&] {
      static thread_local UsesHeapAtExit at_exit;
      at_exit.heap = heap;
      at_exit.block = block;
      drey_free(drey_malloc(100));
    }).join();
  }
  EXPECT_EQ(live_blocks(heap), 0u);
  drey_heap_destroy(heap);
}
}  // namespace
}  // namespace drey::core
