// huge_pages_test.cpp: what the store wishes of huge pages for each new segment, by DREY_HUGE_PAGES.
// Method: stores of the test's own; the fake system remembers the last wish.
// SPDX-License-Identifier: MIT
#include "core/entry.hpp"
#include "core/options.hpp"
#include "core/segment_store.hpp"
#include "support/fake_os.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace drey::core {
namespace {
class HugePagesTest : public testing::Test {
 protected:
  HugePagesTest() {
    segment_store.open();  // the map, which all stores share
    fake_os::reset();
  }
  ~HugePagesTest() override { options.huge_pages = HugePages::kSystem; }

  /// Makes a segment: no present one has so much room.
  void add_segment(HugePages wanted) {
    options.huge_pages = wanted;
    const SegmentStore::Run run = store.acquire(kSegmentSlicesMax, kSliceBytes);
    ASSERT_NE(run.slab, nullptr);
    run.slab->state = SlabState::kLarge;
  }

  SegmentStore store;
};

TEST_F(HugePagesTest, AreTheSystemsAffairByDefault) {
  add_segment(HugePages::kSystem);
  store.tick();
  EXPECT_EQ(fake_os::wished_huge_pages(), std::nullopt);
}

TEST_F(HugePagesTest, AreWishedOrDeclinedForEverySegment) {
  add_segment(HugePages::kNever);
  EXPECT_EQ(fake_os::wished_huge_pages(), false);
  add_segment(HugePages::kAlways);
  store.tick();
  EXPECT_EQ(fake_os::wished_huge_pages(), true) << "for good";
}

TEST_F(HugePagesTest, OfALargeHeapAreWishedUntilTheNextTickOnly) {
  add_segment(HugePages::kLarge);
  EXPECT_EQ(fake_os::wished_huge_pages(), true) << "beyond the first 16 MiB";
  store.tick();
  EXPECT_EQ(fake_os::wished_huge_pages(), false);
  add_segment(HugePages::kLarge);
  EXPECT_EQ(fake_os::wished_huge_pages(), true) << "a new segment is new growth";
}

TEST_F(HugePagesTest, OfABlockThatReallocGrewAreWishedUnlessDeclined) {
  for (const HugePages wanted : {HugePages::kSystem, HugePages::kAlways, HugePages::kNever}) {
    void* block = allocate(4_MiB);
    fake_os::reset();
    options.huge_pages = wanted;
    block = reallocate(block, 64_MiB);
    ASSERT_NE(block, nullptr);
    if (wanted == HugePages::kNever) {
      EXPECT_NE(fake_os::wished_huge_pages(), true);
    } else {
      EXPECT_EQ(fake_os::wished_huge_pages(), true);
    }
    deallocate(block);
  }
}
}  // namespace
}  // namespace drey::core
