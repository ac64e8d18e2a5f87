// remote_free_test.cpp: the protocol of remote frees by its rules, step by step, in every order.
//
// Method: heaps of the test's own play the threads on one real thread, so each interleaving is the
// test's choice. The last test is a race of two real threads; memory orders are not under test.
//
// Read next: remote_free_orders_test.cpp, which tries every order.
// SPDX-License-Identifier: MIT
#include "core/remote_free.hpp"

#include "core/check.hpp"
#include "core/options.hpp"
#include "core/slab_map.hpp"
#include "support/fake_os.hpp"
#include "support/remote_free_steps.hpp"
#include "support/test_heap.hpp"
#include "support/test_slab.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <functional>
#include <memory>
#include <vector>

namespace drey::core {
namespace {
constexpr std::size_t kBlockBytes = 64_KiB;  // eight to a slab
constexpr SizeClass kClass = class_of(kBlockBytes);

class RemoteFreeTest : public testing::Test {
 protected:
  RemoteFreeTest() {
    fake_os::reset();
    options.purge_delay_ms = -1;
    const Acting acting(owner.get());
    for (Block*& block : blocks) block = static_cast<Block*>(allocate(kBlockBytes));
    slab = slab_map.find(blocks[0]);
  }
  ~RemoteFreeTest() override { EXPECT_TRUE(heaps_are_consistent(false)); }

  [[nodiscard]] std::vector<Block*> some(std::size_t first, std::size_t count) const {
    return {blocks.begin() + static_cast<std::ptrdiff_t>(first),
            blocks.begin() + static_cast<std::ptrdiff_t>(first + count)};
  }
  void hand_over_blocks(std::size_t first, std::size_t count) {
    const Acting acting(freer.get());
    const std::vector<Block*> chain = some(first, count);
    link_chain(chain);
    hand_over(slab, chain.front(), chain.back());
  }
  /// Gives the rest back as the owner.
  void give_back_from(std::size_t first) {
    const Acting acting(owner.get());
    for (std::size_t index = first; index < blocks.size(); ++index) deallocate(blocks[index]);
  }

