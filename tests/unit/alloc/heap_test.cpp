// heap_test.cpp: where a heap keeps its slabs, and what moves one from place to place.
//
// Method: heaps of the test's own on the process's store; the calling thread plays their threads.
// SPDX-License-Identifier: MIT
#include "core/heap.hpp"

#include "core/options.hpp"
#include "core/remote_free.hpp"
#include "core/segment_store.hpp"
#include "core/slab_map.hpp"
#include "support/fake_os.hpp"
#include "support/test_heap.hpp"
#include "support/test_slab.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace drey::core {
namespace {
constexpr std::size_t kBlockBytes = 512;  // 128 to a slab, 16 to its threshold
constexpr SizeClass kClass = class_of(kBlockBytes);
constexpr std::size_t kCapacity = 128;
constexpr std::size_t kThreshold = 16;

class HeapTest : public testing::Test {
 protected:
  HeapTest() {
    fake_os::reset();
    options.purge_delay_ms = -1;
  }

  /// Fills `count` slabs of the class; the last stays current.
  std::vector<std::vector<void*>> fill_slabs(std::size_t count) {
    std::vector<std::vector<void*>> slabs;
    for (std::size_t index = 0; index < count; ++index) {
      slabs.push_back(take_blocks(kCapacity, kBlockBytes));
    }
    return slabs;
  }
  static void give_back_some(const std::vector<void*>& blocks, std::size_t first,
                             std::size_t count) {
    for (std::size_t index = first; index < first + count; ++index) deallocate(blocks[index]);
  }
  /// Frees blocks as another thread does, in one chain.
  void give_back_remotely(const std::vector<void*>& blocks, std::size_t first, std::size_t count) {
    const Acting freeing(freer.get());
    std::vector<Block*> chain;
    for (std::size_t index = first; index < first + count; ++index) {
      chain.push_back(static_cast<Block*>(blocks[index]));
    }
    link_chain(chain);
    hand_over(slab_of(blocks), chain.front(), chain.back());
  }
  static Slab* slab_of(const std::vector<void*>& blocks) { return slab_map.find(blocks[0]); }
  [[nodiscard]] std::vector<Slab*> queue() { return queued_slabs(*heap, kClass); }

