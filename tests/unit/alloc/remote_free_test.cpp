// remote_free_test.cpp: the protocol of remote frees by its rules, step by step, in every order.
//
// Method: heaps of the test's own play the threads on one real thread, so each interleaving is the
// test's choice. Where a step is half of a function (a freer that stops between its
// compare-and-swap and its push), the test does that half itself, as remote_free.cpp does it. The
// last test is a race of two real threads. Memory orders are not under test here.
// SPDX-License-Identifier: MIT
#include "core/remote_free.hpp"

#include "core/check.hpp"
#include "core/options.hpp"
#include "core/slab_map.hpp"
#include "support/fake_os.hpp"
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

/// First half of hand_over(): links the chain into the slab. Returns: true if the caller turned the
/// flag on and owes the push.
bool link_into(Slab* slab, const std::vector<Block*>& blocks) {
  link_chain(blocks);
  const std::uintptr_t word = slab->remote.load();
  blocks.back()->next = reinterpret_cast<Block*>(word & ~Slab::kAnnounced);
  slab->remote.store(address_of(blocks.front()) | Slab::kAnnounced);
  return (word & Slab::kAnnounced) == 0;
}

/// Middle of announce(): the push onto a stack whose owner was read before.
void push_onto(Heap* heap, Slab* slab) {
  slab->announce_next.store(heap->announced.load());
  heap->announced.store(slab);
}

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
  for (std::size_t index = 2; index < 5; ++index) EXPECT_EQ(allocate(kBlockBytes), blocks[index]);
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

// --- Every order ------------------------------------------------------------------------------

/// One actor's steps, in their order.
using Script = std::vector<std::function<void()>>;

/// Runs the scripts made by `make_scripts` interleaved in every possible way; `check` runs after
/// each step, `finish` after the last. Returns: how many ways there were.
template <typename Make, typename Check, typename Finish>
std::size_t run_interleaved(const std::vector<std::size_t>& lengths, Make make_scripts, Check check,
                            Finish finish) {
  std::vector<std::size_t> order;
  for (std::size_t actor = 0; actor < lengths.size(); ++actor) {
    order.insert(order.end(), lengths[actor], actor);
  }
  std::size_t ways = 0;
  do {
    const std::vector<Script> scripts = make_scripts();
    std::vector<std::size_t> next(lengths.size(), 0);
    for (const std::size_t actor : order) {
      scripts.at(actor).at(next[actor]++)();
      check();
    }
    finish();
    ++ways;
  } while (std::next_permutation(order.begin(), order.end()));
  return ways;
}

/// A freer of one chain, as four steps: link, read the owner, push, look whether it is an orphan.
struct SteppedFreer {
  Slab* slab = nullptr;
  std::vector<Block*> blocks;
  bool announces = false;
  bool may_write = true;  ///< to the slab's descriptor, now or later
  Heap* seen_owner = nullptr;

  [[nodiscard]] Script two_steps();
  [[nodiscard]] Script steps() {
    return {[this] {
              announces = link_into(slab, blocks);
              may_write = announces;
            },
            [this] { seen_owner = slab->owner.load(); },
            [this] {
              if (announces) push_onto(seen_owner, slab);
              may_write = false;
            },
            [this] {
              if (announces) serve_if_orphan(seen_owner);
            }};
  }
};

/// The same in two steps: link, and all the rest.
Script SteppedFreer::two_steps() {
  return {steps()[0], [this] {
            const Script all = steps();
            for (std::size_t step = 1; step < all.size(); ++step) all[step]();
          }};
}

class RemoteFreeInterleavings : public testing::Test {
 protected:
  RemoteFreeInterleavings() {
    fake_os::reset();
    options.purge_delay_ms = -1;
  }

  /// Two freers that share the blocks of one full slab.
  void share_out(const std::vector<void*>& taken) {
    slab = slab_map.find(taken[0]);
    first = {slab, {}, false, true, nullptr};
    second = first;
    for (std::size_t index = 0; index < 8; ++index) {
      (index < 3 ? first : second).blocks.push_back(static_cast<Block*>(taken[index]));
    }
  }
  /// After each step. A slab must be somebody's while a freer may still write to it.
  void expect_slab_sound() const {
    ASSERT_TRUE(slab->owner.load() != nullptr || (!first.may_write && !second.may_write));
    ASSERT_TRUE(slab->invariants_hold());
  }
  /// At the end, when all blocks came back.
  void expect_all_released() {
    ASSERT_EQ(slab->owner.load(), nullptr);
    ASSERT_FALSE(is_announced(slab));
    if (ways_checked++ % 16 != 0) return;  // the walk over everything is long
    ASSERT_EQ(check_core().broken, nullptr) << check_core().broken;
    ASSERT_EQ(check_core().slab_bytes, 0u);
  }

