// outbox_test.cpp: when notes of frees leave the outbox, and that every block arrives once.
//
// Method: slabs over plain memory, owned by a heap of the test's own that never serves them; what
// has been handed over is read from the slabs' remote chains.
// SPDX-License-Identifier: MIT
#include "core/outbox.hpp"

#include "core/remote_free.hpp"
#include "support/seeded_random.hpp"
#include "support/test_heap.hpp"
#include "support/test_slab.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

namespace drey::core {
namespace {

/// Descriptors side by side, as in a segment, over one shared run of plain memory each.
class OutboxTest : public testing::Test {
 protected:
  static constexpr std::size_t kSlabCount = 2 * Outbox::kSlotCount + 8;

  OutboxTest() {
    for (std::size_t index = 0; index < kSlabCount; ++index) {
      Slab& slab = slabs[index];
      auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kSliceBytes, kSliceBytes));
      slab.open(class_of(512), memory, 1, false);
      slab.owner = owner.get();
      slab.become_current();
      blocks.push_back(take_all(slab));
    }
  }
  ~OutboxTest() override {
    for (std::size_t index = 0; index < kSlabCount; ++index) std::free(slabs[index].start);
  }

  [[nodiscard]] std::size_t arrived(std::size_t index) const {
    return remote_list_of(slabs[index]).size();
  }

  std::unique_ptr<Heap> owner = std::make_unique<Heap>();
  std::unique_ptr<Slab[]> slabs = std::make_unique<Slab[]>(kSlabCount);
  std::vector<std::vector<Block*>> blocks;
  Outbox outbox{};
};

TEST_F(OutboxTest, KeepsANoteUntilItIsFull) {
  EXPECT_TRUE(outbox.empty());
  for (std::uint32_t count = 0; count + 1 < Outbox::kBlocksMax; ++count) {
    outbox.add(&slabs[0], blocks[0][count]);
    ASSERT_EQ(arrived(0), 0u);
  }
  EXPECT_FALSE(outbox.empty());
  outbox.add(&slabs[0], blocks[0][Outbox::kBlocksMax - 1]);
  EXPECT_EQ(arrived(0), Outbox::kBlocksMax);
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(announced_slabs(*owner), std::vector<Slab*>{&slabs[0]});
}

TEST_F(OutboxTest, SendsWhatItHasWhenFlushed) {
  outbox.add(&slabs[0], blocks[0][0]);
  outbox.add(&slabs[1], blocks[1][0]);
  outbox.add(&slabs[1], blocks[1][1]);
  outbox.flush();
  EXPECT_EQ(arrived(0), 1u);
  EXPECT_EQ(arrived(1), 2u);
  EXPECT_TRUE(outbox.empty());
  outbox.flush();
  EXPECT_EQ(arrived(1), 2u) << "a second flush has nothing to send";
}

TEST_F(OutboxTest, NeighboursDoNotPushEachOtherOut) {
  std::size_t first = 0;
  while (address_of(&slabs[first]) / sizeof(Slab) % Outbox::kSlotCount != 0) ++first;
  for (std::size_t index = first; index < first + Outbox::kSlotCount; ++index) {
    outbox.add(&slabs[index], blocks[index][0]);
  }
  for (std::size_t index = first; index < first + Outbox::kSlotCount; ++index)
    EXPECT_EQ(arrived(index), 0u);
}

TEST_F(OutboxTest, ASlabThatNeedsAnotherOnesPlaceSendsThatOnesNote) {
  for (std::size_t index = 0; index < kSlabCount; ++index)
    outbox.add(&slabs[index], blocks[index][0]);
  std::size_t sent = 0;
  for (std::size_t index = 0; index < kSlabCount; ++index) sent += arrived(index);
  EXPECT_GE(sent, kSlabCount - Outbox::kSlotCount);
  EXPECT_EQ(arrived(kSlabCount - 1), 0u) << "the newest is kept";
}

TEST_F(OutboxTest, EveryBlockArrivesOnceAndInItsOwnSlab) {
  std::mt19937_64 random = seeded_random(5);
  std::vector<std::set<Block*>> sent(kSlabCount);
  for (int round = 0; round < 4000; ++round) {
    const std::size_t index = below(random, kSlabCount);
    if (sent[index].size() == blocks[index].size()) continue;
    Block* const block = blocks[index][sent[index].size()];
    sent[index].insert(block);
    outbox.add(&slabs[index], block);
    if (below(random, 50) == 0) outbox.flush();
  }
  outbox.flush();
  for (std::size_t index = 0; index < kSlabCount; ++index) {
    const std::vector<Block*> list = remote_list_of(slabs[index]);
    EXPECT_TRUE(all_distinct(list));
    EXPECT_EQ(std::set<Block*>(list.begin(), list.end()), sent[index]) << "slab " << index;
    EXPECT_TRUE(slabs[index].invariants_hold());
  }
}

TEST_F(OutboxTest, AShortWayIsTakenOnlyWhereTheSlabHasANoteWithRoom) {
  EXPECT_FALSE(outbox.add_to_note(&slabs[0], blocks[0][0])) << "no note";
  outbox.add(&slabs[0], blocks[0][0]);
  EXPECT_FALSE(outbox.add_to_note(&slabs[0], blocks[0][0])) << "twice in a row";
  const auto* const interior = reinterpret_cast<const std::byte*>(blocks[0][1]) + 16;
  EXPECT_FALSE(outbox.add_to_note(&slabs[0], interior)) << "no block starts there";
  EXPECT_FALSE(outbox.add_to_note(&slabs[1], blocks[1][0])) << "another slab";
  for (std::uint32_t count = 1; count + 1 < Outbox::kBlocksMax; ++count) {
    ASSERT_TRUE(outbox.add_to_note(&slabs[0], blocks[0][count])) << count;
  }
  EXPECT_FALSE(outbox.add_to_note(&slabs[0], blocks[0][Outbox::kBlocksMax - 1])) << "the last";
  outbox.flush();
  EXPECT_EQ(arrived(0), Outbox::kBlocksMax - 1);
  EXPECT_FALSE(outbox.add_to_note(&slabs[0], blocks[0][Outbox::kBlocksMax - 1])) << "an old note";
}

TEST_F(OutboxTest, CountsEachHandOverOnceForTheThreadThatSendsIt) {
  TestHeap freer;
  const Acting acting(freer.get());
  for (std::uint32_t count = 0; count < 2 * Outbox::kBlocksMax + 1; ++count) {
    freer->outbox.add(&slabs[0], blocks[0][count]);
  }
  EXPECT_EQ(freer->remote_chain_count.value(), 2u);
  freer->outbox.flush();
  EXPECT_EQ(freer->remote_chain_count.value(), 3u);
}

}  // namespace
}  // namespace drey::core
