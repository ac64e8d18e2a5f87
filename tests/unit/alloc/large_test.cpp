// large_test.cpp: blocks on runs of slices and on mappings of their own: where they lie, what is
// known of them, how they are resized, and what is left when the system refuses.
// SPDX-License-Identifier: MIT
#include "core/large.hpp"

#include "core/check.hpp"
#include "core/entry.hpp"
#include "core/options.hpp"
#include "core/purge.hpp"
#include "support/fake_os.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace drey::core {
namespace {
using fake_os::Call;

/// Bytes in large and huge blocks, over all heaps.
std::size_t large_bytes() {
  drey_stats_t statistics;
  read_statistics(statistics);
  return statistics.large_bytes;
}

class LargeTest : public testing::Test {
 protected:
  LargeTest() {
    fake_os::reset();
    options.purge_delay_ms = -1;
    options.on_error = OnError::kWarn;
    deallocate(allocate(1_MiB));  // the store has a segment
    purge_all();                  // and no cache a run
    EXPECT_EQ(large_bytes(), 0u);
  }
  ~LargeTest() override {
    fake_os::reset();
    options.on_error = OnError::kAbort;
    EXPECT_EQ(large_bytes(), 0u) << "a test left a block";
    EXPECT_EQ(check_core().broken, nullptr) << check_core().broken;
    EXPECT_EQ(check_core().large_bytes, 0u);
  }

  static std::byte* take(std::size_t size, std::size_t alignment = 16) {
    auto* const block = static_cast<std::byte*>(take_large(size, alignment).pointer);
    EXPECT_TRUE(block != nullptr && is_aligned(block, alignment)) << size << " on " << alignment;
    return block;
  }
  static Slab* slab_of(const void* block) { return slab_map.find(block); }
};

/// Holds every slice of every segment, so that the next run needs a new one.
class Drained {
 public:
  Drained() {
    fake_os::fail_all(Call::kReserve, true);
    fake_os::fail_all(Call::kMap, true);
    while (void* const block = take_large(kSliceBytes, 16).pointer) blocks_.push_back(block);
    fake_os::reset();
  }
  ~Drained() {
    for (void* const block : blocks_) deallocate(block);
  }
  Drained(const Drained&) = delete;
  Drained& operator=(const Drained&) = delete;
  [[nodiscard]] std::size_t bytes() const { return blocks_.size() * kSliceBytes; }

