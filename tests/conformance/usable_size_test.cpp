// usable_size_test.cpp: malloc_usable_size tells the truth, always the same truth.
// glibc manual, "Malloc Examples" and malloc_usable_size(3): at least the requested size; null has
// 0. Compilers with _FORTIFY_SOURCE=3 and programs that use the slack need it to be stable and
// writable.
// Read next: calloc_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include "support/seed.hpp"

namespace drey::test {
namespace {
using UsableSize = ConformanceTest;

TEST_F(UsableSize, OfNullIsZero) {
  EXPECT_EQ(malloc_usable_size(nullptr), 0U);
}

TEST_F(UsableSize, IsAtLeastTheRequestAndDoesNotChange) {
  for (std::size_t size : sizes_of_every_class()) {
    const Block block(std::malloc(size));
    const std::size_t usable = malloc_usable_size(block.get());
    ASSERT_GE(usable, size);
    std::memset(block.get(), 0xa5, usable);
    ASSERT_EQ(malloc_usable_size(block.get()), usable) << size;
  }
}

TEST_F(UsableSize, OfAlignedBlocksIsAtLeastTheRequest) {
  for (std::size_t alignment = 16; alignment <= 4 * kMiB; alignment *= 2) {
    for (std::size_t size : some_sizes()) {
      const Block block(std::aligned_alloc(alignment, size));
      ASSERT_NE(block.get(), nullptr);
      const std::size_t usable = malloc_usable_size(block.get());
      ASSERT_GE(usable, size) << alignment;
      fill_sparse(block.get(), usable, 1);
      ASSERT_EQ(malloc_usable_size(block.get()), usable);
    }
  }
}

TEST_F(UsableSize, IsAllWritableWithoutTouchingNeighbours) {
  Random random(test_seed(30));
  struct Live {
    unsigned char* block;
    std::size_t usable;
  };
  std::vector<Live> live(300, Live{nullptr, 0});
  for (std::size_t i = 0; i < scaled(100000); ++i) {
    const std::size_t index = random.below(live.size());
    Live& place = live[index];
    if (place.block != nullptr) {
      ASSERT_EQ(malloc_usable_size(place.block), place.usable);
      ASSERT_TRUE(check_pattern(place.block, place.usable, index)) << place.usable;
      std::free(place.block);
    }
    const std::size_t size = 1 + random.below(std::size_t{1} << (3 + random.below(10)));
    place.block = static_cast<unsigned char*>(escape(std::malloc(size)));
    place.usable = malloc_usable_size(place.block);
    ASSERT_GE(place.usable, size);
    fill_pattern(place.block, place.usable, index);
  }
  for (const Live& place : live) std::free(place.block);
}
}  // namespace
}  // namespace drey::test
