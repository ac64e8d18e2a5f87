// vector_pool_test.cpp: what one thread sees of a pool: shape, contents, limits, counts, handles.
// SPDX-License-Identifier: MIT
#include <drey/base/bits.hpp>
#include <drey/pools/vector_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace drey {
namespace {
static_assert(!std::is_copy_constructible_v<VectorPool225> &&
              !std::is_move_constructible_v<VectorPool225>);
static_assert(!std::is_copy_constructible_v<PooledVector> &&
              !std::is_copy_assignable_v<PooledVector>);
static_assert(std::is_nothrow_move_constructible_v<PooledVector>);
static_assert(std::is_nothrow_move_assignable_v<PooledVector>);
static_assert(sizeof(PooledVector) == 3 * sizeof(void*));
static_assert(!std::is_convertible_v<std::size_t, VectorPool225>, "a pool is made on purpose");
static_assert(!std::is_convertible_v<PooledVector, bool>,
              "only a test asks a handle for its truth");
static_assert(noexcept(std::declval<VectorPool225&>().take()));

[[nodiscard]] bool tail_is_zero(const Vector225& vector) {
  return std::ranges::count(vector.lanes().subspan(Vector225::kValueCount), 0.0F) == 15;
}

TEST(VectorPool, HandsOutAsManyDistinctAlignedVectorsAsItHolds) {
  VectorPool225 pool(1000);
  ASSERT_EQ(pool.capacity(), 1000U);
  std::vector<PooledVector> taken;
  std::set<std::uintptr_t> addresses;
  for (std::size_t i = 0; i < pool.capacity(); ++i) {
    taken.push_back(pool.take());
    ASSERT_TRUE(taken.back());
    EXPECT_TRUE(is_aligned(taken.back().get(), 64));
    addresses.insert(address_of(taken.back().get()));
  }
  EXPECT_EQ(addresses.size(), 1000U);
  // Side by side: the last is 999 strides behind the first.
  EXPECT_EQ(*addresses.rbegin() - *addresses.begin(), 999U * pool.stride_bytes());
}

TEST(VectorPool, IsEmptyHandedWhenExhaustedAndRecovers) {
  VectorPool225 pool(2);
  PooledVector first = pool.take();
  const PooledVector second = pool.take();
  EXPECT_FALSE(pool.take());
  EXPECT_FALSE(pool.take());
  EXPECT_EQ(pool.statistics().exhausted_count, 2U);
  first.reset();
  EXPECT_TRUE(pool.take());
  EXPECT_EQ(pool.statistics().exhausted_count, 2U);
}

TEST(VectorPool, KeepsVectorsApart) {
  VectorPool225 pool(64);
  std::vector<PooledVector> taken;
  for (int i = 0; i < 64; ++i) {
    taken.push_back(pool.take());
    std::ranges::fill(taken.back().values(), static_cast<float>(i));
  }
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(std::ranges::count(taken[i].values(), static_cast<float>(i)), 225) << "vector " << i;
    EXPECT_TRUE(tail_is_zero(*taken[i])) << "vector " << i;
  }
}

TEST(VectorPool, KeepsTheTailZeroHoweverOftenAVectorWasOnItsWay) {
  // More than the caches hold, so that vectors were in the list that is written into free vectors.
  constexpr std::size_t kVectors = 5'000;
  VectorPool225 pool(kVectors);
  for (int round = 0; round < 3; ++round) {
    std::vector<PooledVector> taken;
    for (std::size_t i = 0; i < kVectors; ++i) {
      taken.push_back(pool.take());
      ASSERT_TRUE(tail_is_zero(*taken.back())) << "round " << round << ", vector " << i;
      std::ranges::fill(taken.back().values(), 7.0F);
    }
  }
}

TEST(VectorPool, ZeroesTheValuesWhereAskedTo) {
  VectorPool225 pool(1, VectorContents::kZero);
  for (int round = 0; round < 2; ++round) {
    const PooledVector vector = pool.take();
    EXPECT_EQ(std::ranges::count(vector->lanes(), 0.0F), 240) << "round " << round;
    std::ranges::fill(vector.values(), 7.0F);
  }
}

TEST(VectorPool, WithoutRoomHasNoCapacity) {
  for (const std::size_t capacity :
       {std::size_t{0}, kPlacesMax + 1, SIZE_MAX / 960 + 1, SIZE_MAX}) {
    VectorPool225 pool(capacity);
    EXPECT_EQ(pool.capacity(), 0U) << capacity;
    EXPECT_FALSE(pool.take()) << capacity;
    EXPECT_EQ(pool.statistics().reserved_bytes, 0U) << capacity;
  }
}

