// segment_store_test.cpp: which slices the store gives, what it knows of them, when it purges, and
// what a refusal of the system leaves behind.
//
// Method: stores of the test's own on the fake system; the clock moves only when told. Contents of
// idle slices are read to see whether they were purged: they stay accessible.
// SPDX-License-Identifier: MIT
#include "core/segment_store.hpp"

#include "core/options.hpp"
#include "os/os.hpp"
#include "support/fake_os.hpp"
#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

namespace drey::core {
namespace {
using fake_os::Call;
using StoreRun = SegmentStore::Run;
constexpr std::size_t kSegmentSlices = kSegmentSlicesMax;
constexpr std::int64_t kDelayMs = 1000;

class SegmentStoreTest : public testing::Test {
 protected:
  SegmentStoreTest() {
    fake_os::reset();
    segment_store.open();  // the map, which all stores share
    fake_os::reset();
    options.purge_delay_ms = kDelayMs;
    store.purge_if_due();  // the first tick, so that the next is half a delay away
  }
  ~SegmentStoreTest() override {
    fake_os::reset();
    EXPECT_TRUE(store.invariants_hold());
  }

  /// Takes a run as a large block would, dirty.
  StoreRun take(std::size_t slices, std::size_t alignment = kSliceBytes) {
    const StoreRun run = store.acquire(slices, alignment);
    if (run.slab == nullptr) return run;
    EXPECT_TRUE(is_aligned(run.start, alignment));
    run.slab->state = SlabState::kLarge;
    for (std::size_t slice = 0; slice < slices; ++slice) {
      run.start[slice * kSliceBytes] = std::byte{0x5A};
    }
    return run;
  }

  // Who gives memory back visits first: purge.hpp.
  void give_back(Slab* slab, std::size_t slices) {
    store.purge_if_due();
    store.release(slab, slices);
  }
  void shorten(Slab* slab, std::size_t slices, std::size_t new_slices) {
    store.purge_if_due();
    store.shorten(slab, slices, new_slices);
  }

