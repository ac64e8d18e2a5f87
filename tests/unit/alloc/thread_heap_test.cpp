// thread_heap_test.cpp: whose heap is whose: birth, end, adoption, and threads past their end.
//
// Method: threads played on one real thread by way of this_heap, or real ones one after another;
// the fake system ends a thread when told. Counts are compared with what they were, since heaps are
// for ever.
// SPDX-License-Identifier: MIT
#include "core/thread_heap.hpp"

#include "core/check.hpp"
#include "core/metadata.hpp"
#include "core/options.hpp"
#include "core/segment_store.hpp"
#include "core/slab_map.hpp"
#include "support/fake_os.hpp"
#include "support/test_heap.hpp"
#include "support/test_slab.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <vector>

namespace drey::core {
namespace {
using fake_os::Call;

class ThreadHeapTest : public testing::Test {
 protected:
  ThreadHeapTest() {
    fake_os::reset();
    options.purge_delay_ms = -1;
    collect_orphans();
  }
  ~ThreadHeapTest() override {
    fake_os::reset();
    const CoreReport report = check_core();
    EXPECT_EQ(report.broken, nullptr) << report.broken;
    EXPECT_EQ(report.slab_bytes, count_heaps().slab_bytes);
    EXPECT_TRUE(heaps_are_consistent(false));
  }
};

TEST_F(ThreadHeapTest, AThreadHasNoHeapBeforeItsFirstBlockAndOneAfter) {
  run_as_thread([] {
    EXPECT_EQ(this_heap, &empty_heap);
    deallocate(nullptr);
    EXPECT_EQ(this_heap, &empty_heap);
    void* const block = allocate(100);
    EXPECT_NE(this_heap, &empty_heap);
    EXPECT_EQ(this_heap->state.load(), HeapState::kOwned);
    EXPECT_EQ(slab_map.find(block)->owner.load(), this_heap);
    deallocate(block);
  });
}

TEST_F(ThreadHeapTest, TheStaticHeapsOwnNothingWhateverHappens) {
  run_as_thread([] {
    deallocate(allocate(100));
    fake_os::end_this_thread();
    deallocate(allocate(100));
  });
  for (const Heap* heap : {&empty_heap, &finished_heap}) {
    EXPECT_TRUE(heap->invariants_hold());
    EXPECT_EQ(heap->state.load(), HeapState::kNobody);
    for (std::size_t index = 0; index < kClassCount; ++index) {
      EXPECT_EQ(heap->current[index], &empty_slab);
    }
  }
}

TEST_F(ThreadHeapTest, AThreadThatEndsLeavesAnOrphanThatTheNextAdoptsWhole) {
  Heap* heap = nullptr;
  std::vector<void*> blocks;
  play_thread([&] {
    blocks = take_blocks(100, 64);
    heap = this_heap;
  });
  EXPECT_EQ(heap->state.load(), HeapState::kOrphan);
  const HeapCounts before = count_heaps();
  play_thread([&] {
    void* const block = allocate(64);
    EXPECT_EQ(this_heap, heap);
    EXPECT_EQ(heap->state.load(), HeapState::kOwned);
    EXPECT_EQ(slab_map.find(block), slab_map.find(blocks[0])) << "its slabs have room";
    give_back_blocks(blocks);  // its own now
    deallocate(block);
    EXPECT_EQ(count_heaps().orphans, before.orphans - 1);
    EXPECT_EQ(count_heaps().adopted, before.adopted + 1);
  });
  EXPECT_EQ(count_heaps().heaps, before.heaps);
  EXPECT_EQ(count_heaps().orphans, before.orphans);
}

TEST_F(ThreadHeapTest, AnEndWithoutLiveBlocksReturnsEverySlab) {
  const std::size_t before = count_heaps().slab_bytes;  // of the shared heap, perhaps
  play_thread([] {
    for (std::size_t size = 16; size <= 64_KiB; size *= 2) {
      give_back_blocks(take_blocks(50, size));
    }
  });
  EXPECT_EQ(count_heaps().slab_bytes, before);
}

TEST_F(ThreadHeapTest, AThreadAdoptsASlabWithRoomBeforeItAsksTheStore) {
  TestHeap living;
  std::vector<void*> blocks;
  play_thread([&] { blocks = take_blocks(10, 320); });
  Slab* const orphaned = slab_map.find(blocks[0]);
  const Acting acting(living.get());
  void* const other_class = allocate(480);
  EXPECT_NE(slab_map.find(other_class), orphaned);
  void* const block = allocate(320);
  EXPECT_EQ(slab_map.find(block), orphaned);
  EXPECT_EQ(orphaned->owner.load(), living.get());
  EXPECT_EQ(orphaned->live(), 11u);
  EXPECT_EQ(living->slab_bytes.value(), 2 * kSliceBytes);
  EXPECT_TRUE(living->invariants_hold());
  give_back_blocks(blocks);
  deallocate(block);
  deallocate(other_class);
}

TEST_F(ThreadHeapTest, AFullSlabOfAnOrphanIsAdoptedOnceBlocksCameBack) {
  TestHeap living;
  std::vector<void*> blocks;
  play_thread([&] { blocks = take_blocks(256, 1_KiB); });
  Slab* const orphaned = slab_map.find(blocks[0]);
  const Acting acting(living.get());
  void* const fresh = allocate(1_KiB);
  EXPECT_NE(slab_map.find(fresh), orphaned) << "it was full";
  for (std::size_t index = 0; index < 32; ++index) deallocate(blocks[index]);
  EXPECT_EQ(orphaned->state, SlabState::kQueued) << "served by its freer";
  const std::vector<void*> more = take_blocks(255 + 32, 1_KiB);
  EXPECT_EQ(orphaned->owner.load(), living.get());
  give_back_blocks(more);
  deallocate(fresh);
  for (std::size_t index = 32; index < 256; ++index) deallocate(blocks[index]);
}

TEST_F(ThreadHeapTest, WhatOthersFreeIntoAnOrphanGoesBackWithoutAnAdopter) {
  TestHeap living;
  std::vector<void*> blocks;
  const std::size_t before = count_heaps().slab_bytes;
  play_thread([&] { blocks = take_blocks(5000, 96); });
  EXPECT_GE(count_heaps().slab_bytes, before + 5000u * 96);
  const Acting acting(living.get());
  give_back_blocks(blocks);
  living->outbox.flush();
  EXPECT_EQ(count_heaps().slab_bytes, before);
}

TEST_F(ThreadHeapTest, AThreadSendsItsOutboxAtItsEnd) {
  TestHeap owner;
  std::vector<void*> blocks;
  {
    const Acting acting(owner.get());
    blocks = take_blocks(20, 64);
  }
  play_thread([&] {
    deallocate(allocate(16));
    give_back_blocks(blocks);
    EXPECT_FALSE(this_heap->outbox.empty());
  });
  EXPECT_EQ(remote_list_of(*slab_map.find(blocks[0])).size(), 20u);
}

TEST_F(ThreadHeapTest, AThousandThreadsOneAfterAnotherNeedOneHeapAndNoMoreMemory) {
  play_thread([] { give_back_blocks(take_blocks(100, 100)); });
  const std::size_t heaps = count_heaps().heaps;
  const std::size_t metadata = metadata_bytes();
  const std::size_t reserved = segment_store.totals().reserved_bytes;
  const std::size_t committed = segment_store.totals().committed_bytes;
  std::vector<void*> left;
  for (int thread = 0; thread < 1000; ++thread) {
    run_as_thread([&] {
      give_back_blocks(left);  // the former thread's
      give_back_blocks(take_blocks(100, 16 + static_cast<std::size_t>(thread % 50) * 16));
      left = take_blocks(20, 100);
    });
  }
  EXPECT_EQ(count_heaps().heaps, heaps);
  EXPECT_EQ(metadata_bytes(), metadata);
  EXPECT_EQ(segment_store.totals().reserved_bytes, reserved);
  EXPECT_LE(segment_store.totals().committed_bytes, committed + 2_MiB);
  play_thread([&] { give_back_blocks(left); });
}

TEST_F(ThreadHeapTest, TheExitHookWaitsForTheLastRoundOfDestructorsButOne) {
  const Acting acting(&empty_heap);
  deallocate(allocate(100));
  Heap* const heap = this_heap;
  EXPECT_EQ(fake_os::end_this_thread(), PTHREAD_DESTRUCTOR_ITERATIONS - 1);
  EXPECT_EQ(this_heap, &finished_heap);
  EXPECT_EQ(heap->state.load(), HeapState::kOrphan);
  EXPECT_EQ(heap->exit_rounds, 0u) << "ready for its next thread";
}

TEST_F(ThreadHeapTest, AHookThatCannotBeSetAgainEndsTheThreadAtOnce) {
  const Acting acting(&empty_heap);
  deallocate(allocate(100));
  Heap* const heap = this_heap;
  fake_os::fail_all(Call::kThreadExit, true);
  EXPECT_EQ(fake_os::end_this_thread(), 1);
  EXPECT_EQ(heap->state.load(), HeapState::kOrphan);
}

TEST_F(ThreadHeapTest, AThreadWithoutAHookKeepsItsHeap) {
  const Acting acting(&empty_heap);
  fake_os::fail_all(Call::kThreadExit, true);
  void* const block = allocate(100);
  EXPECT_NE(block, nullptr);
  Heap* const heap = this_heap;
  EXPECT_EQ(fake_os::end_this_thread(), 0);
  EXPECT_EQ(this_heap, heap);
  deallocate(block);
}

TEST_F(ThreadHeapTest, ThreadsPastTheirEndShareAHeap) {
  std::vector<void*> blocks;
  play_thread([&] {
    void* const early = allocate(200);
    fake_os::end_this_thread();
    ASSERT_EQ(this_heap, &finished_heap);
    blocks = take_blocks(500, 200);
    const Heap* const shared = slab_map.find(blocks[0])->owner.load();
    EXPECT_EQ(shared->state.load(), HeapState::kShared);
    EXPECT_TRUE(all_distinct(blocks));
    for (std::size_t index = 0; index < 250; ++index) deallocate(blocks[index]);
    deallocate(early);
    const std::size_t bytes = count_heaps().slab_bytes;
    for (int round = 0; round < 5000; ++round) deallocate(allocate(200));
    EXPECT_EQ(count_heaps().slab_bytes, bytes) << "what is freed is used again";
  });
  TestHeap living;
  const Acting acting(living.get());
  for (std::size_t index = 250; index < 500; ++index) deallocate(blocks[index]);
}

TEST_F(ThreadHeapTest, AThreadForWhoseHeapThereIsNoMemoryUsesTheSharedOne) {
  TestHeap others;
  {
    const Acting acting(others.get());
    deallocate(allocate(48));  // the store has a segment
  }
  // Every orphan gets a thread, and the metadata chunk has no room for another heap.
  while (count_heaps().orphans > 0) {
    const Acting acting(&empty_heap);
    ASSERT_NE(ensure_heap(), nullptr);
  }
  ASSERT_NE(take_metadata(256_KiB, 16), nullptr);
  const Acting acting(&empty_heap);
  fake_os::fail_all(Call::kMap, true);
  void* const block = allocate(48);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(this_heap, &empty_heap);
  EXPECT_EQ(slab_map.find(block)->owner.load()->state.load(), HeapState::kShared);
  deallocate(block);
  fake_os::reset();
  deallocate(allocate(48));
  EXPECT_NE(this_heap, &empty_heap) << "the next block brings it a heap";
  fake_os::end_this_thread();
}

TEST_F(ThreadHeapTest, CollectingOrphansReturnsWhatCameBackToThem) {
  std::vector<void*> blocks;
  Heap* heap = nullptr;
  play_thread([&] {
    blocks = take_blocks(200, 500);
    heap = this_heap;
  });
  // A freer that stopped before it looked whether the heap is an orphan.
  for (void* const pointer : blocks) {
    auto* const block = static_cast<Block*>(pointer);
    Slab* const slab = slab_map.find(block);
    const std::uintptr_t word = slab->remote.load();
    block->next = reinterpret_cast<Block*>(word & ~Slab::kAnnounced);
    slab->remote = address_of(block) | Slab::kAnnounced;
    if ((word & Slab::kAnnounced) != 0) continue;
    slab->announce_next = heap->announced.load();
    heap->announced = slab;
  }
  EXPECT_GT(heap->slab_bytes.value(), 0u);
  collect_orphans();
  EXPECT_EQ(heap->slab_bytes.value(), 0u);
  EXPECT_EQ(heap->state.load(), HeapState::kOrphan);
}

TEST_F(ThreadHeapTest, ADeadThreadsHeapIsNotLockedForGoodByAnAdopterThatFindsNothing) {
  TestHeap living;
  Heap* heap = nullptr;
  std::vector<void*> blocks;
  play_thread([&] {
    blocks = take_blocks(4, 48);
    heap = this_heap;
  });
  EXPECT_EQ(adopt_slab(*living, class_of(4096)), nullptr);
  EXPECT_EQ(heap->state.load(), HeapState::kOrphan);
  play_thread([&] { give_back_blocks(blocks); });
}

TEST_F(ThreadHeapTest, RealThreadsPassBlocksOnAndEndWhileTheyAreFreed) {
  std::vector<void*> blocks = take_blocks(300, 72);
  for (int generation = 0; generation < 20; ++generation) {
    std::vector<void*> next[2];
    std::vector<std::thread> threads;
    for (std::size_t self = 0; self < 2; ++self) {
      threads.emplace_back([&, self] {
        next[self] = take_blocks(150, 72);
        for (std::size_t index = self; index < blocks.size(); index += 2) deallocate(blocks[index]);
        fake_os::end_this_thread();
      });
    }
    for (std::thread& thread : threads) thread.join();
    blocks = next[0];
    blocks.insert(blocks.end(), next[1].begin(), next[1].end());
    ASSERT_TRUE(all_distinct(blocks));
    ASSERT_TRUE(heaps_are_consistent(true));
    ASSERT_EQ(check_core().broken, nullptr) << check_core().broken;
  }
  give_back_blocks(blocks);
  fake_os::end_this_thread();
  this_heap = &empty_heap;  // for the tests after this one
}

}  // namespace
}  // namespace drey::core
