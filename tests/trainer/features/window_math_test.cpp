// window_math_test.cpp: windows stay contiguous, and their sums are exact where they can be.
// SPDX-License-Identifier: MIT
#include "trainer/features/window_math.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "trainer/features/extremes.hpp"
#include "trainer/features/window.hpp"

namespace drey::trainer {
namespace {
TEST(Window, LastValuesAreContiguousAndOldestFirst) {
  Window<8> window;
  for (int value = 1; value <= 100; ++value) {
    window.push(value);
    for (std::size_t count = 1; count <= 8; ++count) {
      const double* values = window.last(count);
      for (std::size_t i = 0; i < count; ++i) {
        const double expected = value - static_cast<double>(count - 1 - i);
        ASSERT_EQ(values[i], expected > 0.0 ? expected : 0.0) << value << " " << count << " " << i;
      }
    }
  }
  EXPECT_EQ(window.newest(), 100.0);
  EXPECT_EQ(window.ago(7), 93.0);
  EXPECT_EQ(window.last(3, 2)[2], 98.0);
}

TEST(WindowMath, SumsOfWholeNumbersAreExactForEveryLength) {
  std::vector<double> values;
  double expected = 0.0;
  for (std::size_t count = 1; count <= 70; ++count) {
    values.push_back(static_cast<double>(count * count));
    expected += values.back();
    EXPECT_EQ(sum_of(values.data(), count), expected);
  }
}

TEST(WindowMath, EqualValuesHaveNoDeviationHoweverLarge) {
  for (const double value : {0.1, 1.1, 1e15, 1e-12}) {
    const std::vector<double> values(60, value);
    EXPECT_EQ(spread_of(values.data(), values.size()).deviation, 0.0) << value;
    EXPECT_EQ(spread_of(values.data(), values.size()).mean, value);
  }
}

TEST(WindowMath, SmallDeviationOnALargeValueIsNotLost) {
  std::vector<double> values(60);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e9 + (i % 2 == 0 ? 0.25 : -0.25);
  EXPECT_DOUBLE_EQ(spread_of(values.data(), values.size()).deviation, 0.25);
}

TEST(WindowMath, RatioIsHeldWithinAMillion) {
  EXPECT_EQ(bounded_ratio(2.0, 1.0), 2.0);
  EXPECT_EQ(bounded_ratio(1.0, -5.0), 1e6);
  EXPECT_EQ(bounded_ratio(1.0, 0.0), 1e6);
  EXPECT_EQ(bounded_ratio(1e-9, 1e9), 1e-6);
}

TEST(Extremes, AreFoundWhereverTheyStand) {
  for (std::size_t count = 1; count <= 30; ++count) {
    for (std::size_t at = 0; at < count; ++at) {
      std::vector<double> values(count, 1.0);
      values[at] = 2.0;
      EXPECT_EQ(highest_of(values.data(), count), 2.0);
      EXPECT_EQ(age_of(values.data(), count, 2.0), count - 1 - at);
      values[at] = 0.5;
      EXPECT_EQ(lowest_of(values.data(), count), 0.5);
    }
  }
}

TEST(Extremes, OfEqualOnesTheNewestCounts) {
  const std::vector<double> values = {2.0, 1.0, 2.0, 1.0};
  EXPECT_EQ(age_of(values.data(), values.size(), 2.0), 1u);
}
}  // namespace
}  // namespace drey::trainer
