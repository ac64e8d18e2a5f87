// statistics_test.cpp: medians, quartiles, ratios and ties against values worked out by hand.
// SPDX-License-Identifier: MIT
#include "race/statistics.hpp"

#include <gtest/gtest.h>

namespace drey::bench {
namespace {
TEST(Statistics, MedianOfAnOddNumberIsTheMiddleOne) {
  EXPECT_DOUBLE_EQ(quantile({9, 1, 5}, 0.5), 5);
}

TEST(Statistics, QuartilesLieBetweenNeighbours) {
  const Summary summary = summarise({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(summary.lower_quartile, 1.75);
  EXPECT_DOUBLE_EQ(summary.median, 2.5);
  EXPECT_DOUBLE_EQ(summary.upper_quartile, 3.25);
  EXPECT_DOUBLE_EQ(summary.interquartile_range(), 1.5);
  EXPECT_EQ(summary.count, 4u);
}

TEST(Statistics, OneSampleIsItsOwnSummary) {
  const Summary summary = summarise({7});
  EXPECT_DOUBLE_EQ(summary.lower_quartile, 7);
  EXPECT_DOUBLE_EQ(summary.median, 7);
  EXPECT_DOUBLE_EQ(summary.upper_quartile, 7);
}

TEST(Statistics, NoSamplesAreAllZero) {
  EXPECT_EQ(summarise({}).count, 0u);
}

TEST(Statistics, RatiosAreTakenWithinARound) {
  // The machine was half as fast in the second round; the ratio does not see it.
  const Comparison comparison = compare({1, 2, 1}, {2, 4, 2});
  EXPECT_DOUBLE_EQ(comparison.ratio.median, 0.5);
  EXPECT_DOUBLE_EQ(comparison.ratio.interquartile_range(), 0);
  EXPECT_FALSE(comparison.is_tie);
}

TEST(Statistics, RatiosStopWhereOneSideHasNoMoreRounds) {
  EXPECT_EQ(paired_ratios({1, 2, 3}, {1, 1}).size(), 2u);
}

TEST(Statistics, DifferenceInsideTheSpreadIsATie) {
  EXPECT_TRUE(compare({0.90, 1.00, 1.10}, {1, 1, 1}).is_tie);
  EXPECT_TRUE(compare({0.80, 0.95, 1.05}, {1, 1, 1}).is_tie);
  EXPECT_FALSE(compare({0.79, 0.80, 0.81}, {1, 1, 1}).is_tie);
}

TEST(Statistics, CasesOfNanosecondsAreATieBelowTenPercent) {
  EXPECT_TRUE(compare({0.93, 0.93, 0.93}, {1, 1, 1}, kCaseDifferenceMin).is_tie);
  EXPECT_FALSE(compare({0.89, 0.89, 0.89}, {1, 1, 1}, kCaseDifferenceMin).is_tie);
}

TEST(Statistics, SpreadOfProgramsCountsAsTwoPercentAtLeast) {
  EXPECT_TRUE(compare({0.99, 0.99, 0.99}, {1, 1, 1}).is_tie);
  EXPECT_FALSE(compare({0.97, 0.97, 0.97}, {1, 1, 1}).is_tie);
}

TEST(Statistics, FewerThanThreeRoundsAreATieBelowTenPercent) {
  EXPECT_TRUE(compare({0.91, 0.91}, {1, 1}).is_tie);
  EXPECT_FALSE(compare({0.89, 0.89}, {1, 1}).is_tie);
}

TEST(Statistics, GeometricMeanOfTwiceAndHalfIsOne) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 0.5}), 1);
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean({}), 0);
}
}  // namespace
}  // namespace drey::bench