TEST(VectorPool, TouchesOnlyWhatWasTaken) {
  VectorPool225 pool(100'000);  // 96 MB of address space
  ASSERT_EQ(pool.capacity(), 100'000U);
  { const PooledVector vector = pool.take(); }
  EXPECT_EQ(pool.statistics().touched_bytes, pool.stride_bytes());
  EXPECT_GE(pool.statistics().reserved_bytes, 100'000U * pool.stride_bytes());
  // Beside the vectors: 2 + 2 + 4 bytes and a bit a vector; six arrays end on a page.
  EXPECT_LE(pool.statistics().reserved_bytes,
            100'000U * (pool.stride_bytes() + 8) + 100'000U / 8 + 6 * 4096);
}

TEST(VectorPool, CountsWhatHappened) {
  VectorPool225 pool(10);
  std::vector<PooledVector> taken;
  taken.reserve(7);
  for (int i = 0; i < 7; ++i) taken.push_back(pool.take());
  taken.resize(3);
  taken.push_back(pool.take());
  const VectorPoolStatistics statistics = pool.statistics();
  EXPECT_EQ(statistics.capacity, 10U);
  EXPECT_EQ(statistics.taken, 4U);
  EXPECT_EQ(statistics.ever_taken, 7U);
  EXPECT_EQ(statistics.take_count, 8U);
  EXPECT_EQ(statistics.give_back_count, 4U);
  EXPECT_EQ(statistics.exhausted_count, 0U);
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(PooledVector, MovesWithoutTouchingThePool) {
  VectorPool225 pool(3);
  PooledVector first = pool.take();
  Vector225* const vector = first.get();
  PooledVector second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT: what a moved-from handle holds is promised
  EXPECT_EQ(second.get(), vector);
  EXPECT_EQ(pool.taken(), 1U);
}

TEST(PooledVector, GivesItsOldVectorBackWhenAssigned) {
  VectorPool225 pool(3);
  VectorPool225 other_pool(3);
  PooledVector vector = pool.take();
  vector = other_pool.take();
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_EQ(other_pool.taken(), 1U);
  PooledVector& same = vector;
  vector = std::move(same);
  EXPECT_TRUE(vector) << "assigning a handle to itself keeps it";
  vector = PooledVector();
  EXPECT_EQ(other_pool.taken(), 0U);
}

TEST(PooledVector, DetachesForTheCallerToGiveBack) {
  VectorPool225 pool(1);
  Vector225* const vector = pool.take().detach();
  ASSERT_NE(vector, nullptr);
  EXPECT_EQ(pool.taken(), 1U);
  pool.give_back(vector);
  pool.give_back(nullptr);
  EXPECT_EQ(pool.taken(), 0U);
}

TEST(VectorPool, ServesOtherShapesToo) {
  VectorPool<double, 7> pool(4, VectorContents::kZero);
  const auto vector = pool.take();
  ASSERT_TRUE(vector);
  EXPECT_EQ(vector.values().size(), 7U);
  EXPECT_TRUE(is_aligned(vector.get(), 64));
}

/// Takes all vectors of a pool, gives all back and takes all again, through caches and list.
template <class Pool>
void use_all() {
  constexpr std::size_t kVectors = 3000;
  using Number = typename Pool::Number;
  Pool pool(kVectors);
  for (int round = 0; round < 2; ++round) {
    std::vector<typename Pool::PooledVector> taken;
    for (std::size_t i = 0; i < kVectors; ++i) {
      taken.push_back(pool.take());
      ASSERT_TRUE(taken.back());
      ASSERT_TRUE(is_aligned(taken.back().get(), alignof(Number)));
      std::ranges::fill(taken.back().values(), static_cast<Number>(i % 100));
    }
    for (std::size_t i = 0; i < kVectors; ++i) {
      ASSERT_EQ(static_cast<std::size_t>(
                    std::ranges::count(taken[i].values(), static_cast<Number>(i % 100))),
                Pool::kValueCount);
    }
  }
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(VectorPool, ServesAnyTypeAndLengthFromSixteenBytesOn) {
  use_all<VectorPool<float, 4>>();
  use_all<VectorPool<double, 2>>();
  use_all<VectorPool<unsigned char, 17>>();
  use_all<PackedVectorPool<float, 4>>();
  use_all<PackedVectorPool<unsigned char, 33>>();
  use_all<PackedVectorPool<double, 1001>>();
}

}  // namespace
}  // namespace drey
