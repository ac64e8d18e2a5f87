// alignment_test.cpp: every block is as aligned as its type could need, and as asked.
// C11 7.22.3 p1: a returned pointer suits any object with a fundamental alignment requirement; on
// x86-64 and aarch64 that is 16, and compilers use it even for small blocks.
// Read next: aligned_alloc_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include "support/seed.hpp"

#include <new>

namespace drey::test {
namespace {
using Alignment = ConformanceTest;

TEST_F(Alignment, OfMallocIsSixteenForEverySize) {
  for (std::size_t size : sizes_of_every_class()) {
    const Block block(std::malloc(size));
    ASSERT_NE(block.get(), nullptr) << size;
    ASSERT_TRUE(aligned_to(block.get(), 16)) << size;
  }
  const Block empty(std::malloc(0));
  ASSERT_TRUE(aligned_to(empty.get(), 16));
}

TEST_F(Alignment, OfCallocIsSixteenForEverySize) {
  for (std::size_t size : sizes_of_every_class()) {
    const Block block(std::calloc(1, size));
    ASSERT_NE(block.get(), nullptr) << size;
    ASSERT_TRUE(aligned_to(block.get(), 16)) << size;
  }
}

TEST_F(Alignment, OfReallocIsSixteenForEverySize) {
  void* block = nullptr;
  for (std::size_t size : sizes_of_every_class()) {
    block = escape(std::realloc(block, size));
    ASSERT_NE(block, nullptr) << size;
    ASSERT_TRUE(aligned_to(block, 16)) << size;
  }
  std::free(block);
}

TEST_F(Alignment, OfOperatorNewIsSixteenForSmallSizes) {
  for (std::size_t size = 0; size <= 64; ++size) {
    void* const one = escape(::operator new(size));
    void* const array = escape(::operator new[](size));
    EXPECT_TRUE(aligned_to(one, 16)) << size;
    EXPECT_TRUE(aligned_to(array, 16)) << size;
    ::operator delete(one);
    ::operator delete[](array);
  }
}

TEST_F(Alignment, StaysSixteenWhenBlocksAreReused) {
  Random random(test_seed(25));
  std::vector<void*> live(500, nullptr);
  for (std::size_t i = 0; i < scaled(1000000); ++i) {
    void*& place = live[random.below(live.size())];
    std::free(place);
    place = escape(std::malloc(1 + random.below(64)));
    ASSERT_TRUE(aligned_to(place, 16)) << i;
  }
  for (void* block : live) std::free(block);
}

/// One round over all pairs: `live` blocks of each pair at once, written to show overlaps.
void check_all_pairs(std::size_t live_count) {
  std::vector<void*> live(live_count);
  for (std::size_t alignment = 16; alignment <= 64 * kKiB; alignment *= 2) {
    for (std::size_t size = 1; size <= kMiB; size = size < 16 ? size + 5 : size * 2 - size / 3) {
      for (std::size_t i = 0; i < live.size(); ++i) {
        ASSERT_EQ(posix_memalign(&live[i], alignment, size), 0) << alignment << " " << size;
        ASSERT_TRUE(aligned_to(live[i], alignment)) << alignment << " " << size;
        fill_sparse(live[i], size, i);
      }
      for (std::size_t i = 0; i < live.size(); ++i) {
        ASSERT_TRUE(check_sparse(live[i], size, i)) << alignment << " " << size;
        std::free(live[i]);
      }
    }
  }
}

TEST_F(Alignment, HoldsForAllPairsOfSizeAndAlignment) {
  check_all_pairs(3);
  check_all_pairs(5);  // again, on memory that was used and freed
}

TEST_F(Alignment, HoldsWhenSizeEqualsAlignment) {
  for (std::size_t alignment = 16; alignment <= 64 * kKiB; alignment *= 2) {
    std::vector<void*> live;
    for (int i = 0; i < 40; ++i) {
      live.push_back(escape(std::aligned_alloc(alignment, alignment)));
      ASSERT_TRUE(aligned_to(live.back(), alignment)) << alignment;
    }
    for (void* block : live) std::free(block);
  }
}

TEST_F(Alignment, BlocksOfOneSizeDoNotOverlapAtClassBorders) {
  for (std::size_t size : sizes_of_every_class()) {
    const Block left(std::malloc(size));
    Block middle(std::malloc(size));
    const Block right(std::malloc(size));
    fill_sparse(left.get(), size, 1);
    fill_sparse(right.get(), size, 3);
    std::free(middle.release());
    middle.reset(std::malloc(size));
    fill_sparse(middle.get(), size, 2);
    ASSERT_TRUE(check_sparse(left.get(), size, 1)) << size;
    ASSERT_TRUE(check_sparse(right.get(), size, 3)) << size;
    ASSERT_TRUE(check_sparse(middle.get(), size, 2)) << size;
  }
}
}  // namespace
}  // namespace drey::test
