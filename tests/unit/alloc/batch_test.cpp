// batch_test.cpp: blocks by the array: all different, as good as single ones, whoever frees them.
//
// Method: the functions of drey/alloc.h on the real operating system; the core is walked at quiet
// points (check.hpp).
// Read next: batch_shortage_test.cpp.
// SPDX-License-Identifier: MIT
#include "core/batch.hpp"

#include "core/check.hpp"
#include "core/thread_heap.hpp"
#include "support/pattern.hpp"
#include "support/seed.hpp"

#include <drey/alloc/heap.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace drey::core {
namespace {
constexpr std::size_t kSizes[] = {0, 1, 16, 100, 900, 1024, 1025, 5000, 65'536, 65'537, 1'300'000};

void expect_sound() {
  const CoreReport report = check_core();
  EXPECT_EQ(report.broken, nullptr) << report.broken << " at " << report.where;
  EXPECT_TRUE(heaps_are_consistent(true));
}

std::vector<void*> take(std::size_t size, std::size_t count) {
  std::vector<void*> blocks(count);
  EXPECT_EQ(drey_malloc_batch(size, blocks.data(), count), count);
  return blocks;
}

void give_back(const std::vector<void*>& blocks) {
  drey_free_batch(blocks.data(), blocks.size());
}

TEST(Batch, GivesAsManyDifferentBlocksAsAskedFor) {
  for (const std::size_t size : kSizes) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{300}}) {
      const std::vector<void*> blocks = take(size, count);
      EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), count) << size;
      for (std::size_t index = 0; index < count; ++index) {
        ASSERT_TRUE(drey_owns(blocks[index]));
        ASSERT_EQ(drey_usable_size(blocks[index]), drey_good_size(size));
        test::fill_sparse(blocks[index], size, index);
      }
      for (std::size_t index = 0; index < count; ++index) {
        ASSERT_TRUE(test::check_sparse(blocks[index], size, index)) << size;
      }
      give_back(blocks);
    }
    expect_sound();
  }
}

TEST(Batch, GivesNoBlockThatIsStillHeld) {
  std::set<void*> held;
  test::Random random(test::test_seed(51));
  std::vector<void*> in_order;
  for (int round = 0; round < 300; ++round) {
    for (void* const block : take(48, random.below(100))) {
      ASSERT_TRUE(held.insert(block).second);
      in_order.push_back(block);
    }
    for (std::size_t count = random.below(60); count != 0 && !in_order.empty(); --count) {
      held.erase(in_order.back());
      drey_free(in_order.back());
      in_order.pop_back();
    }
  }
  give_back(in_order);
  expect_sound();
}

TEST(Batch, TakesBackBlocksInAnyOrderOfAnySizesAndNulls) {
  test::Random random(test::test_seed(52));
  const std::size_t live_before = check_core().live_blocks;
  for (int round = 0; round < 60; ++round) {
    std::vector<void*> blocks(random.below(20), nullptr);
    for (std::size_t count = random.below(3000); count != 0; --count) {
      blocks.push_back(drey_malloc(kSizes[random.below(random.below(20) == 0 ? 11 : 8)]));
    }
    for (std::size_t index = blocks.size(); round % 2 == 0 && index > 1; --index) {
      std::swap(blocks[index - 1], blocks[random.below(index)]);
    }
    const std::vector<void*> before = blocks;
    give_back(blocks);
    ASSERT_EQ(blocks, before) << "the array is the caller's";
  }
  expect_sound();
  EXPECT_EQ(check_core().live_blocks, live_before);
}

TEST(Batch, EmptiesFullAndQueuedSlabsAsSingleFreesDo) {
  const std::size_t bytes_before = check_core().slab_bytes;
  std::vector<void*> blocks = take(900, 1000);
  EXPECT_GT(check_core().slab_bytes, bytes_before + 12 * kSliceBytes);
  give_back(blocks);
  drey_collect();  // what the heap keeps for the next burst
  EXPECT_LE(check_core().slab_bytes, bytes_before + slab_slices_of(class_of(900)) * kSliceBytes);
  expect_sound();
}

TEST(Batch, BlocksOfOtherThreadsGoHome) {
  std::vector<void*> blocks;
  std::atomic<bool> given_back{false};
  const std::size_t live_before = check_core().live_blocks;
  std::thread owner([&] {
    blocks = take(200, 2000);
    std::thread([&] { give_back(blocks); }).join();
    given_back = true;
    // What came home is served before the thread asks for more slabs.
    std::vector<void*> again = take(200, 2000);
    const std::set<void*> first(blocks.begin(), blocks.end());
    const auto is_known = [&first](void* block) { return first.count(block) != 0; };
    EXPECT_GT(std::count_if(again.begin(), again.end(), is_known), 1000);
    give_back(again);
  });
  owner.join();
  EXPECT_TRUE(given_back);
  drey_collect();
  expect_sound();
  EXPECT_EQ(check_core().live_blocks, live_before);
}

TEST(Batch, OfAPrivateHeapBelongsToIt) {
  drey_heap_t* const heap = drey_heap_create();
  for (const std::size_t size : kSizes) {
    std::vector<void*> blocks(500);
    ASSERT_EQ(drey_heap_malloc_batch(heap, size, blocks.data(), blocks.size()), blocks.size());
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
    for (void* const block : blocks) ASSERT_TRUE(drey_heap_owns(heap, block));
    std::thread([&] { drey_free_batch(blocks.data(), 300); }).join();
  }
  drey_heap_stats_t stats;
  drey_heap_stats_read(heap, &stats);
  EXPECT_EQ(stats.live_blocks, 200 * std::size(kSizes));
  drey_heap_destroy(heap);
  expect_sound();
}

TEST(Batch, FailsWhereNoSizeCanBeGranted) {
  void* blocks[3] = {nullptr, &blocks, nullptr};
  for (const std::size_t size : {SIZE_MAX, std::size_t{PTRDIFF_MAX}}) {
    errno = 0;
    EXPECT_EQ(drey_malloc_batch(size, blocks, 3), 0u);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(blocks[1], &blocks) << "the rest of the array is untouched";
  }
}

TEST(Batch, ADoubleFreeInARowIsReported) {
  void* const block = drey_malloc(64);
  void* blocks[2] = {block, block};
  EXPECT_DEATH(drey_free_batch(blocks, 2), "drey: double free: 0x");
}

TEST(Batch, ThreadsTakeAndGiveBackEachOthersArrays) {
  constexpr std::size_t kSlots = 16;
  std::atomic<std::vector<void*>*> slots[kSlots] = {};
  std::vector<std::thread> threads;
  const std::uint64_t seed = test::test_seed(53);
  for (std::uint64_t index = 0; index < 3; ++index) {
    threads.emplace_back([&, index] {
      test::Random random(seed + index);
      for (std::size_t round = 0; round < test::scaled(3000); ++round) {
        const std::size_t size = std::size_t{1} << random.below(13);
        auto* mine = new std::vector<void*>(random.below(80));
        ASSERT_EQ(drey_malloc_batch(size, mine->data(), mine->size()), mine->size());
        for (void* const block : *mine) test::fill_sparse(block, size, round);
        // Acquire and release: the array goes with its blocks.
        mine = slots[random.below(kSlots)].exchange(mine, std::memory_order_acq_rel);
        if (mine == nullptr) continue;
        give_back(*mine);
        delete mine;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::atomic<std::vector<void*>*>& slot : slots) {
    if (slot.load() == nullptr) continue;
    give_back(*slot.load());
    delete slot.load();
  }
  drey_collect();
  expect_sound();
}
}  // namespace
}  // namespace drey::core