  std::unique_ptr<SegmentStore> owned_store = std::make_unique<SegmentStore>();
  SegmentStore& store = *owned_store;
};

bool is_purged(const StoreRun& run, std::size_t slices) {
  for (std::size_t slice = 0; slice < slices; ++slice) {
    if (run.start[slice * kSliceBytes] != std::byte{0}) return false;
  }
  return true;
}

TEST_F(SegmentStoreTest, RunsComeLowestAddressFirst) {
  const StoreRun first = take(2);
  const StoreRun second = take(3);
  const StoreRun third = take(1);
  EXPECT_EQ(second.start, first.start + 2 * kSliceBytes);
  EXPECT_EQ(third.start, second.start + 3 * kSliceBytes);
  give_back(third.slab, 1);
  give_back(first.slab, 2);
  EXPECT_EQ(take(1).start, first.start);
  EXPECT_EQ(take(1).start, first.start + kSliceBytes);
  EXPECT_EQ(take(1).start, third.start);
}

TEST_F(SegmentStoreTest, MakesASegmentOnlyWhenNoneHasRoom) {
  EXPECT_EQ(store.totals().reserved_bytes, 0u);
  const StoreRun whole = take(kSegmentSlices);
  EXPECT_EQ(store.totals().reserved_bytes, kSegmentBytesMax);
  const StoreRun next = take(1);
  EXPECT_EQ(store.totals().reserved_bytes, 2 * kSegmentBytesMax);
  give_back(whole.slab, kSegmentSlices);
  const StoreRun again = take(5);
  EXPECT_EQ(again.start, whole.start) << "the first segment has room again, and is lower";
  EXPECT_EQ(store.totals().reserved_bytes, 2 * kSegmentBytesMax);
  give_back(next.slab, 1);
}

TEST_F(SegmentStoreTest, ATailGivenBackToAFullSegmentIsFoundAgain) {
  const StoreRun whole = take(kSegmentSlices);
  static_cast<void>(take(1));  // the search for it finds the first segment full
  shorten(whole.slab, kSegmentSlices, 10);
  EXPECT_EQ(take(1).start, whole.start + 10 * kSliceBytes);
}

TEST_F(SegmentStoreTest, GrantsEveryAlignmentThatFitsASegment) {
  for (std::size_t alignment = kSliceBytes; alignment <= kSegmentBytesMax / 2; alignment *= 2) {
    const StoreRun run = take(1, alignment);
    ASSERT_NE(run.slab, nullptr) << alignment;
    give_back(run.slab, 1);
  }
  // A whole segment's length fits only a segment that happens to lie there.
  const StoreRun whole = take(kSegmentSlices, kSegmentBytesMax / 2);
  if (whole.slab != nullptr) give_back(whole.slab, kSegmentSlices);
}

TEST_F(SegmentStoreTest, KnowsWhatReadsAsZero) {
  const StoreRun fresh = take(4);
  EXPECT_TRUE(fresh.zero);
  give_back(fresh.slab, 4);
  const StoreRun used = take(4);
  EXPECT_FALSE(used.zero);
  give_back(used.slab, 4);
  store.purge_all();
  const StoreRun purged = store.acquire(4, kSliceBytes);
  EXPECT_TRUE(purged.zero);
  EXPECT_TRUE(is_purged(purged, 4));
  purged.slab->state = SlabState::kLarge;
  give_back(purged.slab, 4);
  const StoreRun mixed = store.acquire(5, kSliceBytes);
  EXPECT_FALSE(mixed.zero) << "its first slices count as touched though nobody wrote to them";
}

TEST_F(SegmentStoreTest, WhatCouldNotBePurgedDoesNotCountAsZero) {
  const StoreRun run = take(2);
  give_back(run.slab, 2);
  fake_os::fail_all(Call::kPurge, true);
  store.purge_all();
  EXPECT_EQ(store.purged_bytes(), 0u);
  EXPECT_FALSE(store.acquire(2, kSliceBytes).zero);
}

TEST_F(SegmentStoreTest, ExtendsIntoIdleNeighboursOnly) {
  const StoreRun run = take(2);
  const StoreRun wall = take(1);
  EXPECT_FALSE(store.extend(run.slab, 2, 3));
  give_back(wall.slab, 1);
  EXPECT_TRUE(store.extend(run.slab, 2, 3));
  EXPECT_EQ(take(1).start, run.start + 3 * kSliceBytes);
  EXPECT_FALSE(store.extend(run.slab, 3, 4));
  EXPECT_FALSE(store.extend(run.slab, 3, kSegmentSlices + 1)) << "past the segment's end";
}

TEST_F(SegmentStoreTest, WhatARunGrewIntoIsUsableAndNoLongerZero) {
  const StoreRun run = take(1);
  ASSERT_TRUE(store.extend(run.slab, 1, 40));  // beyond what was committed ahead
  std::memset(run.start, 0x5A, 40 * kSliceBytes);
  shorten(run.slab, 40, 1);
  const StoreRun tail = store.acquire(39, kSliceBytes);
  EXPECT_EQ(tail.start, run.start + kSliceBytes);
  EXPECT_FALSE(tail.zero);
}

TEST_F(SegmentStoreTest, CountsWhatItHolds) {
  const StoreRun run = take(8);
  EXPECT_EQ(store.totals().idle_bytes, 0u);
  give_back(run.slab, 8);
  EXPECT_EQ(store.totals().idle_bytes, 8 * kSliceBytes);
  EXPECT_EQ(store.totals().committed_bytes, (8 + 16) * kSliceBytes) << "a MiB ahead of need";
  store.purge_all();
  EXPECT_EQ(store.totals().idle_bytes, 0u);
  EXPECT_EQ(store.purged_bytes(), 8 * kSliceBytes);
}

// --- Ageing -----------------------------------------------------------------------------------

TEST_F(SegmentStoreTest, PurgesNothingSoonerThanHalfTheDelay) {
  const StoreRun run = take(2);
  fake_os::advance_ms(kDelayMs / 2 - 1);
  store.purge_if_due();
  give_back(run.slab, 2);  // just before a tick
  for (int ms = 1; ms < kDelayMs / 2; ++ms) {
    fake_os::advance_ms(1);
    store.purge_if_due();
    ASSERT_FALSE(is_purged(run, 2)) << "after " << ms << " ms";
  }
}

TEST_F(SegmentStoreTest, PurgesEverythingAtTheFirstVisitAfterTheDelay) {
  const StoreRun run = take(2);
  give_back(run.slab, 2);
  fake_os::advance_ms(kDelayMs);
  store.purge_if_due();
  EXPECT_TRUE(is_purged(run, 2));
}

TEST_F(SegmentStoreTest, ARunGivenBackAfterALongPauseIsNotPurgedByTheSameVisit) {
  const StoreRun run = take(2);
  fake_os::advance_ms(100 * kDelayMs);
  give_back(run.slab, 2);
  EXPECT_FALSE(is_purged(run, 2));
}

TEST_F(SegmentStoreTest, WhatAgedInACacheGoesAtTheNextTick) {
  const StoreRun run = take(2);
  store.purge_if_due();
  store.release(run.slab, 2, true);
  fake_os::advance_ms(kDelayMs / 2);
  store.purge_if_due();
  EXPECT_TRUE(is_purged(run, 2));
}

TEST_F(SegmentStoreTest, ATailGivenBackAgesFromThenOn) {
  const StoreRun run = take(4);
  fake_os::advance_ms(100 * kDelayMs);
  shorten(run.slab, 4, 1);
  store.purge_if_due();
  const StoreRun tail{nullptr, run.start + kSliceBytes, false};
  EXPECT_FALSE(is_purged(tail, 3));
  fake_os::advance_ms(kDelayMs);
  store.purge_if_due();
  EXPECT_TRUE(is_purged(tail, 3));
  EXPECT_FALSE(is_purged(run, 1)) << "what is in use";
}

TEST_F(SegmentStoreTest, WithoutDelayPurgesAtTheNextVisit) {
  options.purge_delay_ms = 0;
  const StoreRun run = take(2);
  fake_os::advance_ms(kDelayMs / 2);  // the tick that was due under the old delay
  give_back(run.slab, 2);
  EXPECT_FALSE(is_purged(run, 2));
  store.purge_if_due();
  EXPECT_TRUE(is_purged(run, 2));
}

TEST_F(SegmentStoreTest, NeverPurgesWhenToldSoUnlessAsked) {
  options.purge_delay_ms = -1;
  const StoreRun run = take(2);
  give_back(run.slab, 2);
  for (int visit = 0; visit < 10; ++visit) {
    fake_os::advance_ms(3'600'000);
    store.purge_if_due();
  }
  EXPECT_FALSE(is_purged(run, 2));
  store.purge_all();
  EXPECT_TRUE(is_purged(run, 2));
}

TEST_F(SegmentStoreTest, WhatIsTakenAgainIsNotPurged) {
  const StoreRun run = take(2);
  give_back(run.slab, 2);
  fake_os::advance_ms(kDelayMs / 2);
  store.purge_if_due();
  ASSERT_EQ(take(1).start, run.start);
  fake_os::advance_ms(2 * kDelayMs);
  store.purge_if_due();
  EXPECT_EQ(run.start[0], std::byte{0x5A});
  EXPECT_EQ(run.start[kSliceBytes], std::byte{0});
}

TEST_F(SegmentStoreTest, EveryIdleSliceIsPurgedInTimeAndNoneTooSoonWheneverVisitsFall) {
  std::mt19937_64 random = seeded_random(4);
  struct Idle {
    StoreRun run;
    std::uint64_t since_ms;
  };
  std::vector<StoreRun> taken;
  std::vector<Idle> idle;
  std::uint64_t now_ms = os::now_ms();
  for (int round = 0; round < 4000; ++round) {
    const std::uint64_t step =
        below(random, 3) == 0 ? below(random, 2 * kDelayMs) : below(random, 90);
    fake_os::set_now_ms(now_ms += step);
    const std::size_t action = below(random, 3);
    if (action == 0 && taken.size() < 40) {
      store.purge_if_due();
      taken.push_back(take(1));
      std::erase_if(idle, [&](const Idle& one) { return one.run.start == taken.back().start; });
    } else if (action == 1 && !taken.empty()) {
      std::swap(taken[below(random, taken.size())], taken.back());
      idle.push_back({taken.back(), now_ms});
      give_back(taken.back().slab, 1);
      taken.pop_back();
    } else {
      store.purge_if_due();
    }
    std::erase_if(idle, [&](const Idle& one) {
      const std::uint64_t age_ms = now_ms - one.since_ms;
      const bool purged = is_purged(one.run, 1);
      EXPECT_FALSE(purged && age_ms < kDelayMs / 2) << "round " << round << ": after " << age_ms;
      EXPECT_FALSE(!purged && age_ms >= kDelayMs) << "round " << round << ": not after " << age_ms;
      return purged;
    });
    ASSERT_FALSE(HasFailure());
  }
}

// --- Refusals ---------------------------------------------------------------------------------

/// What must not change where a call fails.
struct Holdings {
  std::size_t reserved, committed, idle, held;

