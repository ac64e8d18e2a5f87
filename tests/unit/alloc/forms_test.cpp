// forms_test.cpp: the forms of malloc that C has no name for, or that the GNU C library names:
// memalign, valloc, pvalloc, zeroed and resized aligned blocks, growing in place, sized frees.
//
// Method: the functions of drey/alloc.h on the real operating system; the same clauses for malloc
// itself are in tests/conformance.
// SPDX-License-Identifier: MIT
#include <drey/alloc.h>

#include "support/pattern.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include <unistd.h>

namespace drey::test {
namespace {
constexpr std::size_t kSizes[] = {0,    1,      15,     16,     100,       900,       1024,
                                  1025, 40'000, 65'536, 65'537, 1'000'000, 2'000'000, 34'000'000};
constexpr std::size_t kAlignments[] = {1, 2, 8, 16, 32, 64, 4096, 65'536, 131'072, 4'194'304};

void expect_fails(void* block, int error) {
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(errno, error);
  errno = 0;
}

TEST(Forms, GoodSizeIsWhatABlockHas) {
  for (std::size_t size = 0; size < 3'000'000; size += 1 + size / 50) {
    void* const block = drey_malloc(size);
    EXPECT_EQ(drey_usable_size(block), drey_good_size(size)) << size;
    EXPECT_GE(drey_good_size(size), size);
    EXPECT_EQ(drey_good_size(drey_good_size(size)), drey_good_size(size)) << size;
    drey_free(block);
  }
}

TEST(Forms, MemalignRoundsItsAlignmentUp) {
  for (const std::size_t alignment :
       {std::size_t{0}, std::size_t{3}, std::size_t{24}, std::size_t{100}, std::size_t{5000}}) {
    void* const block = drey_memalign(alignment, 50);
    ASSERT_NE(block, nullptr) << alignment;
    EXPECT_TRUE(aligned_to(block, alignment == 24 ? 32 : alignment == 5000 ? 8192 : 1));
    drey_free(block);
  }
  expect_fails(drey_memalign(SIZE_MAX, 1), EINVAL);
  expect_fails(drey_memalign(64, SIZE_MAX), ENOMEM);
}

TEST(Forms, VallocAndPvallocStartOnPagesAndPvallocFillsThem) {
  const auto page = static_cast<std::size_t>(getpagesize());
  for (const std::size_t size : kSizes) {
    void* const loose = drey_valloc(size);
    void* const whole = drey_pvalloc(size);
    ASSERT_TRUE(loose != nullptr && whole != nullptr) << size;
    EXPECT_TRUE(aligned_to(loose, page) && aligned_to(whole, page)) << size;
    EXPECT_GE(drey_usable_size(whole), (size / page + (size % page != 0 || size == 0)) * page);
    drey_free(loose);
    drey_free(whole);
  }
  expect_fails(drey_valloc(SIZE_MAX), ENOMEM);
  expect_fails(drey_pvalloc(SIZE_MAX - 10), ENOMEM);
}

TEST(Forms, AlignedCallocIsAlignedAndZero) {
  for (const std::size_t alignment : kAlignments) {
    for (const std::size_t size : kSizes) {
      if (size > 2'000'000) continue;
      for (int round = 0; round < 2; ++round) {  // the second time it is used memory
        auto* const block = static_cast<unsigned char*>(drey_aligned_calloc(alignment, 1, size));
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(aligned_to(block, alignment)) << alignment << " " << size;
        ASSERT_TRUE(all_zero(block, drey_usable_size(block))) << alignment << " " << size;
        std::fill_n(block, drey_usable_size(block), static_cast<unsigned char>(0xa5));
        drey_free(block);
      }
    }
  }
  expect_fails(drey_aligned_calloc(24, 1, 1), EINVAL);
  expect_fails(drey_aligned_calloc(64, SIZE_MAX / 2, 3), ENOMEM);
  void* const unique = drey_aligned_calloc(64, 0, SIZE_MAX);
  EXPECT_NE(unique, nullptr) << "a zero factor is not an overflow";
  drey_free(unique);
}

TEST(Forms, AlignedReallocKeepsAlignmentAndContents) {
  for (const std::size_t alignment : kAlignments) {
    for (const std::size_t from : kSizes) {
      if (from > 2'000'000 && alignment != 131'072) continue;
      for (const std::size_t to : {std::size_t{1}, std::size_t{950}, std::size_t{70'000},
                                   std::size_t{1'100'000}, std::size_t{36'000'000}}) {
        void* block = drey_aligned_alloc(alignment, from);
        fill_sparse(block, from, from);
        block = drey_aligned_realloc(block, alignment, to);
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(aligned_to(block, alignment)) << alignment << ": " << from << " to " << to;
        ASSERT_GE(drey_usable_size(block), to);
        const std::size_t kept = from < to ? from : to;
        const auto* const bytes = static_cast<const unsigned char*>(block);
        for (std::size_t i = 0; i < kept; i += 4096) ASSERT_EQ(bytes[i], pattern_byte(i, from));
        drey_free(block);
      }
    }
  }
}

TEST(Forms, AlignedReallocAlignsABlockThatWasNot) {
  std::vector<void*> blocks;
  for (int count = 0; count < 8; ++count) {
    void* const block = drey_malloc(48);
    fill_pattern(block, 48, 7);
    blocks.push_back(drey_aligned_realloc(block, 4096, 48));
    EXPECT_TRUE(aligned_to(blocks.back(), 4096));
    EXPECT_TRUE(check_pattern(blocks.back(), 48, 7));
  }
  for (void* const block : blocks) drey_free(block);
}

TEST(Forms, AlignedReallocTreatsNullZeroAndFailureAsRealloc) {
  void* const made = drey_aligned_realloc(nullptr, 256, 10);
  ASSERT_NE(made, nullptr);
  EXPECT_TRUE(aligned_to(made, 256));
  fill_pattern(made, 10, 3);
  expect_fails(drey_aligned_realloc(made, 24, 10), EINVAL);
  expect_fails(drey_aligned_realloc(made, 256, SIZE_MAX), ENOMEM);
  EXPECT_TRUE(check_pattern(made, 10, 3)) << "untouched where it fails";
  errno = 0;
  EXPECT_EQ(drey_aligned_realloc(made, 256, 0), nullptr);
  EXPECT_EQ(errno, 0);
}

TEST(Forms, ExpandGrowsInPlaceOrChangesNothing) {
  std::size_t grown = 0;
  for (const std::size_t size : kSizes) {
    void* const block = drey_malloc(size);
    const std::size_t usable = drey_usable_size(block);
    fill_sparse(block, size, size);
    errno = 77;
    EXPECT_TRUE(drey_expand(block, 0));
    EXPECT_TRUE(drey_expand(block, usable)) << "what it has already";
    EXPECT_EQ(drey_usable_size(block), usable) << "never shrinks";
    const bool done = drey_expand(block, usable + 1);
    EXPECT_EQ(done, drey_usable_size(block) > usable) << size;
    EXPECT_FALSE(drey_expand(block, SIZE_MAX));
    EXPECT_EQ(errno, 77);
    EXPECT_TRUE(check_sparse(block, size, size));
    if (done) std::memset(static_cast<char*>(block) + usable, 1, 1);
    grown += done ? 1 : 0;
    drey_free(block);
  }
  EXPECT_GE(grown, 1u) << "large blocks have room behind them in an empty segment";
  EXPECT_FALSE(drey_expand(nullptr, 10));
}

TEST(Forms, SizedFreesTakeTheSizesThatWereAskedFor) {
  for (const std::size_t size : kSizes) {
    drey_free_sized(drey_malloc(size), size);
    for (const std::size_t alignment : kAlignments) {
      drey_free_aligned_sized(drey_aligned_alloc(alignment, size), alignment, size);
    }
  }
  errno = 5;
  drey_free_sized(nullptr, 10);
  drey_free_aligned_sized(nullptr, 64, 10);
  EXPECT_EQ(errno, 5);
}
}  // namespace
}  // namespace drey::test
