// slab_test.cpp: the equations of a slab in each of its states, and how its blocks are carved.
//
// Method: one slab of each class over plain memory; no heap, no system calls, no second thread.
// SPDX-License-Identifier: MIT
#include "core/slab.hpp"

#include "core/heap.hpp"
#include "support/test_slab.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace drey::core {
namespace {

template <typename Action>
void for_each_class(Action action) {
  for (std::size_t index = 1; index < kClassCount; ++index) {
    SCOPED_TRACE("class " + std::to_string(index));
    action(static_cast<SizeClass>(index));
  }
}

TEST(Slab, HandsOutEveryBlockOfEveryClassExactlyOnce) {
  for_each_class([](SizeClass size_class) {
    TestSlab slab(size_class);
    slab->become_current();
    const std::vector<Block*> blocks = take_all(*slab);
    EXPECT_EQ(blocks.size(), slab->capacity);
    EXPECT_EQ(slab->capacity, slab_slices_of(size_class) * kSliceBytes / size_of(size_class));
    EXPECT_TRUE(all_distinct(blocks));
    for (Block* const block : blocks) EXPECT_TRUE(slab->is_block_start(block));
    EXPECT_TRUE(slab->invariants_hold());
  });
}

TEST(Slab, IsCarvedUpwardsAtMostAPageAtATime) {
  for_each_class([](SizeClass size_class) {
    TestSlab slab(size_class);
    slab->become_current();
    std::byte* expected = slab->start;
    while (slab->carve()) {
      ASSERT_TRUE(slab->invariants_hold());
      std::byte* const first = expected;
      while (Block* const block = pop_counted(*slab)) {
        ASSERT_EQ(reinterpret_cast<std::byte*>(block), expected);
        expected += slab->block_bytes;
      }
      const bool one_block = expected == first + slab->block_bytes;
      ASSERT_TRUE(one_block || align_down(address_of(first), 4096) + 4096 >= address_of(expected));
    }
    EXPECT_EQ(slab->carved, slab->capacity);
    EXPECT_FALSE(slab->carve()) << "there is nothing left";
  });
}

TEST(Slab, CountdownIsWhatTheEquationsSayInEveryState) {
  for_each_class([](SizeClass size_class) {
    TestSlab slab(size_class);
    EXPECT_EQ(slab->state, SlabState::kQueued);
    EXPECT_EQ(slab->live(), 0u);
    slab->become_current();
    EXPECT_EQ(slab->countdown, Slab::kCurrentBias);
    const std::vector<Block*> blocks = take_all(*slab);
    EXPECT_EQ(slab->countdown, Slab::kCurrentBias) << "malloc counts nothing";
    EXPECT_EQ(slab->live(), slab->capacity);
    slab->become_full();
    EXPECT_EQ(slab->countdown, slab->room_threshold());
    EXPECT_EQ(slab->live(), slab->capacity);
    EXPECT_TRUE(slab->invariants_hold());

    std::size_t back = 1;
    while (!push_counted(*slab, blocks[back - 1])) {
      ASSERT_EQ(slab->live(), slab->capacity - back);
      ++back;
    }
    EXPECT_EQ(back, slab->room_threshold()) << "worth queueing after an eighth";
    slab->become_queued(slab->live());
    EXPECT_TRUE(slab->invariants_hold());
    if (slab->has_one_block()) return;
    while (!push_counted(*slab, blocks[back])) ++back;
    EXPECT_EQ(back, slab->capacity - 1) << "zero when, and only when, it is empty";
    EXPECT_EQ(slab->live(), 0u);
    EXPECT_TRUE(slab->invariants_hold());
  });
}

TEST(Slab, ACurrentSlabCountsFreesToTheNextLookAtTheClockOnly) {
  TestSlab slab(class_of(32));
  slab->become_current();
  const std::vector<Block*> blocks = take_all(*slab);
  ASSERT_LT(blocks.size(), Slab::kCurrentBias);
  for (Block* const block : blocks) EXPECT_FALSE(push_counted(*slab, block));
  EXPECT_EQ(slab->live(), 0u);
  EXPECT_TRUE(slab->invariants_hold());
}

TEST(Slab, TheThresholdIsAnEighthAndAtLeastOneBlock) {
  for_each_class([](SizeClass size_class) {
    TestSlab slab(size_class);
    EXPECT_EQ(slab->room_threshold(), std::max(slab->capacity / 8, 1u));
    EXPECT_LE(slab->room_threshold(), std::max(slab->capacity / 8, 1u));
  });
}

TEST(Slab, OnlyTheFirstByteOfABlockIsItsStart) {
  TestSlab slab(class_of(900));
  std::size_t starts = 0;
  for (std::size_t at = 0; at < slab->slice_count * kSliceBytes; ++at) {
    starts += slab->is_block_start(slab->start + at) ? 1 : 0;
  }
  EXPECT_EQ(starts, slab->capacity);
  EXPECT_FALSE(slab->is_block_start(slab->start + slab->capacity * 912)) << "the tail is no block";
  EXPECT_TRUE(slab->is_block_start(slab->start + 912));
}

TEST(Slab, BlockStartsAreWhatDivisionSaysAtEveryOffsetOfEveryClass) {
  for_each_class([](SizeClass size_class) {
    Slab slab{};
    auto* const start = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);  // never read
    slab.open(size_class, start, slab_slices_of(size_class), true);
    const std::size_t bytes = slab_slices_of(size_class) * kSliceBytes;
    const std::size_t block = size_of(size_class);
    for (std::size_t at = 0; at < bytes; at += at % block == 0 ? 1 : block > 600 ? 15 : 1) {
      const bool expected = at % block == 0 && at / block < slab.capacity;
      ASSERT_EQ(slab.is_block_start(start + at), expected) << at << " of class " << block;
    }
  });
}

