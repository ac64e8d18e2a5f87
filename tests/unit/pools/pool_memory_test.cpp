// pool_memory_test.cpp: the memory under a pool: sizes that cannot be, steps of growth, backing that
// refuses, huge pages, and which addresses are vectors.
// SPDX-License-Identifier: MIT
#include <drey/base/bits.hpp>
#include <drey/pools/vector_pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace drey {
namespace {
constexpr PlaceShape kShape = {960, 900, 64};

PoolMemory memory_of(const VectorPoolOptions& options) {
  return PoolMemory(kShape, options);
}

TEST(PoolMemory, HasNoCapacityWhereThereIsNoRoom) {
  for (const std::size_t capacity : {std::size_t{0}, kPlacesMax + 1, SIZE_MAX / 960, SIZE_MAX}) {
    const PoolMemory memory = memory_of({.capacity = capacity});
    EXPECT_EQ(memory.capacity(), 0U) << capacity;
    EXPECT_EQ(memory.bytes(), 0U) << capacity;
  }
  EXPECT_EQ(memory_of({.capacity = 1, .capacity_max = SIZE_MAX}).capacity(), 0U);
}

TEST(PoolMemory, DoesNotOverflowForVectorsAsLongAsTheAddressSpace) {
  const std::size_t huge = std::size_t{1} << 60;
  EXPECT_EQ(PoolMemory({huge, huge, 64}, {.capacity = 1000}).capacity(), 0U);
  EXPECT_EQ(PoolMemory({huge, huge, 64}, {.capacity = 16}).capacity(), 0U);
}

TEST(PoolMemory, KnowsWhichAddressesAreVectors) {
  for (const std::size_t vector_bytes : {64, 900, 960, 1024, 4096, 7 * 64}) {
    const PoolMemory memory({vector_bytes, vector_bytes, 4}, {.capacity = 50});
    const auto* const begin = static_cast<const char*>(memory.vector(0));
    const auto stride = static_cast<std::ptrdiff_t>(memory.stride_bytes());
    for (std::ptrdiff_t offset = -2 * stride; offset < 52 * stride; ++offset) {
      const bool is_vector = offset >= 0 && offset % stride == 0 && offset / stride < 50;
      const std::size_t place = memory.place_of(begin + offset);
      ASSERT_EQ(place < 50, is_vector) << vector_bytes << " bytes, offset " << offset;
      if (!is_vector) continue;
      ASSERT_EQ(place, static_cast<std::size_t>(offset / stride));
    }
  }
}

/// Remembers what it was told, and refuses when it has given enough.
struct RecordingBacking {
  std::vector<std::pair<void*, std::size_t>> opened;
  std::vector<std::pair<void*, std::size_t>> closed;
  std::size_t bytes_left = SIZE_MAX;

  VectorBacking hooks() {
    return {.open =
                [](void* begin, std::size_t bytes, void* context) noexcept {
                  auto& self = *static_cast<RecordingBacking*>(context);
                  if (bytes > self.bytes_left) return false;
                  self.bytes_left -= bytes;
                  self.opened.emplace_back(begin, bytes);
                  return true;
                },
            .close =
                [](void* begin, std::size_t bytes, void* context) noexcept {
                  static_cast<RecordingBacking*>(context)->closed.emplace_back(begin, bytes);
                },
            .context = this};
  }
};

TEST(PoolMemory, TellsTheBackingOfEachPieceOnceAndOfAllAtTheEnd) {
  RecordingBacking backing;
  {
    VectorPool225 pool({.capacity = 100,
                        .capacity_max = 350,
                        .backing = backing.hooks(),
                        .checks = VectorChecks::kOff});
    ASSERT_EQ(backing.opened.size(), 1U);
    std::vector<PooledVector> taken;
    for (int i = 0; i < 350; ++i) taken.push_back(pool.take());
    EXPECT_TRUE(taken.back());
    EXPECT_EQ(backing.opened.front().first, taken.front().get());
  }
  ASSERT_EQ(backing.opened.size(), 3U);  // 100, to 200, to 350
  EXPECT_EQ(backing.opened[0].second, 100U * 960);
  EXPECT_EQ(backing.opened[1].second, 100U * 960);
  EXPECT_EQ(backing.opened[2].second, 150U * 960);
  for (int i = 1; i < 3; ++i) {
    EXPECT_EQ(static_cast<char*>(backing.opened[i - 1].first) + backing.opened[i - 1].second,
              backing.opened[i].first);
  }
  ASSERT_EQ(backing.closed.size(), 1U);
  EXPECT_EQ(backing.closed[0].first, backing.opened[0].first);
  EXPECT_EQ(backing.closed[0].second, 350U * 960);
}

TEST(PoolMemory, IsExhaustedWhereTheBackingRefusesAndGrowsWhenItDoesNot) {
  RecordingBacking backing;
  backing.bytes_left = 100 * 1024;
  VectorPool225 pool({.capacity = 50, .capacity_max = 200, .backing = backing.hooks()});
  std::vector<PooledVector> taken;
  while (taken.empty() || taken.back()) taken.push_back(pool.take());
  taken.pop_back();
  EXPECT_EQ(taken.size(), 100U);
  EXPECT_EQ(pool.statistics().exhausted_count, 1U);
  backing.bytes_left = SIZE_MAX;
  EXPECT_TRUE(pool.take());
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(PoolMemory, WithoutTheFirstPieceHasNoCapacity) {
  RecordingBacking backing;
  backing.bytes_left = 0;
  VectorPool225 pool({.capacity = 50, .backing = backing.hooks()});
  EXPECT_EQ(pool.capacity(), 0U);
  EXPECT_FALSE(pool.take());
  EXPECT_TRUE(backing.closed.empty());
}

TEST(PoolMemory, OnHugePagesBeginsOnABorderOfThem) {
  VectorPool225 pool({.capacity = 10'000, .pages = VectorPages::kHuge});
  ASSERT_EQ(pool.capacity(), 10'000U);
  const PooledVector vector = pool.take();
  EXPECT_TRUE(is_aligned(vector.get(), std::size_t{1} << 21));
  EXPECT_EQ(vector.values()[0], 0.0F);
}

TEST(PoolMemory, GrowsFromNothing) {
  VectorPool225 pool({.capacity = 0, .capacity_max = 10});
  std::vector<PooledVector> taken;
  for (int i = 0; i < 10; ++i) taken.push_back(pool.take());
  EXPECT_TRUE(taken.back());
  EXPECT_FALSE(pool.take());
}
}  // namespace
}  // namespace drey
