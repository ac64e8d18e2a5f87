// vector_checks_test.cpp: what a checked pool finds beside what every pool does: late writes, writes
// behind a vector, and where the vectors were taken that are still out.
//
// The writes are seen by the pool's own checks; under AddressSanitizer and Valgrind they would be
// found where they happen, so there the tests expect the sanitizer's words.
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace drey {
namespace {
#if defined(__SANITIZE_ADDRESS__)
constexpr const char* kLateWrite = "use-after-poison";
constexpr const char* kWriteBehind = "use-after-poison";
constexpr const char* kLateRead = "use-after-poison";
#else
constexpr const char* kLateWrite = "vector 0x[0-9a-f]+ was written to after it was given back\n";
constexpr const char* kWriteBehind =
    "written behind the values of vector 0x[0-9a-f]+, taken at 0x[0-9a-f]+ \\(.*\\)\n";
#endif

VectorPoolOptions checked(std::size_t capacity) {
  return {.capacity = capacity, .checks = VectorChecks::kOn};
}

template <class Pool>
void write_late() {
  Pool pool(checked(2));
  float* const values = pool.take().values().data();  // given back at once
  volatile float* const late = values;
  late[100] = 1;
  // The other vector, then this one again: the longest free comes first.
  static_cast<void>(pool.take());
  static_cast<void>(pool.take());
  static_cast<void>(pool.take());
}

TEST(VectorChecksDeathTest, FindALateWriteWhenTheVectorIsTakenAgain) {
  EXPECT_DEATH(write_late<VectorPool225>(), kLateWrite);
  EXPECT_DEATH(write_late<PackedVectorPool225>(), kLateWrite);
}

TEST(VectorChecksDeathTest, FindALateWriteAtTheEndOfThePool) {
  EXPECT_DEATH(
      {
        VectorPool225 pool(checked(2));
        volatile float* const late = pool.take().values().data();
        late[0] = 1;
      },
      kLateWrite);
}

template <class Pool>
void write_behind(std::size_t index) {
  Pool pool(checked(2));
  const auto vector = pool.take();
  volatile float* const values = vector.values().data();
  values[index] = 1;
}

TEST(VectorChecksDeathTest, FindAWriteBehindTheVector) {
  EXPECT_DEATH(write_behind<VectorPool225>(240), kWriteBehind);
  EXPECT_DEATH(write_behind<PackedVectorPool225>(225), kWriteBehind);
}

TEST(VectorChecksDeathTest, FindAWriteIntoTheZeroLanes) {
  EXPECT_DEATH(write_behind<VectorPool225>(225), "written behind the values of vector");
  EXPECT_DEATH(write_behind<VectorPool225>(239), "written behind the values of vector");
}

TEST(VectorChecksDeathTest, SayWhereTheVectorsWereTakenThatAreOutAtTheEnd) {
  EXPECT_DEATH(
      {
        std::optional<VectorPool225> pool(checked(8));
        static_cast<void>(pool->take().detach());
        static_cast<void>(pool->take().detach());
        pool.reset();
      },
      "^drey: vector pool: vector 0x[0-9a-f]+ is out, taken at 0x[0-9a-f]+ \\(.*\\)\n"
      "drey: vector pool: vector 0x[0-9a-f]+ is out, taken at 0x[0-9a-f]+ \\(.*\\)\n"
      "drey: vector pool: destroyed with 2 vectors out\n");
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(VectorChecks, MakeEveryValueOfAFreeVectorANumberThatShows) {
  VectorPool225 pool(checked(1));
  const float* const values = pool.take().values().data();
  EXPECT_TRUE(std::all_of(values, values + 225, [](float value) { return std::isnan(value); }));
}
#else
TEST(VectorChecksDeathTest, FindALateReadUnderAddressSanitizer) {
  EXPECT_DEATH(
      {
        VectorPool225 pool(checked(1));
        const volatile float* const late = pool.take().values().data();
        std::exit(late[3] > 0 ? 1 : 0);
      },
      kLateRead);
}
#endif

TEST(VectorChecks, LetARightProgramBe) {
  for (const VectorContents contents : {VectorContents::kUnspecified, VectorContents::kZero}) {
    VectorPoolOptions options = checked(20);
    options.contents = contents;
    VectorPool225 pool(options);
    ASSERT_TRUE(pool.is_checked());
    for (int round = 0; round < 100; ++round) {
      const PooledVector single = pool.take();
      std::ranges::fill(single.values(), 1.0F);
      EXPECT_EQ(std::ranges::count(single->lanes().subspan(225), 0.0F), 15);
      const VectorBatch batch = pool.take_batch(11);
      for (std::size_t i = 0; i < batch.count(); ++i) std::ranges::fill(batch[i].values(), 2.0F);
      SharedVector shared(pool.take());
      const SharedVector copy = shared;
    }
    EXPECT_TRUE(pool.invariants_hold());
  }
}

TEST(VectorChecks, AreOnByTheEnvironmentAndOffByThePool) {
  ASSERT_EQ(setenv("DREY_POOL_CHECKS", "1", 1), 0);
  EXPECT_TRUE(VectorPool225(4).is_checked());
  EXPECT_FALSE(VectorPool225({.capacity = 4, .checks = VectorChecks::kOff}).is_checked());
  ASSERT_EQ(setenv("DREY_POOL_CHECKS", "0", 1), 0);
  EXPECT_FALSE(VectorPool225(4).is_checked());
  ASSERT_EQ(unsetenv("DREY_POOL_CHECKS"), 0);
}
}  // namespace
}  // namespace drey