TEST(Slab, AChainGoesInFrontOfTheFreeList) {
  TestSlab slab(class_of(64));
  slab->become_current();
  std::vector<Block*> blocks = take_all(*slab);
  static_cast<void>(push_counted(*slab, blocks[9]));
  const std::vector<Block*> chain(blocks.begin(), blocks.begin() + 3);
  link_chain(chain);
  slab->take_chain(chain.front(), chain.back());
  EXPECT_EQ(list_of(slab->free), (std::vector<Block*>{blocks[0], blocks[1], blocks[2], blocks[9]}));
  EXPECT_TRUE(slab->invariants_hold());
}

TEST(Slab, RemoteFreesStayLiveUntilTheOwnerTakesThem) {
  TestSlab slab(class_of(64));
  slab->become_current();
  const std::vector<Block*> blocks = take_all(*slab);
  link_chain({blocks[0], blocks[1]});
  slab->remote = address_of(blocks[0]) | Slab::kAnnounced;
  EXPECT_EQ(slab->live(), slab->capacity);
  EXPECT_EQ(slab->free, nullptr);
  EXPECT_TRUE(slab->invariants_hold());
}

TEST(Slab, OpensAgainAsAnotherClassAsIfNew) {
  TestSlab slab(class_of(1024));
  slab->become_current();
  static_cast<void>(take_all(*slab));
  slab->open(class_of(16), slab->start, 1, false);
  EXPECT_EQ(slab->capacity, 4096u);
  EXPECT_EQ(slab->carved, 0u);
  EXPECT_EQ(slab->free, nullptr);
  EXPECT_EQ(slab->live(), 0u);
  EXPECT_TRUE(slab->invariants_hold());
}

TEST(Slab, TheInvariantsSeeAWrongCountAndALostBlock) {
  TestSlab slab(class_of(64));
  slab->become_current();
  static_cast<void>(slab->carve());
  static_cast<void>(pop_counted(*slab));
  ASSERT_TRUE(slab->invariants_hold());
  slab->countdown += 1;
  EXPECT_FALSE(slab->invariants_hold()) << "more than a current slab ever has";
  slab->countdown -= 1;
  slab->become_queued(slab->live());
  ASSERT_TRUE(slab->invariants_hold());
  slab->countdown += 1;
  EXPECT_FALSE(slab->invariants_hold());
  slab->countdown -= 1;
  Block* const lost = slab->free;
  slab->free = lost->next;
  EXPECT_FALSE(slab->invariants_hold());
  slab->free = lost;
  lost->next = lost;  // a cycle
  EXPECT_FALSE(slab->invariants_hold());
}

TEST(Slab, TheEmptySlabHasNothingToGive) {
  EXPECT_EQ(empty_slab.free, nullptr);
  EXPECT_EQ(empty_slab.carved, empty_slab.capacity);
  EXPECT_EQ(empty_slab.owner.load(), nullptr);
}

}  // namespace
}  // namespace drey::core
