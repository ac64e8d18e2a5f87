// two_level_test.cpp: the whole allocator where the address space is too short for the flat map: no
// free is a hit, and everything else is the same.
// SPDX-License-Identifier: MIT
#include "core/check.hpp"
#include "core/entry.hpp"
#include "core/options.hpp"
#include "core/segment_store.hpp"
#include "support/fake_os.hpp"
#include "support/seeded_random.hpp"
#include "support/test_heap.hpp"
#include "support/test_slab.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace drey::core {
namespace {

/// The limit is asked for once, when the first test of the process opens the map.
class TwoLevels : public testing::Test {
 protected:
  TwoLevels() {
    fake_os::reset();
    fake_os::set_address_space_limit(8_GiB);
    segment_store.open();
  }
  ~TwoLevels() override {
    EXPECT_EQ(slab_map.flat_mask.load(), 0u);
    EXPECT_EQ(check_core().broken, nullptr) << check_core().broken;
    EXPECT_TRUE(heaps_are_consistent(true));
  }
};

TEST_F(TwoLevels, ABlockOfEverySizeIsFoundAndFreed) {
  for (std::size_t size = 1; size <= 50_MiB; size = size * 3 + 1) {
    void* const block = allocate(size);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(owns(block));
    EXPECT_GE(usable_bytes(block), size);
    deallocate(block);
  }
  EXPECT_EQ(check_core().live_blocks, 0u);
}

TEST_F(TwoLevels, TheBlockFreedLastStillComesOutFirst) {
  const std::vector<void*> blocks = take_blocks(10, 100);
  deallocate(blocks[4]);
  EXPECT_EQ(allocate(100), blocks[4]);
  give_back_blocks(blocks);
}

TEST_F(TwoLevels, ForeignPointersAreToldApart) {
  options.on_error = OnError::kWarn;
  std::int64_t local = 0;
  EXPECT_FALSE(owns(&local));
  EXPECT_FALSE(owns(nullptr));
  EXPECT_FALSE(owns(reinterpret_cast<void*>(UINTPTR_MAX - 15)));
  deallocate(nullptr);
  testing::internal::CaptureStderr();
  deallocate(&local);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("invalid free"), std::string::npos);
  options.on_error = OnError::kAbort;
}

TEST_F(TwoLevels, BlocksOfOtherThreadsGoBackToThem) {
  std::vector<void*> blocks;
  run_as_thread([&] { blocks = take_blocks(3000, 200); });
  EXPECT_EQ(check_core().live_blocks, 3000u);
  deallocate(allocate(16));
  give_back_blocks(blocks);
  collect();
  EXPECT_EQ(check_core().live_blocks, 0u);
}

TEST_F(TwoLevels, SmallerSegmentsAreMadeWhereTheSpaceIsShort) {
  fake_os::fail_nth(fake_os::Call::kReserve, 1);
  std::vector<void*> blocks;
  const std::size_t before = segment_store.totals().reserved_bytes;
  while (segment_store.totals().reserved_bytes == before) blocks.push_back(allocate(1_MiB));
  EXPECT_EQ(segment_store.totals().reserved_bytes, before + 256 * kSliceBytes);
  give_back_blocks(blocks);
}

}  // namespace
}  // namespace drey::core
