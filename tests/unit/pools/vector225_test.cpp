// vector225_test.cpp: the shape of one observation, most of it proved while compiling.
// SPDX-License-Identifier: MIT
#include <drey/pools/vector225.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <type_traits>

namespace drey {
namespace {
static_assert(sizeof(Vector225) == 960, "15 cache lines");
static_assert(sizeof(std::array<Vector225, 2>) == 1920, "the stride is the size");
static_assert(std::is_trivially_copyable_v<Vector225>);

// A vector takes 225 floats. Anything else is refused by the compiler, not at run time.
template <std::size_t kLength>
constexpr bool kConstructible = requires(std::span<const float, kLength> source) {
  Vector225(source);
};
static_assert(kConstructible<225>);
static_assert(!kConstructible<224> && !kConstructible<226> && !kConstructible<0>);
static_assert(!kConstructible<std::dynamic_extent>, "a length known at run time only is no proof");
static_assert(!std::is_constructible_v<Vector225, std::span<const double, 225>>);
static_assert(!std::is_convertible_v<std::span<const float, 225>, Vector225>, "a copy is explicit");
static_assert(std::is_same_v<decltype(std::declval<Vector225&>().values()), std::span<float, 225>>);
static_assert(std::is_same_v<decltype(std::declval<const Vector225&>().values()),
                             std::span<const float, 225>>);

TEST(Vector225, StartsZeroInAllLanes) {
  const Vector225 vector;
  EXPECT_TRUE(std::ranges::all_of(vector.lanes(), [](float lane) { return lane == 0.0F; }));
}

TEST(Vector225, CopiesValuesAndKeepsTheTailZero) {
  std::array<float, 225> source{};
  std::iota(source.begin(), source.end(), 1.0F);
  const Vector225 vector{std::span<const float, 225>(source)};
  EXPECT_TRUE(std::ranges::equal(vector.values(), source));
  EXPECT_EQ(std::ranges::count(vector.lanes().subspan(225), 0.0F), 15);
}

TEST(Vector225, LanesAreTheValuesAndThenZeros) {
  Vector225 vector;
  std::ranges::fill(vector.values(), 2.0F);
  EXPECT_EQ(std::ranges::count(vector.lanes(), 2.0F), 225);
  EXPECT_EQ(std::ranges::count(vector.lanes(), 0.0F), 15);
  static_assert(std::is_same_v<decltype(vector.lanes()), std::span<const float, 240>>,
                "nobody writes to the tail");
}

TEST(PackedVector225, IsItsValuesAndNothingElse) {
  std::array<float, 225> source{};
  std::iota(source.begin(), source.end(), 1.0F);
  const PackedVector225 vector{std::span<const float, 225>(source)};
  EXPECT_TRUE(std::ranges::equal(vector.values(), source));
  static_assert(sizeof(std::array<PackedVector225, 2>) == 1800);
  static_assert(sizeof(PackedVector<unsigned char, 33>) == 36);
  static_assert(sizeof(PackedVector<double, 9>) == 72);
  static_assert(!std::is_constructible_v<PackedVector225, std::span<const float, 224>>);
}

TEST(PaddedVector, FillsWholeCacheLinesForAnyNumberAndCount) {
  EXPECT_EQ(sizeof(PaddedVector<float, 16>), 64U);
  EXPECT_EQ(sizeof(PaddedVector<float, 17>), 128U);
  EXPECT_EQ((PaddedVector<double, 225>::kLaneCount), 232U);
  EXPECT_EQ(sizeof(PaddedVector<unsigned char, 1>), 64U);
}

}  // namespace
}  // namespace drey
