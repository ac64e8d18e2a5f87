// contract_test.cpp: what C and POSIX ask beyond "a block": products, limits, zeros, errno.
//
// Method: the contract's functions on the real core; nothing replaces the process's malloc here.
// The same clauses are held against malloc itself, and other mallocs, in tests/conformance.
// SPDX-License-Identifier: MIT
#include "core/contract.hpp"

#include <drey/alloc.h>
#include <drey/base/bits.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace drey::core {
namespace {
constexpr std::size_t kTopBit = std::size_t{1} << 63;
constexpr std::size_t kSizesTooLarge[] = {kSizeMax + 1, PTRDIFF_MAX,
                                          static_cast<std::size_t>(PTRDIFF_MAX) + 1,
                                          SIZE_MAX - 4096, SIZE_MAX};

/// Fails as a C entry point does: null, and errno says why.
void expect_fails(void* block, int error) {
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(errno, error);
  errno = 0;
}

TEST(Contract, ProductsSaturateExactlyWhereTheyOverflow) {
  for (unsigned shift = 1; shift < 64; ++shift) {
    const std::size_t left = std::size_t{1} << shift;
    const std::size_t right = std::size_t{1} << (64 - shift);
    EXPECT_EQ(contract::saturating_product(left, right), SIZE_MAX) << shift;
    EXPECT_EQ(contract::saturating_product(left, right - 1), 0 - left) << shift;
    EXPECT_EQ(contract::saturating_product(left - 1, right), 0 - right) << shift;
    EXPECT_EQ(contract::saturating_product(left + 1, right), SIZE_MAX) << shift;
  }
  EXPECT_EQ(contract::saturating_product(SIZE_MAX, 1), SIZE_MAX);
  EXPECT_EQ(contract::saturating_product(0, SIZE_MAX), 0U);
  EXPECT_EQ(contract::saturating_product(SIZE_MAX, 0), 0U);
}

TEST(Contract, AlignmentsArePowersOfTwoThatAnObjectCanHave) {
  for (unsigned shift = 0; shift < 63; ++shift) {
    const std::size_t alignment = std::size_t{1} << shift;
    EXPECT_TRUE(contract::is_alignment(alignment)) << alignment;
    EXPECT_EQ(contract::is_posix_alignment(alignment), alignment >= sizeof(void*)) << alignment;
    EXPECT_EQ(contract::memalign_alignment(alignment), alignment);
  }
  for (const std::size_t alignment :
       {std::size_t{0}, std::size_t{3}, std::size_t{24}, kTopBit, kTopBit + 1, SIZE_MAX}) {
    EXPECT_FALSE(contract::is_alignment(alignment)) << alignment;
    EXPECT_FALSE(contract::is_posix_alignment(alignment)) << alignment;
  }
  EXPECT_EQ(contract::memalign_alignment(24), 32U);
  EXPECT_EQ(contract::memalign_alignment(SIZE_MAX), 0U);
}

TEST(Contract, SizesThatNoObjectCanHaveAreRefusedEverywhere) {
  void* const block = drey_malloc(10);
  std::memset(block, 7, 10);
  errno = 0;
  for (const std::size_t size : kSizesTooLarge) {
    SCOPED_TRACE(size);
    expect_fails(drey_malloc(size), ENOMEM);
    expect_fails(drey_calloc(1, size), ENOMEM);
    expect_fails(drey_calloc(size, 1), ENOMEM);
    expect_fails(drey_realloc(nullptr, size), ENOMEM);
    expect_fails(drey_realloc(block, size), ENOMEM);
    expect_fails(drey_reallocarray(block, size, 1), ENOMEM);
    expect_fails(drey_reallocarray(block, size, 3), ENOMEM);
    expect_fails(drey_aligned_alloc(64, size), ENOMEM);
    expect_fails(contract::allocate_memalign(64, size), ENOMEM);
    expect_fails(contract::allocate_on_page(size), ENOMEM);
    expect_fails(contract::allocate_pages(size), ENOMEM);
  }
  EXPECT_EQ(static_cast<unsigned char*>(block)[9], 7) << "a failing realloc touches nothing";
  drey_free(block);
}

TEST(Contract, SizesNearThePageRoundingDoNotWrap) {
  errno = 0;
  const std::size_t page = contract::page_bytes();
  for (std::size_t below = 0; below <= page; below += page / 16) {
    expect_fails(contract::allocate_pages(SIZE_MAX - below), ENOMEM);
    expect_fails(contract::allocate_pages(kSizeMax - below), ENOMEM);
  }
}

TEST(Contract, ReallocOfSizeZeroFreesAndIsNoFailure) {
  void* const block = drey_malloc(100);
  errno = 225;
  EXPECT_EQ(drey_realloc(block, 0), nullptr);
  EXPECT_EQ(drey_reallocarray(drey_malloc(100), 0, 7), nullptr);
  void* const fresh = drey_realloc(nullptr, 0);
  EXPECT_NE(fresh, nullptr) << "realloc(NULL, 0) is malloc(0)";
  EXPECT_EQ(errno, 225);
  drey_free(fresh);
}

TEST(Contract, OverflowIsSeenBeforeAZeroFactorFreesAnything) {
  void* const block = drey_malloc(100);
  errno = 0;
  expect_fails(drey_reallocarray(block, SIZE_MAX, 2), ENOMEM);
  EXPECT_TRUE(drey_owns(block));
  drey_free(block);
  void* const none = drey_calloc(0, SIZE_MAX);
  EXPECT_NE(none, nullptr) << "nothing, SIZE_MAX times, is no overflow";
  drey_free(none);
}

TEST(Contract, PosixMemalignLeavesPointerAndErrnoAloneOnFailure) {
  int marker = 0;
  for (const std::size_t alignment :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{7},
        std::size_t{12}, std::size_t{24}, std::size_t{48}, kTopBit, SIZE_MAX}) {
    void* pointer = &marker;
    errno = 225;
    EXPECT_EQ(drey_posix_memalign(&pointer, alignment, 64), EINVAL) << alignment;
    EXPECT_EQ(pointer, &marker) << alignment;
    EXPECT_EQ(errno, 225) << alignment;
  }
  for (const std::size_t size : kSizesTooLarge) {
    void* pointer = &marker;
    errno = 225;
    EXPECT_EQ(drey_posix_memalign(&pointer, 64, size), ENOMEM) << size;
    EXPECT_EQ(pointer, &marker) << size;
    EXPECT_EQ(errno, 225) << size;
  }
}

