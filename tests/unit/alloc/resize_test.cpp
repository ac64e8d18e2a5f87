// resize_test.cpp: realloc, from every kind of block to every other; where there is no memory; of what
// is no block.
// SPDX-License-Identifier: MIT
#include "core/resize.hpp"

#include "core/check.hpp"
#include "core/contract.hpp"
#include "core/options.hpp"
#include "support/fake_os.hpp"
#include "support/seeded_random.hpp"
#include "support/test_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace drey::core {
namespace {
class ResizeTest : public testing::Test {
 protected:
  ResizeTest() {
    fake_os::reset();
    options.purge_delay_ms = -1;
  }
  ~ResizeTest() override {
    fake_os::reset();
    EXPECT_EQ(check_core().broken, nullptr) << check_core().broken;
    EXPECT_TRUE(heaps_are_consistent(true));
  }
};

bool all_bytes_are(const void* block, std::size_t size, unsigned char value) {
  const auto* const bytes = static_cast<const unsigned char*>(block);
  return size == 0 || (bytes[0] == value && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

TEST_F(ResizeTest, ReallocStaysWhereTheBlockFitsAndIsHalfUsed) {
  void* const block = allocate(1000);  // 1,008 usable
  EXPECT_EQ(reallocate(block, 1008), block);
  EXPECT_EQ(reallocate(block, 504), block);
  void* const smaller = reallocate(block, 503);
  EXPECT_NE(smaller, block) << "more than half would be wasted";
  EXPECT_EQ(usable_bytes(smaller), 512u);
  deallocate(smaller);
}

TEST_F(ResizeTest, ReallocLeavesTheSmallestBlocksAlone) {
  void* const block = allocate(64);
  EXPECT_EQ(reallocate(block, 1), block);
  deallocate(block);
}

TEST_F(ResizeTest, ReallocKeepsTheContentsThroughEveryKindOfBlock) {
  std::mt19937_64 random = seeded_random(6);
  auto* block = static_cast<unsigned char*>(allocate(1));
  std::size_t size = 1;
  block[0] = 0xA5;
  for (int round = 0; round < 300; ++round) {
    const std::size_t new_size = 1 + below(random, std::size_t{16} << below(random, 20));
    auto* const moved = static_cast<unsigned char*>(reallocate(block, new_size));
    ASSERT_NE(moved, nullptr);
    ASSERT_TRUE(all_bytes_are(moved, std::min(size, new_size), 0xA5)) << size << " " << new_size;
    ASSERT_GE(usable_bytes(moved), new_size);
    std::memset(moved, 0xA5, new_size);
    block = moved;
    size = new_size;
  }
  deallocate(block);
}

TEST_F(ResizeTest, ABlockThatGrowsBySmallStepsIsCopiedAFewTimesOfItsLength) {
  void* block = allocate(16);
  std::size_t copied_bytes = 0;
  for (std::size_t size = 32; size <= 256_KiB; size += 16) {
    const std::size_t usable = usable_bytes(block);
    void* const grown = reallocate(block, size);
    ASSERT_NE(grown, nullptr);
    if (grown != block) copied_bytes += usable;
    ASSERT_GE(usable_bytes(grown), size);
    EXPECT_LE(usable_bytes(grown), std::max(2 * size, std::size_t{64}));
    block = grown;
  }
  EXPECT_LE(copied_bytes, 6 * 256_KiB)
      << "a quarter at a time: four lengths, and the classes' part";
  deallocate(block);
}

TEST_F(ResizeTest, ABlockThatGrowsMuchGetsWhatItAsksFor) {
  void* const block = allocate(1000);
  void* const grown = reallocate(block, 2000);
  EXPECT_EQ(usable_bytes(grown), good_size(2000));
  deallocate(grown);
}

TEST_F(ResizeTest, ReallocOfWhatIsNoBlockIsReported) {
  options.on_error = OnError::kWarn;
  auto* const block = static_cast<std::byte*>(allocate(900));
  int local = 0;
  for (void* const pointer : {static_cast<void*>(block + 16), static_cast<void*>(&local)}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(reallocate(pointer, 50), nullptr);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("realloc of invalid pointer"),
              std::string::npos);
  }
  options.on_error = OnError::kAbort;
  deallocate(block);
}

TEST_F(ResizeTest, AFailedReallocLeavesTheBlockUntouched) {
  auto* const block = static_cast<unsigned char*>(allocate(1000));
  std::memset(block, 0xA5, 1000);
  fake_os::fail_all(true);
  EXPECT_EQ(contract::reallocate(block, 100_MiB), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(contract::reallocate(block, kSizeMax), nullptr);
  EXPECT_EQ(contract::reallocate_array(block, SIZE_MAX / 2, 3), nullptr);
  EXPECT_TRUE(all_bytes_are(block, 1000, 0xA5));
  deallocate(block);
}

TEST_F(ResizeTest, AReallocToLessThatFindsNoMemoryStaysWhereItIs) {
  void* const block = allocate(60'000);
  fake_os::fail_all(true);
  std::vector<void*> rest;  // all that can be had without the system
  while (void* const more = allocate(1_KiB)) rest.push_back(more);
  EXPECT_EQ(reallocate(block, 1_KiB), block);
  EXPECT_EQ(usable_bytes(block), 61'440u);
  give_back_blocks(rest);
  deallocate(block);
}
}  // namespace
}  // namespace drey::core