  bool operator==(const Holdings&) const = default;
};

Holdings holdings_of(SegmentStore& store) {
  const SegmentStore::Totals totals = store.totals();
  return {totals.reserved_bytes, totals.committed_bytes, totals.idle_bytes, fake_os::held_bytes()};
}

TEST_F(SegmentStoreTest, ARefusedSegmentLeavesTheStoreAsItWas) {
  const StoreRun kept = take(kSegmentSlices - 1);
  const Holdings before = holdings_of(store);
  for (const Call kind : {Call::kMap, Call::kReserve}) {
    fake_os::fail_all(kind, true);
    EXPECT_EQ(store.acquire(2, kSliceBytes).slab, nullptr);
    EXPECT_GT(fake_os::failed_calls(), 0u);
    EXPECT_EQ(holdings_of(store), before);
    fake_os::reset();
  }
  fake_os::fail_nth(Call::kCommit, 1);  // the map's entries come first
  EXPECT_EQ(store.acquire(2, kSliceBytes).slab, nullptr);
  EXPECT_EQ(holdings_of(store), before);
  EXPECT_NE(take(1).slab, nullptr) << "the last slice of the first segment";
  EXPECT_NE(take(2).slab, nullptr) << "once the system grants it";
  give_back(kept.slab, kSegmentSlices - 1);
}

TEST_F(SegmentStoreTest, ARefusedCommitKeepsTheNewSegmentForLater) {
  fake_os::fail_all(Call::kCommit, true);
  EXPECT_EQ(store.acquire(1, kSliceBytes).slab, nullptr);
  fake_os::reset();
  const StoreRun run = take(1);
  EXPECT_NE(run.slab, nullptr);
  EXPECT_EQ(store.totals().reserved_bytes, kSegmentBytesMax);
}

TEST_F(SegmentStoreTest, ARefusedExtensionLeavesTheRunAsItWas) {
  const StoreRun run = take(1);
  const Holdings before = holdings_of(store);
  fake_os::fail_all(Call::kCommit, true);
  EXPECT_FALSE(store.extend(run.slab, 1, 100));
  EXPECT_EQ(holdings_of(store), before);
  fake_os::reset();
  EXPECT_TRUE(store.extend(run.slab, 1, 100));
}

TEST_F(SegmentStoreTest, AsksForSmallerSegmentsWhereLargeOnesAreRefused) {
  fake_os::fail_nth(Call::kReserve, 1);
  EXPECT_NE(take(2).slab, nullptr);
  EXPECT_EQ(store.totals().reserved_bytes, 256 * kSliceBytes);
  EXPECT_NE(take(255).slab, nullptr);
  EXPECT_EQ(store.totals().reserved_bytes, 256 * kSliceBytes + kSegmentBytesMax);
}

TEST_F(SegmentStoreTest, ASmallSegmentHoldsWhatItWasMadeFor) {
  fake_os::fail_nth(Call::kReserve, 1);
  const StoreRun run = take(300);  // more than the next smaller step
  ASSERT_NE(run.slab, nullptr);
  EXPECT_EQ(store.totals().reserved_bytes, 300 * kSliceBytes);
}

TEST_F(SegmentStoreTest, DescriptorsOfHugeBlocksAreUsedAgain) {
  Slab* const first = store.take_huge_descriptor();
  Slab* const second = store.take_huge_descriptor();
  ASSERT_NE(first, nullptr);
  EXPECT_NE(first, second);
  EXPECT_TRUE(is_aligned(first, alignof(Slab)));
  store.give_back_huge_descriptor(first);
  EXPECT_EQ(store.take_huge_descriptor(), first);
}

TEST_F(SegmentStoreTest, WorksWhereThePageIsAsLongAsASlice) {
  fake_os::set_page_bytes(kSliceBytes);
  const StoreRun run = take(3);
  ASSERT_NE(run.slab, nullptr);
  give_back(run.slab, 3);
  store.purge_all();
  EXPECT_TRUE(store.acquire(3, kSliceBytes).zero);
}

}  // namespace
}  // namespace drey::core
