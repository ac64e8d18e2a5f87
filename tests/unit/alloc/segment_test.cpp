// segment_test.cpp: slices of one segment: which are found, committed, zero and purged.
//
// Method: a segment over address space of the fake system, without a store or a map.
// SPDX-License-Identifier: MIT
#include "core/segment.hpp"

#include "os/os.hpp"
#include "support/fake_os.hpp"
#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace drey::core {
namespace {
using fake_os::Call;
constexpr std::size_t kNone = kSegmentSlicesMax;

/// A segment as the store makes one, but over `slices` slices and wherever `phase` says.
class TestSegment {
 public:
  explicit TestSegment(std::size_t slices, std::size_t phase_slices = 0)
      : reserved_bytes_((slices + phase_slices) * kSliceBytes) {
    segment_ = static_cast<Segment*>(
        os::map(align_up(sizeof(Segment), os::page_bytes()), os::page_bytes()));
    reserved_ = os::reserve(reserved_bytes_, 64_MiB);
    DREY_CHECK(segment_ != nullptr && reserved_ != nullptr, "no memory for a segment");
    segment_->start = static_cast<std::byte*>(reserved_) + phase_slices * kSliceBytes;
    segment_->slice_count = slices;
    segment_->longest_idle_max = slices;
    segment_->idle.set_range(0, slices);
    segment_->zero.set_range(0, slices);
  }
  ~TestSegment() {
    os::unmap(reserved_, reserved_bytes_);
    os::unmap(segment_, align_up(sizeof(Segment), os::page_bytes()));
  }
  TestSegment(const TestSegment&) = delete;
  TestSegment& operator=(const TestSegment&) = delete;
  Segment& operator*() noexcept { return *segment_; }
  Segment* operator->() noexcept { return segment_; }