  TestHeap owner;
  TestHeap freer;
  std::vector<Block*> blocks = std::vector<Block*>(8);  // the whole of one slab
  Slab* slab = nullptr;
};

TEST_F(RemoteFreeTest, ASlabIsAnnouncedOnceHoweverManyChainsArrive) {
  hand_over_blocks(0, 2);
  hand_over_blocks(2, 1);
  hand_over_blocks(3, 3);
  EXPECT_EQ(announced_slabs(*owner), std::vector<Slab*>{slab});
  EXPECT_TRUE(all_distinct(remote_list_of(*slab)));
  EXPECT_EQ(remote_list_of(*slab).size(), 6u);
  owner->serve_announcements();
  EXPECT_EQ(slab->live(), 2u);
  give_back_from(6);
}

TEST_F(RemoteFreeTest, TakingTheChainDirectlyKeepsTheFlag) {
  hand_over_blocks(0, 3);
  EXPECT_EQ(list_of(take_remote_chain(slab)), some(0, 3));
  EXPECT_TRUE(is_announced(slab));
  EXPECT_EQ(take_remote_chain(slab), nullptr);
  EXPECT_TRUE(is_announced(slab)) << "also where there is nothing to take";
  hand_over_blocks(3, 1);
  EXPECT_EQ(announced_slabs(*owner), std::vector<Slab*>{slab}) << "still the one announcement";
  EXPECT_EQ(list_of(take_announced_chain(slab)), some(3, 1));
  EXPECT_FALSE(is_announced(slab));
  owner->announced = nullptr;
  give_back_from(0);
}

TEST_F(RemoteFreeTest, TakingTheSlabOffTheStackClearsTheFlagSoThatItIsAnnouncedAgain) {
  hand_over_blocks(0, 1);
  owner->serve_announcements();
  EXPECT_FALSE(is_announced(slab));
  EXPECT_TRUE(announced_slabs(*owner).empty());
  hand_over_blocks(1, 1);
  EXPECT_TRUE(is_announced(slab));
  EXPECT_EQ(announced_slabs(*owner), std::vector<Slab*>{slab});
  owner->serve_announcements();
  EXPECT_EQ(slab->live(), 6u);
  give_back_from(2);
}

TEST_F(RemoteFreeTest, TheOwnerRefillsFromTheChainOfItsCurrentSlab) {
  hand_over_blocks(2, 3);
  const Acting acting(owner.get());
  std::vector<Block*> taken;
  for (std::size_t index = 2; index < 5; ++index) {
    taken.push_back(static_cast<Block*>(allocate(kBlockBytes)));
  }
  std::sort(taken.begin(), taken.end());
  EXPECT_EQ(taken, some(2, 3));
  EXPECT_TRUE(is_announced(slab));
  give_back_from(0);
}

TEST_F(RemoteFreeTest, AnEmptySlabIsNotReleasedWhileItIsAnnounced) {
  ASSERT_TRUE(link_into(slab, some(0, 8)));  // and the freer stops here, before its push
  {
    const Acting acting(owner.get());
    deallocate(allocate(kBlockBytes));  // takes the chain; now all eight are back
  }
  ASSERT_EQ(slab->live(), 0u);
  owner->park_current(kClass);
  owner->release_empty_slabs();
  EXPECT_EQ(slab->owner.load(), owner.get()) << "the freer is about to write to it";
  EXPECT_EQ(slab_map.find(blocks[0]), slab);

  announce(slab);  // the freer goes on
  owner->serve_announcements();
  owner->release_empty_slabs();
  EXPECT_EQ(slab->owner.load(), nullptr);
  EXPECT_EQ(slab_map.find(blocks[0]), nullptr);
}

TEST_F(RemoteFreeTest, BlocksInAChainKeepTheirSlab) {
  hand_over_blocks(0, 8);
  owner->park_current(kClass);
  EXPECT_EQ(slab->live(), 8u);
  owner->release_empty_slabs();
  EXPECT_EQ(slab->owner.load(), owner.get());
}

TEST_F(RemoteFreeTest, APushOntoAFormerOwnersStackIsForwardedWithItsFlag) {
  TestHeap taker;
  give_back_from(4);
  owner->park_current(kClass);
  ASSERT_TRUE(link_into(slab, some(0, 2)));
  Heap* const stale = slab->owner.load();
  owner->unqueue(slab);  // it changes hands between the freer's look and its push
  owner->slab_bytes.subtract(slab->slice_count * kSliceBytes);
  taker->slab_bytes.add(slab->slice_count * kSliceBytes);
  slab->owner = taker.get();
  taker->queue(slab);
  push_onto(stale, slab);

  owner->serve_announcements();
  EXPECT_TRUE(announced_slabs(*owner).empty());
  EXPECT_EQ(announced_slabs(*taker), std::vector<Slab*>{slab});
  EXPECT_TRUE(is_announced(slab));
  EXPECT_EQ(slab->live(), 4u) << "only the owner takes the chain";
  taker->serve_announcements();
  EXPECT_EQ(slab->live(), 2u);
  const Acting acting(taker.get());
  deallocate(blocks[2]);
  deallocate(blocks[3]);
}

TEST_F(RemoteFreeTest, SeveralAnnouncedSlabsAreAllServed) {
  const Acting acting(owner.get());
  std::vector<void*> more = take_blocks(24, kBlockBytes);
  for (std::size_t index = 0; index < more.size(); index += 4) {
    Slab* const other = slab_map.find(more[index]);
    auto* const block = static_cast<Block*>(more[index]);
    const Acting freeing(freer.get());
    hand_over(other, block, block);
  }
  EXPECT_EQ(announced_slabs(*owner).size(), 3u);
  owner->serve_announcements();
  EXPECT_TRUE(announced_slabs(*owner).empty());
  EXPECT_TRUE(owner->invariants_hold());
  for (std::size_t index = 0; index < more.size(); ++index) {
    if (index % 4 != 0) deallocate(more[index]);
  }
  give_back_from(0);
}

TEST_F(RemoteFreeTest, AFreerServesTheHeapOfAThreadThatHasEnded) {
  std::vector<void*> theirs;
  Heap* heap = nullptr;
  play_thread([&] {
    theirs = take_blocks(8, kBlockBytes);
    heap = this_heap;
  });
  ASSERT_EQ(heap->state.load(), HeapState::kOrphan);
  const Acting acting(freer.get());
  give_back_blocks(theirs);
  EXPECT_TRUE(announced_slabs(*heap).empty());
  EXPECT_EQ(slab_map.find(theirs[0]), nullptr) << "empty, and nobody's: back to the store";
  EXPECT_EQ(heap->state.load(), HeapState::kOrphan);
  give_back_from(0);
}

TEST_F(RemoteFreeTest, ASlabWhoseBlocksComeBackTwiceIsReportedAndKeptOutOfUse) {
  options.on_error = OnError::kWarn;
  link_chain(some(0, 1));
  blocks[0]->next = blocks[0];  // a chain without end
  slab->remote = address_of(blocks[0]) | Slab::kAnnounced;
  owner->announced = slab;
  testing::internal::CaptureStderr();
  owner->serve_announcements();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("double free"), std::string::npos);
  EXPECT_EQ(slab->live(), 8u);
  options.on_error = OnError::kAbort;
  give_back_from(0);
}

TEST(RemoteFreeRace, TwoThreadsThatFreeEachOthersBlocksLeaveEverythingConsistent) {
  fake_os::reset();
  constexpr std::size_t kRounds = 40;
  constexpr std::size_t kBlocks = 600;
  std::vector<void*> mine[2];
  std::barrier quiet(2);
  const auto act = [&](std::size_t self) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      mine[self] = take_blocks(kBlocks, 24 + 500 * (round % 4));
      quiet.arrive_and_wait();
      // Each frees the other's blocks while that one takes and frees its own anew.
      for (void* const block : mine[1 - self]) {
        deallocate(block);
        deallocate(allocate(24 + 500 * (round % 4)));
      }
      quiet.arrive_and_wait();
      if (self == 0) {
        EXPECT_EQ(check_core().broken, nullptr) << check_core().broken;
        EXPECT_TRUE(heaps_are_consistent(true));
      }
      quiet.arrive_and_wait();
    }
    fake_os::end_this_thread();
  };
  std::thread other(act, 1);
  std::thread(act, 0).join();
  other.join();
  collect_orphans();
  EXPECT_EQ(check_core().live_blocks, 0u);
  EXPECT_EQ(check_core().slab_bytes, count_heaps().slab_bytes);
}

}  // namespace
}  // namespace drey::core
