// scale_test.cpp: the unit of the price does not matter: prices times 10 (or 8) give the same rows.
// Exempt by definition: amihud_20 and amihud_60, which are per unit of traded money.
// The bars are not rounded to ticks: a tie of two prices times 10 need not be a tie.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <iostream>
#include <string_view>

#include "trainer/features/feature_series.hpp"

namespace drey::trainer {
namespace {
bool depends_on_the_unit(std::string_view name) {
  return name == "amihud_20" || name == "amihud_60";
}

void expect_same_rows(double factor, std::int64_t bar_length_ns) {
  constexpr std::uint64_t kSeed = 12;
  std::cout << "seed " << kSeed << "\n";
  BarSeries series = synthetic_bars(
      {.row_count = 1'000, .seed = kSeed, .bar_length_ns = bar_length_ns, .tick = 0.0});
  const FeatureMatrix plain = compute_features(series);
  for (Bar& bar : series.bars) {
    bar.open *= factor;
    bar.high *= factor;
    bar.low *= factor;
    bar.close *= factor;
  }
  const FeatureMatrix scaled = compute_features(series);
  for (std::size_t row = 0; row < plain.rows(); ++row) {
    for (std::size_t i = 0; i < kFeatureDim; ++i) {
      if (depends_on_the_unit(kFeatureNames[i])) continue;
      const double want = plain.row(row)[i];
      ASSERT_NEAR(scaled.row(row)[i], want, 1e-5 * std::max(1.0, std::abs(want)))
          << kFeatureNames[i] << " of row " << row;
    }
  }
}

TEST(Scale, PricesTimesTenGiveTheSameRows) {
  expect_same_rows(10.0, kMinuteNs);
}

TEST(Scale, PricesTimesAPowerOfTwoGiveTheSameRows) {
  expect_same_rows(8.0, kMinuteNs);
}

TEST(Scale, SmallPricesGiveTheSameRows) {
  expect_same_rows(1e-6, kMinuteNs);
}

TEST(Scale, DailyPricesTimesTenGiveTheSameRows) {
  expect_same_rows(10.0, kDayNs);
}

TEST(Scale, AmihudFallsWithTheUnit) {
  BarSeries series = synthetic_bars(600, 12);
  const double plain = last_value(compute_features(series), "amihud_20");
  for (Bar& bar : series.bars) {
    bar.open *= 10.0;
    bar.high *= 10.0;
    bar.low *= 10.0;
    bar.close *= 10.0;
  }
  const double scaled = last_value(compute_features(series), "amihud_20");
  EXPECT_NEAR(std::expm1(plain), 10.0 * std::expm1(scaled), 1e-5 * std::expm1(plain));
}
}  // namespace
}  // namespace drey::trainer