  TestHeap heap;
  TestHeap freer;
  Acting acting{heap.get()};
};

TEST_F(HeapTest, BeginsWithEmptySlabsEverywhere) {
  for (std::size_t index = 0; index < kClassCount; ++index) {
    EXPECT_EQ(heap->current[index], &empty_slab);
    EXPECT_EQ(heap->with_room[index], nullptr);
  }
  EXPECT_TRUE(heap->invariants_hold());
}

TEST_F(HeapTest, OneSlabAfterTheOtherIsCurrentAndFullOnesHangNowhere) {
  const auto slabs = fill_slabs(3);
  EXPECT_EQ(slab_of(slabs[0])->state, SlabState::kFull);
  EXPECT_EQ(slab_of(slabs[1])->state, SlabState::kFull);
  EXPECT_EQ(heap->current[index_of(kClass)], slab_of(slabs[2]));
  EXPECT_TRUE(queue().empty());
  EXPECT_EQ(heap->slab_bytes.value(), 3 * kSliceBytes);
  EXPECT_TRUE(heap->invariants_hold());
  for (const auto& blocks : slabs) give_back_blocks(blocks);
}

TEST_F(HeapTest, AFullSlabIsQueuedWhenAnEighthOfItCameBack) {
  const auto slabs = fill_slabs(2);
  give_back_some(slabs[0], 0, kThreshold - 1);
  EXPECT_EQ(slab_of(slabs[0])->state, SlabState::kFull);
  EXPECT_TRUE(queue().empty());
  give_back_some(slabs[0], kThreshold - 1, 1);
  EXPECT_EQ(queue(), std::vector<Slab*>{slab_of(slabs[0])});
  EXPECT_EQ(slab_of(slabs[0])->live(), kCapacity - kThreshold);
  EXPECT_TRUE(heap->invariants_hold());
  give_back_some(slabs[0], kThreshold, kCapacity - kThreshold);
  give_back_blocks(slabs[1]);
}

TEST_F(HeapTest, TheSlabQueuedLastIsTakenFromFirstAndBeforeANewOne) {
  const auto slabs = fill_slabs(3);
  give_back_some(slabs[0], 0, kThreshold);
  give_back_some(slabs[1], 0, kThreshold);
  EXPECT_EQ(queue(), (std::vector<Slab*>{slab_of(slabs[1]), slab_of(slabs[0])}));
  const std::vector<void*> again = take_blocks(2 * kThreshold, kBlockBytes);
  EXPECT_EQ(slab_map.find(again.front()), slab_of(slabs[1]));
  EXPECT_EQ(slab_map.find(again.back()), slab_of(slabs[0]));
  EXPECT_EQ(heap->slab_bytes.value(), 3 * kSliceBytes);
  give_back_blocks(again);
  give_back_some(slabs[0], kThreshold, kCapacity - kThreshold);
  give_back_some(slabs[1], kThreshold, kCapacity - kThreshold);
  give_back_blocks(slabs[2]);
}

TEST_F(HeapTest, BlocksThatWereInUseComeBeforeMemoryThatNobodyHasTouched) {
  auto slabs = fill_slabs(1);
  const std::vector<void*> first_page = take_blocks(1, kBlockBytes);
  Slab* const fresh = slab_of(first_page);
  const std::uint32_t carved = fresh->carved;
  ASSERT_LT(carved, fresh->capacity);
  const std::vector<void*> rest = take_blocks(carved - 1, kBlockBytes);
  give_back_some(slabs[0], 0, kThreshold);
  const std::vector<void*> again = take_blocks(kThreshold, kBlockBytes);
  for (void* const block : again) EXPECT_EQ(slab_map.find(block), slab_of(slabs[0]));
  EXPECT_EQ(fresh->carved, carved);
  EXPECT_EQ(queue(), std::vector<Slab*>{fresh});
  EXPECT_TRUE(heap->invariants_hold());
  const std::vector<void*> next = take_blocks(1, kBlockBytes);
  EXPECT_EQ(slab_map.find(next[0]), fresh) << "untouched memory comes before a new slab";
  EXPECT_TRUE(heap->invariants_hold());
  give_back_blocks(next);
  give_back_blocks(again);
  give_back_blocks(rest);
  give_back_blocks(first_page);
  give_back_some(slabs[0], kThreshold, kCapacity - kThreshold);
}

TEST_F(HeapTest, AnEmptySlabThatWasAllCarvedStartsOverInTheOrderOfItsAddresses) {
  if (kSecure)
    GTEST_SKIP() << "builds with DREY_SECURE hand blocks out in an order drawn by chance";
  for (const std::size_t bytes : {64, 256, 512, 1024, 8192}) {
    std::vector<void*> first = take_blocks(1, bytes);
    Slab* const slab = slab_of(first);
    const std::vector<void*> others = take_blocks(slab->capacity - 1, bytes);
    first.insert(first.end(), others.begin(), others.end());
    const std::vector<void*> second = take_blocks(1, bytes);
    std::shuffle(first.begin(), first.end(), std::mt19937(1));
    give_back_blocks(first);
    ASSERT_EQ(slab->live(), 0U);
    const std::vector<void*> rest = take_blocks(slab_of(second)->carved - 1, bytes);
    const std::vector<void*> again = take_blocks(slab->capacity, bytes);
    EXPECT_EQ(slab_of(again), slab);
    EXPECT_TRUE(std::is_sorted(again.begin(), again.end())) << bytes;
    EXPECT_TRUE(heap->invariants_hold());
    give_back_blocks(again);
    give_back_blocks(rest);
    give_back_blocks(second);
  }
}

TEST_F(HeapTest, AnEmptySlabOfFewBlocksKeepsTheOneThatWasFreedLast) {
  if (kSecure) GTEST_SKIP() << "builds with DREY_SECURE keep freed blocks back";
  constexpr std::size_t kLongBytes = 32768;
  std::vector<void*> first = take_blocks(1, kLongBytes);
  Slab* const slab = slab_of(first);
  const std::vector<void*> others = take_blocks(slab->capacity - 1, kLongBytes);
  const std::vector<void*> second = take_blocks(slab->capacity, kLongBytes);
  give_back_blocks(first);
  give_back_blocks(others);
  ASSERT_EQ(slab->live(), 0U);
  const std::vector<void*> again = take_blocks(1, kLongBytes);
  EXPECT_EQ(again[0], others.back());
  give_back_blocks(again);
  give_back_blocks(second);
}

TEST_F(HeapTest, TheBlockFreedLastComesOutFirst) {
  const std::vector<void*> blocks = take_blocks(10, kBlockBytes);
  deallocate(blocks[3]);
  deallocate(blocks[7]);
  EXPECT_EQ(allocate(kBlockBytes), blocks[7]);
  EXPECT_EQ(allocate(kBlockBytes), blocks[3]);
  give_back_blocks(blocks);
}

TEST_F(HeapTest, KeepsEmptySlabsUpToTheReserveAndReturnsTheOthers) {
  constexpr std::size_t kReserveSlabs = Heap::kReserveBytesMax / kSliceBytes;
  const auto slabs = fill_slabs(kReserveSlabs + 4);
  for (std::size_t index = 0; index < kReserveSlabs + 3; ++index) give_back_blocks(slabs[index]);
  ASSERT_EQ(queue().size(), kReserveSlabs);
  for (const Slab* const slab : queue()) EXPECT_EQ(slab->live(), 0u);
  EXPECT_EQ(heap->reserve_bytes, Heap::kReserveBytesMax);
  EXPECT_EQ(heap->slab_bytes.value(), (kReserveSlabs + 1) * kSliceBytes);
  EXPECT_TRUE(heap->invariants_hold());
  heap->release_empty_slabs();
  EXPECT_TRUE(queue().empty());
  EXPECT_EQ(heap->reserve_bytes, 0u);
  EXPECT_EQ(heap->slab_bytes.value(), kSliceBytes) << "the current one";
  EXPECT_TRUE(heap->invariants_hold());
  give_back_blocks(slabs.back());
}

TEST_F(HeapTest, AnEmptySlabIsKeptWhateverItsLengthIfItIsTheOnlyOneOfItsClass) {
  const std::vector<void*> blocks = take_blocks(3, 900_KiB);
  ASSERT_GT(3 * 896_KiB, Heap::kReserveBytesMax);
  give_back_blocks(blocks);
  EXPECT_LE(heap->reserve_bytes, 960_KiB);
  EXPECT_TRUE(heap->invariants_hold());
  const std::vector<void*> again = take_blocks(2, 900_KiB);
  EXPECT_EQ(heap->reserve_bytes, 0u) << "the current one and the reserve are used again";
  give_back_blocks(again);
}

TEST_F(HeapTest, TrimmingReturnsEmptySlabsAndLongBlocksThatNobodyHolds) {
  const std::vector<void*> small = take_blocks(2 * kCapacity, kBlockBytes);
  const std::vector<void*> lengthy = take_blocks(1, 500_KiB);
  void* const held = take_blocks(1, 300_KiB)[0];
  give_back_blocks(small);
  give_back_blocks(lengthy);
  heap->trim();
  EXPECT_EQ(heap->reserve_bytes, 0u);
  EXPECT_EQ(heap->slab_bytes.value(), kSliceBytes + 320_KiB) << "a current slab and what is held";
  EXPECT_TRUE(heap->invariants_hold());
  deallocate(held);
}

TEST_F(HeapTest, ASlabInTheMiddleOfTheQueueCanLeaveIt) {
  const auto slabs = fill_slabs(5);
  for (std::size_t index = 0; index < 4; ++index) give_back_some(slabs[index], 0, kThreshold);
  ASSERT_EQ(queue().size(), 4u);
  Slab* const middle = slab_of(slabs[2]);
  give_back_some(slabs[2], kThreshold, kCapacity - kThreshold);
  ASSERT_EQ(queue().size(), 4u) << "in the reserve";
  heap->release_empty_slabs();
  EXPECT_EQ(queue(), (std::vector<Slab*>{slab_of(slabs[3]), slab_of(slabs[1]), slab_of(slabs[0])}));
  EXPECT_EQ(middle->owner.load(), nullptr) << "empty: returned";
  EXPECT_TRUE(heap->invariants_hold());
  for (const std::size_t index : {0, 1, 3}) {
    give_back_some(slabs[index], kThreshold, kCapacity - kThreshold);
  }
  give_back_blocks(slabs[4]);
}

TEST_F(HeapTest, AReturnedSlabLeavesTheMap) {
  const auto slabs = fill_slabs(1);
  give_back_blocks(slabs[0]);
  EXPECT_NE(slab_map.find(slabs[0][0]), nullptr);
  heap->park_current(kClass);
  heap->release_empty_slabs();
  EXPECT_EQ(slab_map.find(slabs[0][0]), nullptr);
  EXPECT_EQ(heap->slab_bytes.value(), 0u);
}

TEST_F(HeapTest, ParkingPutsASlabWhereItsRoomSays) {
  const auto slabs = fill_slabs(1);
  heap->park_current(kClass);
  EXPECT_EQ(slab_of(slabs[0])->state, SlabState::kFull);
  EXPECT_EQ(heap->current[index_of(kClass)], &empty_slab);
  heap->park_current(kClass);  // there is none now: nothing happens
  void* const block = allocate(kBlockBytes);
  Slab* const partly = slab_map.find(block);
  heap->park_current(kClass);
  EXPECT_EQ(queue(), std::vector<Slab*>{partly});
  EXPECT_EQ(partly->live(), 1u);
  EXPECT_TRUE(heap->invariants_hold());
  deallocate(block);
  give_back_blocks(slabs[0]);
}

TEST_F(HeapTest, RemoteFreesOfAFullSlabQueueItOnceTheyAreEnough) {
  const auto slabs = fill_slabs(2);
  give_back_remotely(slabs[0], 0, kThreshold - 1);
  heap->serve_announcements();
  EXPECT_EQ(slab_of(slabs[0])->state, SlabState::kFull);
  EXPECT_EQ(slab_of(slabs[0])->live(), kCapacity - kThreshold + 1);
  EXPECT_TRUE(slab_of(slabs[0])->invariants_hold());
  give_back_remotely(slabs[0], kThreshold - 1, 3);
  heap->serve_announcements();
  EXPECT_EQ(queue(), std::vector<Slab*>{slab_of(slabs[0])});
  EXPECT_EQ(slab_of(slabs[0])->live(), kCapacity - kThreshold - 2);
  EXPECT_TRUE(heap->invariants_hold());
  give_back_some(slabs[0], kThreshold + 2, kCapacity - kThreshold - 2);
  give_back_blocks(slabs[1]);
}

TEST_F(HeapTest, RemoteFreesOfQueuedAndCurrentSlabsAreTakenWhereTheyAre) {
  const auto slabs = fill_slabs(2);
  give_back_some(slabs[0], 0, kThreshold);
  give_back_remotely(slabs[0], kThreshold, 2);
  give_back_remotely(slabs[1], 0, 5);
  heap->serve_announcements();
  EXPECT_EQ(slab_of(slabs[0])->live(), kCapacity - kThreshold - 2);
  EXPECT_EQ(slab_of(slabs[1])->state, SlabState::kCurrent);
  EXPECT_EQ(slab_of(slabs[1])->live(), kCapacity - 5);
  EXPECT_TRUE(heap->invariants_hold());
  give_back_some(slabs[0], kThreshold + 2, kCapacity - kThreshold - 2);
  give_back_some(slabs[1], 5, kCapacity - 5);
}

TEST_F(HeapTest, SlabsThatOtherThreadsEmptyAreReturned) {
  constexpr std::size_t kReserveSlabs = Heap::kReserveBytesMax / kSliceBytes;
  const auto slabs = fill_slabs(kReserveSlabs + 4);
  for (std::size_t index = 0; index < kReserveSlabs + 3; ++index) {
    give_back_remotely(slabs[index], 0, kCapacity);
  }
  EXPECT_EQ(heap->slab_bytes.value(), slabs.size() * kSliceBytes) << "not yet served";
  heap->serve_announcements();
  EXPECT_EQ(heap->slab_bytes.value(), (kReserveSlabs + 1) * kSliceBytes)
      << "the current one and the reserve";
  EXPECT_TRUE(heap->invariants_hold());
  give_back_blocks(slabs.back());
}

TEST_F(HeapTest, RefillsInTheOrderRemoteUntouchedAnnouncedNew) {
  const auto first = fill_slabs(1)[0];
  std::vector<void*> begun = take_blocks(1, kBlockBytes);
  while (slab_of(begun)->free != nullptr) begun.push_back(allocate(kBlockBytes));
  give_back_remotely(begun, 0, 1);
  give_back_remotely(first, 0, kThreshold);
  EXPECT_EQ(allocate(kBlockBytes), begun[0]) << "what came back to the current slab";
  const std::vector<void*> untouched = take_blocks(kCapacity - begun.size(), kBlockBytes);
  for (void* const block : untouched) ASSERT_EQ(slab_map.find(block), slab_of(begun));
  EXPECT_EQ(slab_map.find(allocate(kBlockBytes)), slab_of(first)) << "what was announced";
  const std::vector<void*> rest = take_blocks(kThreshold - 1, kBlockBytes);
  for (void* const block : rest) ASSERT_EQ(slab_map.find(block), slab_of(first));
  void* const newest = allocate(kBlockBytes);
  EXPECT_NE(slab_map.find(newest), slab_of(first));
  EXPECT_NE(slab_map.find(newest), slab_of(begun));
  EXPECT_TRUE(heap->invariants_hold());
  deallocate(newest);
  give_back_blocks(first);
  give_back_blocks(begun);
  give_back_blocks(untouched);
}

TEST_F(HeapTest, ReturnsItsReservesBeforeItSaysThereIsNoMemory) {
  const auto slabs = fill_slabs(2);
  give_back_blocks(slabs[0]);  // becomes the reserve of its class
  // Take every other slice there is, so that only the reserve's is left.
  std::vector<SegmentStore::Run> runs;
  fake_os::fail_all(true);
  for (;;) {
    const SegmentStore::Run run = segment_store.acquire(1, kSliceBytes);
    if (run.slab == nullptr) break;
    run.slab->state = SlabState::kLarge;
    runs.push_back(run);
  }
  void* const block = allocate(16);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(address_of(block) / kSliceBytes, address_of(slabs[0][0]) / kSliceBytes);
  EXPECT_EQ(allocate(32), nullptr);
  fake_os::reset();
  for (const SegmentStore::Run& run : runs) segment_store.release(run.slab, 1);
  EXPECT_TRUE(heap->invariants_hold());
  deallocate(block);
  give_back_blocks(slabs[1]);
}

TEST_F(HeapTest, TheInvariantsSeeASlabInTheWrongPlace) {
  const auto slabs = fill_slabs(2);
  give_back_some(slabs[0], 0, kThreshold);
  ASSERT_TRUE(heap->invariants_hold());
  Slab* const queued = slab_of(slabs[0]);
  queued->state = SlabState::kFull;
  EXPECT_FALSE(heap->invariants_hold());
  queued->state = SlabState::kQueued;
  queued->owner = freer.get();
  EXPECT_FALSE(heap->invariants_hold());
  queued->owner = heap.get();
  queued->previous = queued;
  EXPECT_FALSE(heap->invariants_hold());
  queued->previous = nullptr;
  EXPECT_TRUE(heap->invariants_hold());
  give_back_some(slabs[0], kThreshold, kCapacity - kThreshold);
  give_back_blocks(slabs[1]);
}

TEST_F(HeapTest, IsBusyOnlyWhileAListChanges) {
  EXPECT_FALSE(heap->busy.load());
  {
    const BusyScope busy_scope(*heap);
    EXPECT_TRUE(heap->busy.load());
  }
  EXPECT_FALSE(heap->busy.load());
  deallocate(allocate(16));
  EXPECT_FALSE(heap->busy.load());
}

}  // namespace
}  // namespace drey::core