TEST(Contract, AlignedAllocTakesSmallAlignmentsAndAnySize) {
  for (const std::size_t alignment : {1, 2, 4, 8, 16, 64, 4096}) {
    void* const block = drey_aligned_alloc(alignment, 3);
    ASSERT_NE(block, nullptr) << alignment;
    EXPECT_TRUE(is_aligned(block, alignment < 16 ? 16 : alignment)) << alignment;
    drey_free_aligned_sized(block, alignment, 3);
  }
  errno = 0;
  for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{24}, kTopBit}) {
    SCOPED_TRACE(alignment);
    expect_fails(drey_aligned_alloc(alignment, 64), EINVAL);
    expect_fails(drey_aligned_alloc(alignment, SIZE_MAX), EINVAL);
  }
}

TEST(Contract, MemalignRoundsItsAlignmentUp) {
  void* const block = contract::allocate_memalign(4097, 64);
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(is_aligned(block, 8192));
  drey_free(block);
}

TEST(Contract, PagesAreWholeAndAtLeastOne) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, contract::page_bytes() + 1}) {
    void* const block = contract::allocate_pages(size);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_aligned(block, contract::page_bytes())) << size;
    EXPECT_GE(drey_usable_size(block), align_up(size + 1, contract::page_bytes())) << size;
    drey_free(block);
  }
}

TEST(Contract, FreeKeepsErrnoAndForgivesAWrongSize) {
  errno = 225;
  for (const std::size_t size : {std::size_t{1}, std::size_t{900}, std::size_t{100'000},
                                 std::size_t{5'000'000}, std::size_t{100'000'000}}) {
    drey_free(drey_malloc(size));
    drey_free_sized(drey_malloc(size), 1);
  }
  drey_free(nullptr);
  EXPECT_EQ(errno, 225);
}

}  // namespace
}  // namespace drey::core
