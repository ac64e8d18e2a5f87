// vector_pool_misuse_test.cpp: every wrong way to give a vector back ends in one line and an abort.
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace drey {
namespace {

/// The vector one stride on, whether there is one or not.
Vector225* behind(const VectorPool225& pool, const PooledVector& vector) {
  return reinterpret_cast<Vector225*>(reinterpret_cast<std::byte*>(vector.get()) +
                                      pool.stride_bytes());
}

TEST(VectorPoolDeathTest, NamesAVectorGivenBackTwice) {
  VectorPool225 pool(4);
  Vector225* const vector = pool.take().detach();
  pool.give_back(vector);
  EXPECT_DEATH(pool.give_back(vector), "^drey: vector pool: vector 0x[0-9a-f]+ given back twice\n");
}

TEST(VectorPoolDeathTest, NamesAHandleWhoseVectorWasGivenBackByHand) {
  VectorPool225 pool(4);
  EXPECT_DEATH(
      {
        const PooledVector vector = pool.take();
        pool.give_back(vector.get());
      },
      "given back twice");
}

TEST(VectorPoolDeathTest, NamesAVectorOfAnotherPool) {
  VectorPool225 pool(4);
  VectorPool225 other_pool(4);
  const PooledVector vector = other_pool.take();
  EXPECT_DEATH(pool.give_back(vector.get()),
               "^drey: vector pool: given back 0x[0-9a-f]+, which is no vector of this pool\n");
}

TEST(VectorPoolDeathTest, NamesAVectorOnTheStack) {
  VectorPool225 pool(4);
  Vector225 vector;
  EXPECT_DEATH(pool.give_back(&vector), "no vector of this pool");
}

TEST(VectorPoolDeathTest, NamesAPointerIntoTheMiddleOfAVector) {
  VectorPool225 pool(4);
  const PooledVector vector = pool.take();
  auto* const inside =
      reinterpret_cast<Vector225*>(reinterpret_cast<std::byte*>(vector.get()) + 64);
  EXPECT_DEATH(pool.give_back(inside), "no vector of this pool");
}

TEST(VectorPoolDeathTest, NamesAVectorJustBehindThePool) {
  VectorPool225 pool(1);
  const PooledVector vector = pool.take();
  EXPECT_DEATH(pool.give_back(behind(pool, vector)), "no vector of this pool");
}

TEST(VectorPoolDeathTest, NamesAVectorNeverTaken) {
  VectorPool225 pool(4);
  const PooledVector vector = pool.take();
  EXPECT_DEATH(pool.give_back(behind(pool, vector)), "vector 0x[0-9a-f]+ was never taken");
}

TEST(VectorPoolDeathTest, RefusesEverythingWithoutCapacity) {
  VectorPool225 pool(0);
  Vector225 vector;
  EXPECT_DEATH(pool.give_back(&vector), "no vector of this pool");
}

TEST(VectorPool, AWriteToAFreeVectorOfAnUncheckedPoolHarmsNobodyElse) {
  VectorPool225 pool({.capacity = 5000, .checks = VectorChecks::kOff});
  std::vector<PooledVector> taken;
  for (int i = 0; i < 5000; ++i) taken.push_back(pool.take());
  std::vector<Vector225*> late;
  for (const PooledVector& vector : taken) late.push_back(vector.get());
  taken.clear();
  for (Vector225* const vector : late) std::ranges::fill(vector->values(), -1.0F);
  for (int i = 0; i < 5000; ++i) taken.push_back(pool.take());
  std::vector<Vector225*> again;
  for (const PooledVector& vector : taken) again.push_back(vector.get());
  std::ranges::sort(late);
  std::ranges::sort(again);
  EXPECT_EQ(again, late);
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(VectorPoolDeathTest, FindsAPlaceThatIsFreeTwiceBeforeItIsHandedOutTwice) {
  // What two threads leave that give one vector back in the same instant, made by hand: the place is
  // kept twice, because its state was set back in between.
  PoolMemory memory({64, 64, 64}, {.capacity = 100, .checks = VectorChecks::kOff});
  PlacePool pool(memory);
  const TakenPlace taken = pool.take();
  const auto give_back_twice = [&] {
    pool.give_back(taken);
    memory.states()[taken.place].store(static_cast<std::uint16_t>(taken.state_before + 1));
    pool.give_back(taken);
    static_cast<void>(pool.take());
    static_cast<void>(pool.take());
  };
  EXPECT_DEATH(give_back_twice(), "free a second time while it is taken");
  pool.give_back(taken);
}

TEST(VectorPoolDeathTest, NamesABatchWithAVectorGivenBackBefore) {
  VectorPool225 pool(10);
  EXPECT_DEATH(
      {
        const VectorBatch batch = pool.take_batch(5);
        pool.give_back(&batch[3]);
      },
      "given back twice");
}

TEST(VectorPoolDeathTest, NamesAHandleKeptBeyondItsSecondTaking) {
  // The vector is out again, but not as the handle had it.
  VectorPool225 pool(1);
  EXPECT_DEATH(
      {
        const PooledVector first = pool.take();
        pool.give_back(first.get());
        Vector225* const second = pool.take().detach();
        static_cast<void>(second);
      },
      "given back twice");
}

TEST(VectorPoolDeathTest, SaysHowManyVectorsAreOutWhenItEnds) {
  const VectorPoolOptions options{.capacity = 8, .checks = VectorChecks::kOff};
  EXPECT_DEATH(
      {
        std::optional<VectorPool225> pool(options);
        Vector225* vectors[3];
        for (Vector225*& vector : vectors) vector = pool->take().detach();
        pool->give_back(vectors[1]);
        pool.reset();
      },
      "^drey: vector pool: destroyed with 2 vectors out\n");
}

}  // namespace
}  // namespace drey
