// vector_pool_misuse_test.cpp: every wrong way to give a vector back ends in one line and an abort.
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

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

TEST(VectorPoolDeathTest, SaysHowManyVectorsAreOutWhenItEnds) {
  EXPECT_DEATH(
      {
        std::optional<VectorPool225> pool(std::in_place, std::size_t{8});
        Vector225* vectors[3];
        for (Vector225*& vector : vectors) vector = pool->take().detach();
        pool->give_back(vectors[1]);
        pool.reset();
      },
      "^drey: vector pool: destroyed with 2 vectors out\n");
}

}  // namespace
}  // namespace drey
