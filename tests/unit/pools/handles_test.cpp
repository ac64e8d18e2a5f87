// handles_test.cpp: batches, shared holders, references, copies of a wrong length, packed pools.
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace drey {
namespace {
static_assert(!std::is_copy_constructible_v<VectorBatch>);
static_assert(std::is_nothrow_copy_constructible_v<SharedVector>);
static_assert(std::is_trivially_copyable_v<VectorRef> && sizeof(VectorRef) == 8);

// A copy takes 225 floats; other lengths that are known when compiling do not compile.
template <std::size_t kLength>
constexpr bool kCopyable = requires(VectorPool225& pool, std::span<const float, kLength> values) {
  pool.take_copy(values);
};
static_assert(kCopyable<225> && kCopyable<std::dynamic_extent>);
static_assert(!kCopyable<224> && !kCopyable<226> && !kCopyable<0>);

TEST(TakeCopy, HasTheValues) {
  VectorPool225 pool(2);
  std::array<float, 225> source{};
  source[0] = 1;
  source[224] = 2;
  const PooledVector fixed = pool.take_copy(std::span<const float, 225>(source));
  ASSERT_TRUE(fixed);
  EXPECT_TRUE(std::ranges::equal(fixed.values(), source));
  const PooledVector dynamic = pool.take_copy(std::span<float>(source));
  ASSERT_TRUE(dynamic);
  EXPECT_TRUE(std::ranges::equal(dynamic.values(), source));
  EXPECT_FALSE(pool.take_copy(std::span<float>(source))) << "exhausted";
}

TEST(TakeCopy, RefusesAnotherLengthNamingBothNumbers) {
  VectorPool225 pool(2);
  const std::vector<float> source(226);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(pool.take_copy(std::span<const float>(source)));
  EXPECT_FALSE(pool.take_copy(std::span<const float>(source).first(224)));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "drey: vector pool: expected 225 values, found 226\n"
            "drey: vector pool: expected 225 values, found 224\n");
  EXPECT_EQ(pool.taken(), 0U);
}

TEST(VectorBatch, HoldsDistinctVectorsAndGivesThemBackTogether) {
  VectorPool225 pool(1000);
  std::set<const Vector225*> seen;
  {
    const VectorBatch first = pool.take_batch(128);
    const VectorBatch second = pool.take_batch(100);
    ASSERT_EQ(first.count(), 128U);
    ASSERT_EQ(second.count(), 100U);
    for (std::size_t i = 0; i < first.count(); ++i) seen.insert(&first[i]);
    for (std::size_t i = 0; i < second.count(); ++i) seen.insert(&second[i]);
    EXPECT_EQ(pool.taken(), 228U);
  }
  EXPECT_EQ(seen.size(), 228U);
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(VectorBatch, IsARunOfNeighboursInAFreshPool) {
  VectorPool225 pool(1000);
  const VectorBatch batch = pool.take_batch(128);
  for (std::size_t i = 1; i < batch.count(); ++i) {
    EXPECT_EQ(reinterpret_cast<const char*>(&batch[i]) - reinterpret_cast<const char*>(&batch[0]),
              static_cast<std::ptrdiff_t>(i * pool.stride_bytes()));
  }
}

TEST(VectorBatch, IsShorterWhereThePoolEnds) {
  VectorPool225 pool(100);
  const VectorBatch batch = pool.take_batch(500);
  EXPECT_EQ(batch.count(), 100U) << "never more than its room, here never more than there is";
  EXPECT_EQ(pool.statistics().exhausted_count, VectorBatch::kRoom - 100);
  EXPECT_EQ(pool.take_batch(0).count(), 0U);
}

TEST(VectorBatch, LetsSingleVectorsGo) {
  VectorPool225 pool(4);
  PooledVector single;
  {
    VectorBatch batch = pool.take_batch(3);
    const Vector225* const last = &batch[2];
    single = batch.release_last();
    EXPECT_EQ(single.get(), last);
    EXPECT_EQ(batch.count(), 2U);
    VectorBatch moved = std::move(batch);
    EXPECT_EQ(moved.count(), 2U);
    EXPECT_EQ(batch.count(), 0U);  // NOLINT: what a moved-from batch holds is promised
    EXPECT_FALSE(batch.release_last());
  }
  EXPECT_EQ(pool.taken(), 1U);
  single.reset();
  EXPECT_EQ(pool.taken(), 0U);
}

TEST(VectorBatch, IsZeroWhereAskedTo) {
  VectorPool225 pool(4, VectorContents::kZero);
  for (int round = 0; round < 2; ++round) {
    const VectorBatch batch = pool.take_batch(4);
    for (std::size_t i = 0; i < batch.count(); ++i) {
      EXPECT_EQ(std::ranges::count(batch[i].lanes(), 0.0F), 240);
      std::ranges::fill(batch[i].values(), 7.0F);
    }
  }
}

TEST(SharedVector, GivesTheVectorBackWithItsLastHolder) {
  VectorPool225 pool(4);
  SharedVector first(pool.take());
  EXPECT_EQ(first.holder_count(), 1U);
  {
    SharedVector second = first;
    SharedVector third;
    third = second;
    EXPECT_EQ(third.get(), first.get());
    EXPECT_EQ(first.holder_count(), 3U);
    const SharedVector moved = std::move(second);
    EXPECT_EQ(first.holder_count(), 3U);
    first.reset();
    EXPECT_EQ(moved.holder_count(), 2U);
    EXPECT_EQ(pool.taken(), 1U);
  }
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_FALSE(SharedVector(PooledVector()));
}

TEST(SharedVector, AVectorUsedAgainBeginsWithOneHolder) {
  VectorPool225 pool(1);
  for (int round = 0; round < 3; ++round) {
    SharedVector vector(pool.take());
    ASSERT_TRUE(vector);
    EXPECT_EQ(vector.holder_count(), 1U) << "round " << round;
    vector.share_across_threads();
    EXPECT_EQ(vector.holder_count(), 1U);
  }
}

TEST(SharedVector, IsCountedRightByThreadsThatCopyAtOnce) {
  constexpr int kThreads = 4;
  VectorPool225 pool(8);
  {
    SharedVector vector(pool.take());
    vector.values()[0] = 225;
    vector.share_across_threads();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([mine = vector] {
        for (int round = 0; round < 20'000; ++round) {
          const SharedVector copy = mine;
          EXPECT_EQ(copy.values()[0], 225.0F);
        }
      });
    }
    vector.reset();
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_EQ(pool.statistics().give_back_count, 1U);
}

TEST(VectorRef, FindsItsVectorUntilThatIsGivenBack) {
  VectorPool225 pool(4);
  PooledVector vector = pool.take();
  const VectorRef ref = vector.ref();
  EXPECT_EQ(pool.find(ref), vector.get());
  vector.reset();
  EXPECT_EQ(pool.find(ref), nullptr) << "given back";
  vector = pool.take();
  EXPECT_EQ(pool.find(ref), nullptr) << "the same memory, taken again";
  EXPECT_NE(vector.ref(), ref);
}

TEST(VectorRef, IsStaleThroughTheWholeOfAState) {
  // 32,768 pairs bring the 16-bit state back to what it was; the generation has more bits.
  VectorPool225 pool(1);
  const VectorRef ref = pool.take().ref();
  PooledVector vector;
  for (int pair = 0; pair < 32'768; ++pair) {
    vector.reset();
    vector = pool.take();
    ASSERT_EQ(pool.find(ref), nullptr) << pair;
  }
}

TEST(VectorRef, OfAnotherPoolOrOfNothingFindsNothing) {
  VectorPool225 pool(4);
  VectorPool225 other_pool(4);
  const PooledVector vector = pool.take();
  const PooledVector other = other_pool.take();
  EXPECT_EQ(other_pool.find(vector.ref()), nullptr);
  EXPECT_EQ(pool.find(VectorRef()), nullptr);
  EXPECT_EQ(pool.find(PooledVector().ref()), nullptr);
  EXPECT_EQ(VectorPool225(0).find(vector.ref()), nullptr);
}

TEST(VectorRef, OfASharedVectorIsGoodWhileSomebodyHoldsIt) {
  VectorPool225 pool(4);
  SharedVector vector(pool.take());
  const VectorRef ref = vector.ref();
  SharedVector copy = vector;
  vector.reset();
  EXPECT_EQ(pool.find(ref), copy.get());
  copy.reset();
  EXPECT_EQ(pool.find(ref), nullptr);
}

TEST(PackedVectorPool, LaysVectorsSideBySide) {
  PackedVectorPool225 pool({.capacity = 2000, .checks = VectorChecks::kOff});
  EXPECT_EQ(pool.stride_bytes(), 900U);
  for (int round = 0; round < 2; ++round) {
    std::vector<PackedVectorPool225::PooledVector> taken;
    for (int i = 0; i < 2000; ++i) {
      taken.push_back(pool.take());
      std::ranges::fill(taken.back().values(), static_cast<float>(i));
    }
    EXPECT_FALSE(pool.take());
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(std::ranges::count(taken[i].values(), static_cast<float>(i)), 225) << i;
    }
  }
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(VectorPool, KnowsItsOwnVectors) {
  VectorPool225 pool(3);
  const PooledVector vector = pool.take();
  EXPECT_TRUE(pool.owns(vector.get()));
  EXPECT_FALSE(pool.owns(vector.values().data() + 1));
  EXPECT_FALSE(pool.owns(&pool));
  EXPECT_FALSE(pool.owns(nullptr));
}
}  // namespace
}  // namespace drey