 private:
  std::vector<void*> blocks_;
};

constexpr std::size_t kStride = 65'521;  // touches few pages, and every offset in them

void fill(std::byte* block, std::size_t size) {
  for (std::size_t at = 0; at < size; at += kStride) block[at] = static_cast<std::byte>(at % 251);
  block[size - 1] = std::byte{0xEE};
}

/// True if the first `size` bytes are as fill(block, filled) left them.
bool is_filled(const std::byte* block, std::size_t size) {
  for (std::size_t at = 0; at < size; at += kStride) {
    if (block[at] != static_cast<std::byte>(at % 251)) return false;
  }
  return true;
}

TEST_F(LargeTest, ARunIsAsLongAsItsSlices) {
  for (const std::size_t size : {kMediumSizeMax + 1, 100'000ul, 1_MiB, 1_MiB + 1, kLargeSizeMax}) {
    std::byte* const block = take(size);
    EXPECT_EQ(slab_of(block)->state, SlabState::kLarge);
    EXPECT_EQ(usable_bytes(block), align_up(size, kSliceBytes));
    EXPECT_EQ(usable_bytes(block), good_large_size(size));
    EXPECT_EQ(large_bytes(), usable_bytes(block));
    fill(block, usable_bytes(block));
    deallocate(block);
  }
}

TEST_F(LargeTest, AboveThatABlockIsAMappingOfWholePages) {
  for (const std::size_t size : {kLargeSizeMax + 1, 40_MiB, 100'000'000ul}) {
    const std::size_t held = fake_os::held_bytes();
    std::byte* const block = take(size);
    EXPECT_EQ(slab_of(block)->state, SlabState::kHuge);
    EXPECT_EQ(usable_bytes(block), align_up(size, 4096));
    EXPECT_EQ(usable_bytes(block), good_large_size(size));
    fill(block, usable_bytes(block));
    deallocate(block);
    EXPECT_LE(fake_os::held_bytes(), held + 256_KiB) << "given back, but for metadata";
  }
}

TEST_F(LargeTest, OnlyTheFirstByteIsTheBlock) {
  for (const std::size_t size : {200'000ul, 40_MiB}) {
    std::byte* const block = take(size);
    EXPECT_TRUE(owns(block));
    for (const std::size_t at : {1ul, 16ul, 4096ul, 65536ul, 131072ul, size - 1}) {
      EXPECT_FALSE(owns(block + at));
      EXPECT_EQ(usable_bytes(block + at), 0u);
      testing::internal::CaptureStderr();
      deallocate(block + at);
      EXPECT_NE(testing::internal::GetCapturedStderr().find("invalid free"), std::string::npos);
    }
    EXPECT_TRUE(owns(block)) << "none of them freed it";
    deallocate(block);
    EXPECT_FALSE(owns(block));
  }
}

TEST_F(LargeTest, ASecondFreeIsReported) {
  std::byte* const block = take(200'000);
  deallocate(block);
  testing::internal::CaptureStderr();
  deallocate(block);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("invalid free"), std::string::npos);
}

TEST_F(LargeTest, SaysWhenABlockReadsAsZeroAndIsRight) {
  std::byte* const first = take(500'000);
  std::memset(first, 0x5A, usable_bytes(first));
  deallocate(first);
  const LargeBlock again = take_large(500'000, 16);
  EXPECT_EQ(again.pointer, first);
  EXPECT_FALSE(again.zero);
  deallocate(again.pointer);
  purge_all();
  const LargeBlock purged = take_large(500'000, 16);
  EXPECT_TRUE(purged.zero);
  const auto* const bytes = static_cast<const std::byte*>(purged.pointer);
  for (std::size_t at = 0; at < 500'000; ++at) ASSERT_EQ(bytes[at], std::byte{0});
  deallocate(purged.pointer);
  const LargeBlock huge = take_large(40_MiB, 16);
  EXPECT_TRUE(huge.zero);
  deallocate(huge.pointer);
}

TEST_F(LargeTest, AlignmentIsGrantedUpToAGibibyteForSmallAndLargeSizes) {
  for (std::size_t alignment = 32; alignment <= 1_GiB; alignment *= 2) {
    for (const std::size_t size : {1ul, 70'000ul, 3_MiB, 33_MiB}) {
      std::byte* const block = take(size, alignment);
      fill(block, size);
      EXPECT_GE(usable_bytes(block), size);
      deallocate(block);
    }
  }
  EXPECT_EQ(take_large(1, std::size_t{1} << 47).pointer, nullptr) << "all the address space";
}

TEST_F(LargeTest, ManyAlignedBlocksDoNotOverlap) {
  std::vector<std::byte*> blocks;
  for (std::size_t index = 0; index < 40; ++index) {
    blocks.push_back(take(100'000 + index * 30'000, std::size_t{65536} << (index % 6)));
    fill(blocks.back(), 100'000 + index * 30'000);
  }
  EXPECT_EQ(check_core().broken, nullptr) << check_core().broken;
  EXPECT_EQ(check_core().large_bytes, large_bytes());
  for (std::size_t index = 0; index < 40; ++index) {
    EXPECT_TRUE(is_filled(blocks[index], 100'000 + index * 30'000));
    deallocate(blocks[index]);
  }
}

TEST_F(LargeTest, ARunShrinksInPlaceAndItsTailIsUsedAgain) {
  std::byte* const block = take(1_MiB);
  fill(block, 1_MiB);
  EXPECT_EQ(resize_large(slab_of(block), 200'000), block);
  EXPECT_EQ(usable_bytes(block), 4 * kSliceBytes);
  EXPECT_EQ(large_bytes(), 4 * kSliceBytes);
  std::byte* const tail = take(700'000);
  EXPECT_EQ(tail, block + 4 * kSliceBytes);
  EXPECT_TRUE(is_filled(block, 200'000));
  deallocate(tail);
  deallocate(block);
}

TEST_F(LargeTest, ARunGrowsInPlaceWhereTheNextSlicesAreIdle) {
  std::byte* const block = take(1_MiB);
  fill(block, 1_MiB);
  EXPECT_EQ(resize_large(slab_of(block), 3_MiB), block);
  EXPECT_EQ(usable_bytes(block), 3_MiB);
  std::byte* const wall = take(1_MiB);
  EXPECT_EQ(wall, block + 3_MiB);
  EXPECT_EQ(resize_large(slab_of(block), 4_MiB), nullptr);
  EXPECT_EQ(usable_bytes(block), 3_MiB) << "nothing has changed";
  EXPECT_TRUE(is_filled(block, 1_MiB));
  deallocate(wall);
  deallocate(block);
}

TEST_F(LargeTest, ARunKeepsItsBytesWhereverReallocPutsIt) {
  auto* block = take(100'000);
  std::byte* const wall = take(100'000);
  fill(block, 100'000);
  std::size_t kept = 100'000;
  for (const std::size_t size : {300'000ul, 2_MiB, 33_MiB, 90_MiB, 34_MiB, 5_MiB, 70'000ul}) {
    block = static_cast<std::byte*>(reallocate(block, size));
    ASSERT_NE(block, nullptr);
    kept = std::min(kept, size);
    EXPECT_TRUE(is_filled(block, kept)) << size;
    EXPECT_GE(usable_bytes(block), size);
    block[size - 1] = std::byte{1};
    EXPECT_EQ(check_core().broken, nullptr) << check_core().broken;
  }
  deallocate(block);
  deallocate(wall);
}

TEST_F(LargeTest, AHugeBlockIsResizedWithoutCopying) {
  std::byte* block = take(40_MiB);
  fill(block, 40_MiB);
  const std::uint64_t maps = fake_os::calls(Call::kMap);
  for (const std::size_t size : {41_MiB, 200_MiB, 60_MiB, 33_MiB, 300_MiB}) {
    block = static_cast<std::byte*>(reallocate(block, size));
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_filled(block, 33_MiB));
    EXPECT_EQ(usable_bytes(block), size);
    EXPECT_EQ(large_bytes(), size);
    block[size - 1] = std::byte{1};
  }
  EXPECT_EQ(fake_os::calls(Call::kMap), maps);
  EXPECT_GE(fake_os::calls(Call::kRemap), 5u);
  deallocate(block);
}

TEST_F(LargeTest, AHugeBlockThatMovesLeavesNothingBehind) {
  std::byte* block = take(40_MiB);
  std::byte* const first_place = block;
  // In place is refused until it has moved.
  for (std::size_t size = 80_MiB; block == first_place; size += 40_MiB) {
    fake_os::fail_nth(Call::kRemap, 1);
    block = static_cast<std::byte*>(reallocate(block, size));
    ASSERT_NE(block, nullptr);
    ASSERT_LT(size, 4_GiB);
    if (block == first_place) continue;
    EXPECT_FALSE(owns(first_place));
    EXPECT_EQ(slab_map.find(first_place), nullptr);
  }
  EXPECT_TRUE(owns(block));
  deallocate(block);
}

TEST_F(LargeTest, AHugeBlockThatCannotBeCutStaysAsItIs) {
  std::byte* const block = take(80_MiB);
  fill(block, 80_MiB);
  fake_os::fail_all(Call::kRemap, true);
  EXPECT_EQ(reallocate(block, 50_MiB), block);
  EXPECT_EQ(usable_bytes(block), 80_MiB);
  EXPECT_TRUE(is_filled(block, 80_MiB));
  deallocate(block);
}

// --- Refusals ---------------------------------------------------------------------------------

TEST_F(LargeTest, ARefusedRunIsTriedAsAMapping) {
  const Drained drained;
  fake_os::fail_all(Call::kReserve, true);
  std::byte* const block = take(20_MiB);
  EXPECT_EQ(slab_of(block)->state, SlabState::kHuge);
  EXPECT_EQ(usable_bytes(block), 20_MiB);
  fill(block, 20_MiB);
  fake_os::reset();
  deallocate(block);
}

TEST_F(LargeTest, ARefusedMappingLeavesNothingBehind) {
  deallocate(take(40_MiB));  // its descriptor is there
  for (const Call kind : {Call::kMap, Call::kCommit}) {
    const std::size_t held = fake_os::held_bytes();
    fake_os::fail_all(kind, true);
    EXPECT_EQ(take_large(40_MiB, 16).pointer, nullptr);
    EXPECT_EQ(fake_os::held_bytes(), held);
    EXPECT_EQ(large_bytes(), 0u);
    fake_os::reset();
  }
  deallocate(take(40_MiB));
}

TEST_F(LargeTest, ARefusedResizeLeavesTheBlockAsItWas) {
  std::byte* const block = take(40_MiB);
  fill(block, 40_MiB);
  const Drained drained;
  fake_os::fail_all(true);
  EXPECT_EQ(reallocate(block, 80_MiB), nullptr);
  EXPECT_EQ(reallocate(block, 10'000'000'000), nullptr);
  EXPECT_EQ(reallocate(block, 2_MiB), block) << "it is long enough where it is";
  fake_os::reset();
  EXPECT_TRUE(owns(block));
  EXPECT_EQ(usable_bytes(block), 40_MiB);
  EXPECT_TRUE(is_filled(block, 40_MiB));
  EXPECT_EQ(large_bytes(), 40_MiB + drained.bytes());
  deallocate(block);
}

TEST_F(LargeTest, AMoveWhoseMapEntryIsRefusedIsNullAndNotTheEnd) {
  std::byte* const block = take(40_MiB);
  fill(block, 40_MiB);
  fake_os::fail_nth(Call::kRemap, 1);  // not in place
  fake_os::fail_all(Call::kCommit, true);
  std::byte* const moved = static_cast<std::byte*>(reallocate(block, 8_GiB));
  fake_os::reset();
  EXPECT_EQ(moved, nullptr);
  EXPECT_TRUE(owns(block));
  EXPECT_EQ(usable_bytes(block), 40_MiB);
  EXPECT_TRUE(is_filled(block, 40_MiB));
  deallocate(block);
}

}  // namespace
}  // namespace drey::core
