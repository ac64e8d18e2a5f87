// shared_heap_test.cpp: what a new thread borrows instead of opening slabs of its own, and that it all
// comes back.
//
// Method: heaps of the test's own; the calling thread plays their threads.
// SPDX-License-Identifier: MIT
#include "core/shared_heap.hpp"

#include "core/check.hpp"
#include "core/options.hpp"
#include "core/slab_map.hpp"
#include "support/fake_os.hpp"
#include "support/test_heap.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace drey::core {
namespace {
class SharedHeapTest : public testing::Test {
 protected:
  SharedHeapTest() {
    fake_os::reset();
    options.purge_delay_ms = -1;
    heap->may_borrow_again();
    other->may_borrow_again();
  }
  ~SharedHeapTest() override {
    serve_shared_heap();
    EXPECT_EQ(check_core().live_blocks, 0U);
    EXPECT_TRUE(heaps_are_consistent(false));
  }

  static const Heap* owner_of(const void* block) { return slab_map.find(block)->owner.load(); }

  TestHeap heap;
  TestHeap other;
  Acting acting{heap.get()};
};

TEST_F(SharedHeapTest, ANewThreadsFirstBlocksAreBorrowedThenItHasASlab) {
  if (kSecure) GTEST_SKIP() << "builds with DREY_SECURE do not borrow";
  std::vector<void*> blocks = take_blocks(Heap::kBorrowsMax, 100);
  for (const void* const block : blocks) EXPECT_EQ(owner_of(block), &shared_heap_to_count());
  EXPECT_EQ(heap->slab_bytes.value(), 0U);
  blocks.push_back(allocate(100));
  EXPECT_EQ(owner_of(blocks.back()), heap.get());
  give_back_blocks(blocks);
}

TEST_F(SharedHeapTest, BorrowedBlocksShareNoCacheLine) {
  if (kSecure) GTEST_SKIP() << "builds with DREY_SECURE do not borrow";
  for (const std::size_t size : {1, 16, 48, 64, 65, 100, 900, 1024}) {
    void* const block = allocate(size);
    EXPECT_TRUE(is_aligned(block, kCacheLineBytes)) << size;
    EXPECT_EQ(usable_bytes(block) % kCacheLineBytes, 0U) << size;
    EXPECT_GE(usable_bytes(block), size);
    deallocate(block);
  }
}

TEST_F(SharedHeapTest, AClassThatHasASlabBorrowsNothing) {
  heap->borrows_left[lines_of(class_of(100))] = 0;
  void* const first = allocate(100);
  heap->may_borrow_again();
  void* const second = allocate(100);
  EXPECT_EQ(owner_of(first), heap.get());
  EXPECT_EQ(owner_of(second), heap.get());
  deallocate(first);
  deallocate(second);
}

TEST_F(SharedHeapTest, WhatOneThreadGivesBackAnotherBorrows) {
  if (kSecure) GTEST_SKIP() << "builds with DREY_SECURE do not borrow";
  const std::vector<void*> blocks = take_blocks(Heap::kBorrowsMax, 64);
  const std::size_t slab_bytes = shared_heap_to_count().slab_bytes.value();
  give_back_blocks(blocks);
  for (int thread = 0; thread < 1000; ++thread) {
    other->may_borrow_again();
    const Acting next(other.get());
    give_back_blocks(take_blocks(Heap::kBorrowsMax, 64));
  }
  EXPECT_EQ(shared_heap_to_count().slab_bytes.value(), slab_bytes);
  EXPECT_EQ(other->slab_bytes.value(), 0U);
}

TEST_F(SharedHeapTest, ZeroedBorrowedBlocksAreZeroToTheirLastUsableByte) {
  for (std::size_t round = 0; round < 4; ++round) {
    void* const dirty = allocate(128);
    std::memset(dirty, 0xAB, usable_bytes(dirty));
    deallocate(dirty);
    auto* const block = static_cast<unsigned char*>(allocate_zeroed(70));
    for (std::size_t index = 0; index < usable_bytes(block); ++index) ASSERT_EQ(block[index], 0);
    deallocate(block);
  }
}

TEST_F(SharedHeapTest, ABorrowedBlockFreedTwiceIsReportedAtOnceOrWhenItIsTakenBack) {
  if (kSecure) GTEST_SKIP() << "builds with DREY_SECURE do not borrow";
  EXPECT_DEATH(
      {
        void* const block = allocate(64);
        deallocate(block);
        deallocate(block);
      },
      "double free");
  EXPECT_DEATH(
      {
        void* const block = allocate(64);
        void* const between = allocate(64);
        deallocate(block);
        deallocate(between);
        deallocate(block);
        serve_shared_heap();
      },
      "double free");
}

TEST_F(SharedHeapTest, TheHeapIsLeftAloneWhileSomebodyHoldsIt) {
  if (kSecure) GTEST_SKIP() << "builds with DREY_SECURE do not borrow";
  void* const block = allocate(64);
  deallocate(block);
  static_cast<void>(acquire_shared_heap());
  serve_shared_heap();
  EXPECT_EQ(check_core().live_blocks, 1U) << "given back, not taken back";
  release_shared_heap();
}

}  // namespace
}  // namespace drey::core