 private:
  std::size_t reserved_bytes_;
  Segment* segment_;
  void* reserved_;
};

class SegmentTest : public testing::Test {
 protected:
  SegmentTest() { fake_os::reset(); }
};

void write_to(Segment& segment, std::size_t first, std::size_t slices) {
  std::memset(segment.address_of_slice(first), 0x5A, slices * kSliceBytes);
}

bool reads_zero(const Segment& segment, std::size_t first, std::size_t slices) {
  const std::byte* const start = segment.address_of_slice(first);
  return *start == std::byte{0} && std::memcmp(start, start + 1, slices * kSliceBytes - 1) == 0;
}

TEST_F(SegmentTest, RunsComeLowestAddressFirst) {
  TestSegment segment(64);
  EXPECT_EQ(segment->take_run(3, 1), 0u);
  EXPECT_EQ(segment->take_run(1, 1), 3u);
  EXPECT_EQ(segment->take_run(2, 1), 4u);
  segment->give_back_run(3, 1);
  segment->give_back_run(0, 3);
  EXPECT_EQ(segment->take_run(5, 1), 6u);
  EXPECT_EQ(segment->take_run(4, 1), 0u);
  EXPECT_EQ(segment->take_run(1, 1), 11u);
  EXPECT_TRUE(segment->invariants_hold());
}

TEST_F(SegmentTest, ARunMayFillTheSegmentAndNoneIsFoundBeyond) {
  TestSegment segment(64);
  EXPECT_EQ(segment->take_run(65, 1), kNone);
  EXPECT_EQ(segment->take_run(64, 1), 0u);
  EXPECT_EQ(segment->take_run(1, 1), kNone);
  segment->give_back_run(63, 1);
  EXPECT_EQ(segment->take_run(1, 1), 63u) << "a hopeless search must be forgotten by then";
}

TEST_F(SegmentTest, AlignedRunsStartOnTheirAlignmentWhereverTheSegmentLies) {
  for (const std::size_t phase : {0, 1, 31, 32, 33, 63}) {
    TestSegment segment(130, phase);
    for (std::size_t alignment = kSliceBytes; alignment <= 4_MiB; alignment *= 2) {
      const std::size_t first = segment->take_run(2, alignment);
      ASSERT_NE(first, kNone) << phase << " " << alignment;
      EXPECT_TRUE(is_aligned(segment->address_of_slice(first), alignment));
      for (std::size_t lower = 0; lower < first; ++lower) {
        EXPECT_FALSE(is_aligned(segment->address_of_slice(lower), alignment) &&
                     segment->idle.all_set(lower, 2))
            << "slice " << lower << " is lower, and would do";
      }
      segment->give_back_run(first, 2);
    }
  }
}

TEST_F(SegmentTest, AnAlignmentThatFindsNothingHidesNoOtherRun) {
  TestSegment segment(40, 1);
  EXPECT_EQ(segment->take_run(16, 2_MiB), kNone);
  EXPECT_EQ(segment->take_run(40, 1), 0u);
}

TEST_F(SegmentTest, CommitsAMebibyteAheadOfNeed) {
  TestSegment segment(64);
  EXPECT_EQ(segment->take_run(1, 1), 0u);
  EXPECT_EQ(fake_os::calls(Call::kCommit), 1u);
  EXPECT_EQ(segment->committed_count, 17u);
  for (std::size_t slice = 1; slice < 17; ++slice) EXPECT_EQ(segment->take_run(1, 1), slice);
  EXPECT_EQ(fake_os::calls(Call::kCommit), 1u);
  EXPECT_EQ(segment->take_run(1, 1), 17u);
  EXPECT_EQ(fake_os::calls(Call::kCommit), 2u);
  EXPECT_EQ(segment->take_run(40, 1), 18u);
  EXPECT_EQ(segment->committed_count, 64u) << "never more than there is";
  EXPECT_TRUE(segment->invariants_hold());
}

TEST_F(SegmentTest, CommitsJustWhatIsNeededWhenMoreIsRefused) {
  TestSegment segment(64);
  fake_os::fail_nth(Call::kCommit, 1);
  EXPECT_EQ(segment->take_run(2, 1), 0u);
  EXPECT_EQ(segment->committed_count, 2u);
  write_to(*segment, 0, 2);
  EXPECT_TRUE(segment->invariants_hold());
}

TEST_F(SegmentTest, ARefusedCommitLeavesTheSegmentAsItWas) {
  TestSegment segment(64);
  ASSERT_EQ(segment->take_run(17, 1), 0u);
  fake_os::fail_all(Call::kCommit, true);
  const std::size_t committed = segment->committed_count;
  EXPECT_EQ(segment->take_run(40, 1), kNone);
  EXPECT_FALSE(segment->take_exactly(17, 40));
  EXPECT_EQ(segment->committed_count, committed);
  EXPECT_EQ(segment->idle.count(), 47u);
  EXPECT_TRUE(segment->invariants_hold());
  fake_os::fail_all(Call::kCommit, false);
  EXPECT_EQ(segment->take_run(40, 1), 17u);
}

TEST_F(SegmentTest, TakesExactlyWhatWasAskedOnlyIfAllOfItIsIdle) {
  TestSegment segment(64);
  ASSERT_EQ(segment->take_run(4, 1), 0u);
  ASSERT_EQ(segment->take_run(4, 1), 4u);
  EXPECT_FALSE(segment->take_exactly(4, 1));
  EXPECT_FALSE(segment->take_exactly(7, 2));
  EXPECT_FALSE(segment->take_exactly(60, 5)) << "beyond the end";
  EXPECT_TRUE(segment->take_exactly(60, 4));
  EXPECT_TRUE(segment->take_exactly(8, 2));
  EXPECT_EQ(segment->take_run(1, 1), 10u);
  EXPECT_TRUE(segment->invariants_hold());
}

TEST_F(SegmentTest, ASliceIsZeroUntilTouchedAndAgainOncePurged) {
  TestSegment segment(8);
  ASSERT_EQ(segment->take_run(4, 1), 0u);
  EXPECT_TRUE(segment->touch_run(0, 4));
  EXPECT_FALSE(segment->touch_run(0, 1));
  write_to(*segment, 0, 4);
  segment->give_back_run(0, 4);
  EXPECT_EQ(segment->purge(segment->old), 0u);
  EXPECT_EQ(segment->purge(segment->young), 4 * kSliceBytes);
  EXPECT_TRUE(reads_zero(*segment, 0, 4));
  ASSERT_EQ(segment->take_run(2, 1), 0u);
  EXPECT_TRUE(segment->touch_run(0, 2));
  EXPECT_TRUE(segment->invariants_hold());
}

TEST_F(SegmentTest, WhatWasIdleElsewhereCountsAsOld) {
  TestSegment segment(8);
  ASSERT_EQ(segment->take_run(2, 1), 0u);
  segment->give_back_run(0, 2, true);
  EXPECT_TRUE(segment->invariants_hold());
  EXPECT_EQ(segment->purge(segment->young), 0u);
  EXPECT_EQ(segment->purge(segment->old), 2 * kSliceBytes);
}

TEST_F(SegmentTest, ARunWithOneTouchedSliceIsNotZero) {
  TestSegment segment(8);
  ASSERT_EQ(segment->take_run(1, 1), 0u);
  static_cast<void>(segment->touch_run(0, 1));
  segment->give_back_run(0, 1);
  ASSERT_EQ(segment->take_run(3, 1), 0u);
  EXPECT_FALSE(segment->touch_run(0, 3));
}

TEST_F(SegmentTest, ARefusedPurgeMakesNothingZero) {
  TestSegment segment(8);
  ASSERT_EQ(segment->take_run(2, 1), 0u);
  static_cast<void>(segment->touch_run(0, 2));
  write_to(*segment, 0, 2);
  segment->give_back_run(0, 2);
  fake_os::fail_all(Call::kPurge, true);
  EXPECT_EQ(segment->purge(segment->young), 0u);
  ASSERT_EQ(segment->take_run(2, 1), 0u);
  EXPECT_FALSE(segment->touch_run(0, 2));
  EXPECT_FALSE(reads_zero(*segment, 0, 2));
  EXPECT_TRUE(segment->invariants_hold());
}

TEST_F(SegmentTest, PurgesNeighboursInOneCallAndSparesWhatIsTaken) {
  TestSegment segment(16);
  ASSERT_EQ(segment->take_run(12, 1), 0u);
  write_to(*segment, 0, 12);
  static_cast<void>(segment->touch_run(0, 12));
  segment->give_back_run(0, 2);
  segment->give_back_run(2, 2);
  segment->give_back_run(6, 1);
  EXPECT_EQ(segment->purge(segment->young), 5 * kSliceBytes);
  EXPECT_EQ(fake_os::calls(Call::kPurge), 2u);
  EXPECT_TRUE(reads_zero(*segment, 0, 4) && reads_zero(*segment, 6, 1));
  EXPECT_FALSE(reads_zero(*segment, 4, 1) || reads_zero(*segment, 5, 1));
  EXPECT_FALSE(reads_zero(*segment, 7, 1));
}

TEST_F(SegmentTest, ContainsItsOwnBytesOnly) {
  TestSegment segment(8);
  EXPECT_TRUE(segment->contains(segment->start));
  EXPECT_TRUE(segment->contains(segment->start + 8 * kSliceBytes - 1));
  EXPECT_FALSE(segment->contains(segment->start + 8 * kSliceBytes));
  EXPECT_FALSE(segment->contains(segment->start - 1));
  EXPECT_FALSE(segment->contains(nullptr));
}

TEST_F(SegmentTest, TheInvariantsSeeAContradiction) {
  TestSegment segment(32);
  ASSERT_EQ(segment->take_run(2, 1), 0u);
  EXPECT_TRUE(segment->invariants_hold());
  segment->young.set_range(0, 1);  // dirty and taken
  EXPECT_FALSE(segment->invariants_hold());
  segment->young.clear();
  segment->give_back_run(0, 2);
  segment->old.set_range(1, 1);  // of two ages
  EXPECT_FALSE(segment->invariants_hold());
  segment->old.clear();
  segment->zero.clear_range(31, 1);  // never accessible, and touched
  EXPECT_FALSE(segment->invariants_hold());
}

TEST_F(SegmentTest, StaysConsistentWhateverIsDoneToIt) {
  std::mt19937_64 random = seeded_random(3);
  TestSegment segment(96, 5);
  struct Taken {
    std::size_t first, slices;
  };
  std::vector<Taken> taken;
  std::vector<bool> idle(96, true);
  const auto mark = [&](const Taken& run, bool value) {
    for (std::size_t slice = run.first; slice < run.first + run.slices; ++slice) {
      ASSERT_NE(idle[slice], value) << "slice " << slice;
      idle[slice] = value;
    }
  };
  for (int round = 0; round < 1000; ++round) {
    fake_os::fail_all(Call::kCommit, below(random, 8) == 0);
    fake_os::fail_all(Call::kPurge, below(random, 8) == 0);
    const std::size_t action = below(random, 8);
    if (action < 4) {
      const std::size_t slices = 1 + below(random, 12);
      const std::size_t first = segment->take_run(slices, kSliceBytes << below(random, 4));
      if (first != kNone) {
        taken.push_back({first, slices});
        mark(taken.back(), false);
        if (segment->touch_run(first, slices)) {
          ASSERT_TRUE(reads_zero(*segment, first, 1)) << "round " << round;
        }
        *segment->address_of_slice(first) = std::byte{1};
      }
    } else if (action < 7 && !taken.empty()) {
      std::swap(taken[below(random, taken.size())], taken.back());
      segment->give_back_run(taken.back().first, taken.back().slices);
      mark(taken.back(), true);
      taken.pop_back();
    } else if (below(random, 4) == 0) {
      segment->purge(segment->young);
    }
    ASSERT_TRUE(segment->invariants_hold()) << "round " << round;
  }
  for (std::size_t slice = 0; slice < 96; ++slice)
    EXPECT_EQ(segment->idle.test(slice), idle[slice]);
}

}  // namespace
}  // namespace drey::core
