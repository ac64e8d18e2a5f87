// purge_test.cpp: when memory freed by way of the whole allocator goes back to the system.
//
// Method: the clock moves only when told. What was freed is read to see whether it was purged: it
// stays accessible. Large blocks wait in a cache first, slabs' slices do not.
// SPDX-License-Identifier: MIT
#include "core/purge.hpp"

#include "core/check.hpp"
#include "core/entry.hpp"
#include "core/options.hpp"
#include "support/fake_os.hpp"
#include "support/test_heap.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace drey::core {
namespace {
constexpr std::int64_t kDelayMs = 1000;

class PurgeTest : public testing::Test {
 protected:
  PurgeTest() {
    fake_os::reset();
    options.purge_delay_ms = kDelayMs;
    deallocate(allocate(100));
    purge_all();
    fake_os::advance_ms(10 * kDelayMs);
    purge_if_due();
  }
  ~PurgeTest() override { EXPECT_EQ(check_core().broken, nullptr) << check_core().broken; }

  /// A block whose last byte tells whether it was purged.
  static volatile std::byte* take(std::size_t size) {
    auto* const block = static_cast<std::byte*>(allocate(size));
    std::memset(block, 0x5A, size);
    return block;
  }
  static void free_block(volatile std::byte* block) { deallocate(const_cast<std::byte*>(block)); }
  static bool is_purged(volatile std::byte* block, std::size_t size) {
    return block[size - 1] == std::byte{0};
  }
};

TEST_F(PurgeTest, ALargeBlockFreedAfterALongPauseOutlivesTheNextVisits) {
  for (const std::size_t size : {100'000ul, 1_MiB, 20_MiB}) {
    volatile std::byte* const block = take(size);
    fake_os::advance_ms(50 * kDelayMs);
    free_block(block);
    for (int ms = 0; ms < kDelayMs / 2; ms += 50) {
      purge_if_due();
      ASSERT_FALSE(is_purged(block, size)) << size << " bytes, after " << ms << " ms";
      fake_os::advance_ms(50);
    }
    collect();
  }
}

TEST_F(PurgeTest, AFreedLargeBlockIsPurgedOnceItsTimeHasCome) {
  volatile std::byte* const block = take(1_MiB);
  free_block(block);
  for (int visit = 0; visit < 4; ++visit) {
    fake_os::advance_ms(kDelayMs / 2);
    purge_if_due();
  }
  EXPECT_TRUE(is_purged(block, 1_MiB));
}

TEST_F(PurgeTest, WhatDoesNotFitTheCacheOutlivesTheNextVisitsToo) {
  volatile std::byte* const first = take(20_MiB);
  volatile std::byte* const second = take(20_MiB);
  fake_os::advance_ms(50 * kDelayMs);
  free_block(first);
  free_block(second);  // beyond the cache's bytes
  purge_if_due();
  EXPECT_FALSE(is_purged(first, 20_MiB));
  EXPECT_FALSE(is_purged(second, 20_MiB));
  collect();
  EXPECT_TRUE(is_purged(second, 20_MiB));
}

TEST_F(PurgeTest, ATailThatReallocCutsOffOutlivesTheNextVisits) {
  volatile std::byte* const block = take(4_MiB);
  fake_os::advance_ms(50 * kDelayMs);
  EXPECT_EQ(reallocate(const_cast<std::byte*>(block), 2_MiB), block);
  purge_if_due();
  EXPECT_FALSE(is_purged(block, 4_MiB));
  free_block(block);
}

TEST_F(PurgeTest, ASlabsSlicesOutliveTheVisitThatFreesThem) {
  const std::vector<void*> blocks = take_blocks(200, 1_KiB);
  for (void* const block : blocks) std::memset(block, 0x5A, 1_KiB);
  fake_os::advance_ms(50 * kDelayMs);
  give_back_blocks(blocks);
  purge_if_due();
  EXPECT_FALSE(is_purged(static_cast<std::byte*>(blocks[100]), 1_KiB));
}

TEST_F(PurgeTest, AThreadsCacheGoesBackThoughTheThreadIsIdle) {
  TestHeap idle;
  volatile std::byte* block = nullptr;
  std::thread owner([&] {
    block = take(2_MiB);
    free_block(block);
    // The thread ends without its hook: as if it slept for ever.
  });
  owner.join();
  for (int visit = 0; visit < 4; ++visit) {
    fake_os::advance_ms(kDelayMs / 2);
    purge_if_due();
  }
  EXPECT_TRUE(is_purged(block, 2_MiB));
}

TEST_F(PurgeTest, AWorkingLoopKeepsItsMemory) {
  volatile std::byte* const first = take(1_MiB);
  free_block(first);
  const std::uint64_t purges = fake_os::calls(fake_os::Call::kPurge);
  for (int round = 0; round < 1000; ++round) {
    fake_os::advance_ms(10);
    void* const block = allocate(1_MiB);
    ASSERT_EQ(block, first);
    deallocate(block);
  }
  EXPECT_LE(fake_os::calls(fake_os::Call::kPurge), purges + 1);
}

}  // namespace
}  // namespace drey::core
