// entry_test.cpp: allocate, reallocate, aligned and zeroed blocks, limits and errno, as the
// surfaces see them; and the duties of contract.hpp on top.
// SPDX-License-Identifier: MIT
#include "core/entry.hpp"
#include "core/large.hpp"

#include "core/check.hpp"
#include "core/contract.hpp"
#include "core/options.hpp"
#include "core/purge.hpp"
#include "support/fake_os.hpp"
#include "support/seeded_random.hpp"
#include "support/test_heap.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace drey::core {
namespace {

/// Sizes at, before and after every border between kinds of blocks.
std::vector<std::size_t> border_sizes() {
  std::vector<std::size_t> sizes;
  for (const std::size_t border : {16ul, 1_KiB, 4_KiB, kMediumSizeMax, 1_MiB}) {
    for (const std::size_t size : {border - 1, border, border + 1}) sizes.push_back(size);
  }
  sizes.insert(sizes.end(), {0, 1, 900, 912, 913, 1800, 57'600, 32_MiB + 1});
  return sizes;
}

class EntryTest : public testing::Test {
 protected:
  EntryTest() {
    fake_os::reset();
    options.purge_delay_ms = -1;
  }
  ~EntryTest() override {
    fake_os::reset();
    EXPECT_EQ(check_core().broken, nullptr) << check_core().broken;
    EXPECT_TRUE(heaps_are_consistent(true));
  }
};

bool all_bytes_are(const void* block, std::size_t size, unsigned char value) {
  const auto* const bytes = static_cast<const unsigned char*>(block);
  return size == 0 || (bytes[0] == value && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

TEST_F(EntryTest, ABlockHasAtLeastTheBytesAskedForAndExactlyTheGoodSize) {
  for (const std::size_t size : border_sizes()) {
    void* const block = allocate(size);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_aligned(block, 16));
    EXPECT_TRUE(owns(block));
    EXPECT_GE(usable_bytes(block), size);
    EXPECT_EQ(usable_bytes(block), good_size(size)) << size;
    std::memset(block, 0x5A, usable_bytes(block));
    deallocate(block);
  }
}

TEST_F(EntryTest, ALongRunIsZeroedByGivingItBackWhereHardlyAnyOfItIsResident) {
  constexpr std::size_t kBytes = 16_MiB;
  for (const bool touch_all : {false, true}) {
    collect();
    auto* const former = static_cast<std::byte*>(allocate(kBytes));
    if (touch_all) std::memset(former, 0x5A, kBytes);
    former[0] = former[kBytes - 1] = std::byte{0x5A};
    deallocate(former);
    const std::size_t purges = fake_os::calls(fake_os::Call::kPurge);
    void* const block = allocate_zeroed(kBytes);
    ASSERT_EQ(block, former) << "from the cache";
    EXPECT_EQ(fake_os::calls(fake_os::Call::kPurge), purges + (touch_all ? 0 : 1));
    EXPECT_TRUE(all_bytes_are(block, kBytes, 0));
    deallocate(block);
  }
}

TEST_F(EntryTest, ABlockThatGrowsLongIsAMappingThatMovesWithoutCopying) {
  auto* block = static_cast<std::byte*>(take_growing(20_MiB));
  ASSERT_NE(block, nullptr);
  block[0] = std::byte{1};
  block[3_MiB - 1] = std::byte{2};
  EXPECT_EQ(slab_map.find(block)->state, SlabState::kHuge);
  EXPECT_EQ(usable_bytes(block), good_size(20_MiB));
  const std::size_t remaps = fake_os::calls(fake_os::Call::kRemap);
  for (std::size_t size = 24_MiB; size <= 200_MiB; size += 44_MiB) {
    block = static_cast<std::byte*>(reallocate(block, size));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(usable_bytes(block), good_size(size));
  }
  EXPECT_GE(fake_os::calls(fake_os::Call::kRemap), remaps + 5);
  EXPECT_EQ(block[0], std::byte{1});
  EXPECT_EQ(block[3_MiB - 1], std::byte{2});
  block = static_cast<std::byte*>(reallocate(block, 2_MiB));
  EXPECT_EQ(slab_map.find(block)->state, SlabState::kLarge) << "short again: back in a segment";
  deallocate(block);
}

TEST_F(EntryTest, AFreedLongerRunMakesABlockNoLongerThanItsGoodSize) {
  for (const std::size_t former : {1_MiB + 256_KiB, 2_MiB, 9_MiB}) {
    void* const longer = allocate(former);
    std::memset(longer, 0x5A, former);
    deallocate(longer);
    const std::size_t size = former - former / 12;
    void* const block = allocate_zeroed(size);
    EXPECT_EQ(usable_bytes(block), good_size(size));
    EXPECT_TRUE(all_bytes_are(block, usable_bytes(block), 0));
    EXPECT_EQ(reallocate(block, former), block) << "the rest of the run is there";
    EXPECT_EQ(usable_bytes(block), good_size(former));
    EXPECT_EQ(check_core().broken, nullptr) << check_core().broken;
    deallocate(block);
  }
}

TEST_F(EntryTest, GoodSizeIsAFixedPoint) {
  for (std::size_t size = 0; size <= 3_MiB; size += size < 70'000 ? 7 : 4099) {
    ASSERT_GE(good_size(size), size);
    ASSERT_EQ(good_size(good_size(size)), good_size(size)) << size;
  }
  EXPECT_EQ(good_size(SIZE_MAX), SIZE_MAX);
}

TEST_F(EntryTest, TwoBlocksOfNothingAreDifferentBlocks) {
  void* const one = allocate(0);
  void* const other = allocate(0);
  EXPECT_NE(one, nullptr);
  EXPECT_NE(one, other);
  EXPECT_EQ(usable_bytes(one), 16u);
  deallocate(one);
  deallocate(other);
}

TEST_F(EntryTest, WhatIsNoBlockIsNotOwned) {
  auto* const block = static_cast<std::byte*>(allocate(900));
  int local = 0;
  EXPECT_FALSE(owns(nullptr));
  EXPECT_FALSE(owns(&local));
  EXPECT_FALSE(owns(block + 1));
  EXPECT_FALSE(owns(block + 16));
  EXPECT_FALSE(owns(reinterpret_cast<void*>(UINTPTR_MAX - 15)));
  EXPECT_EQ(usable_bytes(nullptr), 0u);
  EXPECT_EQ(usable_bytes(&local), 0u);
  EXPECT_EQ(usable_bytes(block + 16), 0u);
  deallocate(block);
}

TEST_F(EntryTest, ZeroedBlocksAreZeroToTheirLastUsableByte) {
  for (const std::size_t size : border_sizes()) {
    void* const dirty = allocate(size);
    std::memset(dirty, 0x5A, usable_bytes(dirty));
    deallocate(dirty);
    void* const block = allocate_zeroed(size);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(all_bytes_are(block, usable_bytes(block), 0)) << size;
    deallocate(block);
  }
}

TEST_F(EntryTest, AlignedBlocksAreAlignedWhateverTheirSize) {
  for (std::size_t alignment = 1; alignment <= 128_MiB; alignment *= 2) {
    for (const std::size_t size : {0ul, 1ul, 17ul, 900ul, 4097ul, 60'000ul, 70'000ul, 2_MiB}) {
      void* const block = allocate_aligned(alignment, size);
      ASSERT_NE(block, nullptr) << size << " on " << alignment;
      EXPECT_TRUE(is_aligned(block, alignment)) << size << " on " << alignment;
      EXPECT_GE(usable_bytes(block), size);
      EXPECT_TRUE(owns(block));
      std::memset(block, 1, size);
      deallocate(block);
    }
  }
}

TEST_F(EntryTest, EveryBlockOfAnAlignedClassIsAligned) {
  std::vector<void*> blocks;
  for (int index = 0; index < 200; ++index) blocks.push_back(allocate_aligned(256, 300));
  for (void* const block : blocks) EXPECT_TRUE(is_aligned(block, 256));
  give_back_blocks(blocks);
}

// --- Limits and errno -------------------------------------------------------------------------

TEST_F(EntryTest, NothingAboveTheLimitIsGranted) {
  for (const std::size_t size : {kSizeMax, kSizeMax + 1, std::size_t{PTRDIFF_MAX}, SIZE_MAX}) {
    errno = 0;
    EXPECT_EQ(contract::allocate(size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(contract::allocate_zeroed(size, 1), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(contract::allocate_zeroed(1, size), nullptr);
    errno = 0;
    EXPECT_EQ(contract::allocate_aligned(64, size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(contract::allocate_aligned(1_GiB, size), nullptr);
    EXPECT_EQ(contract::allocate_pages(size), nullptr);
    void* untouched = this;
    errno = 5;
    EXPECT_EQ(contract::allocate_posix(&untouched, 64, size), ENOMEM);
    EXPECT_EQ(untouched, this);
    EXPECT_EQ(errno, 5);
  }
  EXPECT_EQ(contract::allocate_zeroed(SIZE_MAX / 8, 9), nullptr) << "the product overflows";
}

TEST_F(EntryTest, AnAlignmentThatIsNoneIsRefused) {
  for (const std::size_t alignment : {0ul, 3ul, 24ul, 65'535ul, std::size_t{1} << 63}) {
    errno = 0;
    EXPECT_EQ(contract::allocate_aligned(alignment, 100), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  void* untouched = nullptr;
  EXPECT_EQ(contract::allocate_posix(&untouched, 4, 100), EINVAL) << "not a pointer's size";
  errno = 0;
  EXPECT_EQ(contract::allocate_aligned(std::size_t{1} << 62, 100), nullptr);
  EXPECT_EQ(errno, ENOMEM) << "an alignment, but more than there is";
}

TEST_F(EntryTest, ErrnoIsSetByFailureOnly) {
  void* const first = allocate(100);
  errno = 5;
  for (const std::size_t size : border_sizes()) {
    void* const block = contract::allocate_zeroed(1, size);
    deallocate(contract::reallocate(block, size + 100'000));
    deallocate(contract::allocate_aligned(4096, size));
  }
  deallocate(nullptr);
  deallocate(first);
  EXPECT_EQ(errno, 5);
}

TEST_F(EntryTest, OutOfMemoryIsNullForEveryKindAndTheNextTryWorks) {
  deallocate(allocate(100));  // the thread has its heap
  fake_os::fail_all(true);
  std::vector<void*> rest;
  for (const std::size_t size : {40_MiB, 3_MiB, 60'000ul, 900ul, 48ul}) {
    errno = 0;
    while (void* const block = allocate(size)) rest.push_back(block);
    EXPECT_EQ(errno, ENOMEM) << size;
  }
  fake_os::reset();
  for (const std::size_t size : {40_MiB, 3_MiB, 60'000ul, 900ul, 48ul}) {
    void* const block = allocate(size);
    EXPECT_NE(block, nullptr) << size;
    rest.push_back(block);
  }
  give_back_blocks(rest);
}

TEST_F(EntryTest, ReallocOfNullAllocatesAndToNothingFrees) {
  void* const block = contract::reallocate(nullptr, 0);
  EXPECT_NE(block, nullptr);
  errno = 5;
  EXPECT_EQ(contract::reallocate(block, 0), nullptr);
  EXPECT_EQ(errno, 5) << "this null is no failure";
}

// --- Misuse, collect, statistics --------------------------------------------------------------

TEST_F(EntryTest, ForeignPointersGoToTheHookWhereThereIsOne) {
  static std::vector<void*> freed;
  static const ForeignHooks hooks = {
      [](void* pointer) noexcept { freed.push_back(pointer); },
      [](void* pointer, std::size_t) noexcept { return pointer; },
  };
  std::int64_t local = 0;
  set_foreign_hooks(hooks);
  deallocate(&local);
  EXPECT_EQ(freed, std::vector<void*>{&local});
  EXPECT_EQ(reallocate(&local, 100), &local);
  static const ForeignHooks reporting = {
      [](void* pointer) noexcept { report_misuse("invalid free", pointer); },
      [](void* pointer, std::size_t) noexcept -> void* {
        report_misuse("realloc of invalid pointer", pointer);
        return nullptr;
      },
  };
  set_foreign_hooks(reporting);
}

TEST_F(EntryTest, CollectReturnsWhatIsIdleToTheSystem) {
  give_back_blocks(take_blocks(1000, 5000));
  deallocate(allocate(10_MiB));
  drey_stats_t before;
  read_statistics(before);
  EXPECT_GE(before.idle_bytes + this_heap->reserve_bytes, 14_MiB) << "what waits in a cache too";
  collect();
  drey_stats_t after;
  read_statistics(after);
  EXPECT_EQ(after.idle_bytes, 0u);
  EXPECT_GE(after.purged_bytes - before.purged_bytes, before.idle_bytes);
  EXPECT_EQ(after.purged_bytes - before.purged_bytes, fake_os::bytes(fake_os::Call::kPurge));
}

TEST_F(EntryTest, StatisticsFollowWhatIsTaken) {
  collect();
  purge_if_due();  // what earlier tests left in this thread's heap would go, or be used, below
  drey_stats_t before;
  read_statistics(before);
  std::vector<void*> blocks = take_blocks(2000, 1000);
  void* const large = allocate(5_MiB);
  drey_stats_t during;
  read_statistics(during);
  EXPECT_GE(during.slab_bytes - before.slab_bytes, 2'000'000u - 64_KiB);
  EXPECT_EQ(during.large_bytes - before.large_bytes, 5_MiB);
  EXPECT_GE(during.committed_bytes, during.slab_bytes + during.large_bytes);
  EXPECT_GE(during.reserved_bytes, during.slab_bytes + during.large_bytes);
  give_back_blocks(blocks);
  deallocate(large);
}

}  // namespace
}  // namespace drey::core