  std::size_t ways_checked = 0;
  Slab* slab = nullptr;
  SteppedFreer first;
  SteppedFreer second;
};

TEST_F(RemoteFreeInterleavings, OwnerAndTwoFreersAgreeInEveryOrder) {
  std::unique_ptr<TestHeap> owner;
  void* block = nullptr;
  const auto make_scripts = [&] {
    owner = std::make_unique<TestHeap>();
    const Acting acting(owner->get());
    share_out(take_blocks(8, kBlockBytes));
    const Script owns = {[&] {
                           const Acting playing(owner->get());
                           block = allocate(kBlockBytes);
                         },
                         [&] {
                           const Acting playing(owner->get());
                           deallocate(block);
                         },
                         [&] {
                           (*owner)->park_current(kClass);
                           (*owner)->release_empty_slabs();
                         },
                         [&] { (*owner)->serve_announcements(); }};
    return std::vector<Script>{first.steps(), second.two_steps(), owns};
  };
  const auto finish = [&] {
    (*owner)->serve_announcements();
    (*owner)->park_current(kClass);
    (*owner)->release_empty_slabs();
    expect_all_released();
    ASSERT_EQ((*owner)->slab_bytes.value(), 0u);
  };
  EXPECT_EQ(run_interleaved(
                {4, 2, 4}, make_scripts, [&] { expect_slab_sound(); }, finish),
            3150u);
}

TEST_F(RemoteFreeInterleavings, AnAdopterOfTheSlabAndTwoFreersAgreeInEveryOrder) {
  std::unique_ptr<TestHeap> taker;
  Heap* orphan = nullptr;
  const auto adopt = [&] {
    Slab* const adopted = adopt_slab(**taker, kClass);
    if (adopted != nullptr) (*taker)->queue(adopted);
  };
  const auto serve = [&] { (*taker)->serve_announcements(); };
  const auto make_scripts = [&] {
    taker = std::make_unique<TestHeap>();
    play_thread([&] {
      share_out(take_blocks(8, kBlockBytes));
      orphan = this_heap;
    });
    return std::vector<Script>{first.steps(), second.two_steps(), {adopt, serve, adopt, serve}};
  };
  const auto finish = [&] {
    collect_orphans();
    (*taker)->serve_announcements();
    (*taker)->release_empty_slabs();
    expect_all_released();
    ASSERT_EQ((*taker)->slab_bytes.value() + orphan->slab_bytes.value(), 0u);
    ASSERT_TRUE(announced_slabs(*orphan).empty());
  };
  EXPECT_EQ(run_interleaved(
                {4, 2, 4}, make_scripts, [&] { expect_slab_sound(); }, finish),
            3150u);
}

TEST_F(RemoteFreeInterleavings, ANewThreadThatAdoptsTheHeapAndTwoFreersAgreeInEveryOrder) {
  Heap* heap = nullptr;
  Heap* playing = nullptr;
  const auto begin = [&] {
    const Acting acting(&empty_heap);
    playing = ensure_heap();
  };
  const auto serve = [&] { playing->serve_announcements(); };
  const auto end = [&] {
    const Acting acting(playing);
    fake_os::end_this_thread();
  };
  const auto make_scripts = [&] {
    play_thread([&] {
      share_out(take_blocks(8, kBlockBytes));
      heap = this_heap;
    });
    return std::vector<Script>{first.steps(), second.two_steps(), {begin, serve, end}};
  };
  const auto finish = [&] {
    collect_orphans();
    expect_all_released();
    ASSERT_EQ(heap->slab_bytes.value(), 0u);
    ASSERT_TRUE(announced_slabs(*heap).empty());
  };
  EXPECT_EQ(run_interleaved(
                {4, 2, 3}, make_scripts, [&] { expect_slab_sound(); }, finish),
            1260u);
}

// --- A race -----------------------------------------------------------------------------------

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
