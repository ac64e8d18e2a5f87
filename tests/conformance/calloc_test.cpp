// calloc_test.cpp: memory from calloc is zero, whatever was there before.
// C11 7.22.3.2 p2: the space is initialised to all bits zero. The slack up to the usable size is
// not promised by the standard; drey promises it, others are asked for the request only.
// Read next: errno_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include <cstring>
#include <thread>

namespace drey::test {
namespace {
using CallocZero = ConformanceTest;

/// Bytes of a calloc'ed block that must be zero.
std::size_t promised_zero(const void* block, std::size_t size) {
  return subject_is_drey() ? malloc_usable_size(const_cast<void*>(block)) : size;
}

void expect_zeroed(std::size_t size, int block_count) {
  std::vector<void*> live;
  for (int i = 0; i < block_count; ++i) {
    void* const block = escape(std::calloc(1, size));
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(all_zero(block, promised_zero(block, size))) << size;
    live.push_back(block);
  }
  for (void* block : live) {
    std::memset(block, 0xff, malloc_usable_size(block));
    std::free(block);
  }
}

/// Leaves `block_count` freed blocks of this size full of ones.
void dirty(std::size_t size, int block_count) {
  std::vector<void*> live;
  for (int i = 0; i < block_count; ++i) {
    live.push_back(escape(std::malloc(size)));
    std::memset(live.back(), 0xff, malloc_usable_size(live.back()));
  }
  for (void* block : live) std::free(block);
}

TEST_F(CallocZero, AfterADirtyFreeOfEveryClass) {
  for (std::size_t size : sizes_of_every_class()) {
    if (size > 2 * kMiB) continue;
    dirty(size, 2);
    expect_zeroed(size, 3);
  }
}

TEST_F(CallocZero, AfterADirtyFreeOfLargeBlocks) {
  for (std::size_t size : {3 * kMiB, 17 * kMiB, 70 * kMiB}) {
    dirty(size, 1);
    expect_zeroed(size, 2);
  }
}

TEST_F(CallocZero, AfterManySmallBlocks) {
  for (std::size_t size : {16, 48, 112, 900, 1500, 9000, 40000}) {
    dirty(size, 300);
    expect_zeroed(size, 400);
  }
}

TEST_F(CallocZero, AfterDirtyReallocChains) {
  for (std::size_t size : some_sizes()) {
    void* block = escape(std::malloc(size));
    std::memset(block, 0xff, malloc_usable_size(block));
    block = escape(std::realloc(block, size * 2));
    ASSERT_NE(block, nullptr);
    std::memset(block, 0xff, malloc_usable_size(block));
    block = escape(std::realloc(block, size / 2 + 1));
    expect_zeroed(size, 2);
    std::free(block);
    expect_zeroed(size / 2 + 1, 2);
  }
}

TEST_F(CallocZero, AfterDirtyAlignedBlocks) {
  for (std::size_t alignment : {std::size_t{64}, std::size_t{4096}, std::size_t{65536}, 2 * kMiB}) {
    for (std::size_t size : some_sizes()) {
      void* const block = escape(std::aligned_alloc(alignment, size));
      ASSERT_NE(block, nullptr);
      std::memset(block, 0xff, malloc_usable_size(block));
      std::free(block);
      expect_zeroed(size, 1);
    }
  }
}

TEST_F(CallocZero, AfterRemoteFrees) {
  for (std::size_t size : {16, 900, 3000, 60000, 300000}) {
    std::vector<void*> live;
    for (int i = 0; i < 200; ++i) {
      live.push_back(escape(std::malloc(size)));
      std::memset(live.back(), 0xff, malloc_usable_size(live.back()));
    }
    std::thread([&] {
      for (void* block : live) std::free(block);
    }).join();
    expect_zeroed(size, 250);
  }
}

TEST_F(CallocZero, FromThreadsThatReuseADeadThreadsMemory) {
  for (std::size_t size : {16, 900, 3000, 60000}) {
    for (int round = 0; round < 5; ++round) {
      std::thread([&] { dirty(size, 100); }).join();
      std::thread([&] { expect_zeroed(size, 150); }).join();
    }
  }
}

TEST_F(CallocZero, AfterTrim) {
  dirty(200000, 20);
  dirty(900, 2000);
  malloc_trim(0);
  expect_zeroed(200000, 20);
  expect_zeroed(900, 2000);
}

TEST_F(CallocZero, ForCountsAndSizesThatMultiply) {
  dirty(3000, 10);
  const Block block(std::calloc(100, 30));
  EXPECT_TRUE(all_zero(block.get(), 3000));
}
}  // namespace
}  // namespace drey::test
