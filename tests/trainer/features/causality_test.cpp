// causality_test.cpp: a row knows nothing of later bars, and streaming gives the same bits as a
// whole series.
// Method: cut the series after bar t, or replace all that follows, and compare row t bit by bit.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <iostream>
#include <string>

#include "trainer/data/error.hpp"
#include "trainer/features/feature_series.hpp"

namespace drey::trainer {
namespace {
constexpr std::uint64_t kSeed = 41;
constexpr std::size_t kBars = 1'300;

void expect_same_bits(std::span<const float, kFeatureDim> a, std::span<const float, kFeatureDim> b,
                      std::size_t bar) {
  for (std::size_t i = 0; i < kFeatureDim; ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(a[i]), std::bit_cast<std::uint32_t>(b[i]))
        << kFeatureNames[i] << " of bar " << bar << ": " << a[i] << " and " << b[i];
}

TEST(Causality, CuttingTheSeriesAfterABarLeavesItsRowBitEqual) {
  std::cout << "seed " << kSeed << "\n";
  const BarSeries whole = synthetic_bars(kBars, kSeed);
  const FeatureMatrix all = compute_features(whole);
  for (std::size_t t = kWarmupBars; t < kBars; t = t < 518 ? t + 1 : t + 53) {
    BarSeries cut = whole;
    cut.bars.resize(t + 1);
    const FeatureMatrix some = compute_features(cut);
    ASSERT_EQ(some.rows(), t + 1 - kWarmupBars);
    expect_same_bits(some.row(t - kWarmupBars), all.row(t - kWarmupBars), t);
  }
}

TEST(Causality, AnotherFutureLeavesThePastBitEqual) {
  std::cout << "seed " << kSeed << "\n";
  const BarSeries whole = synthetic_bars(kBars, kSeed);
  const FeatureMatrix all = compute_features(whole);
  for (const std::size_t t : {kWarmupBars, std::size_t{600}, std::size_t{900}}) {
    BarSeries other = whole;
    for (std::size_t i = t + 1; i < kBars; ++i) {
      other.bars[i].timestamp_ns += static_cast<std::int64_t>(i) * kHourNs;
      other.bars[i].high *= 3.0;
      other.bars[i].close = other.bars[i].high;
      other.bars[i].volume = 0.0;
    }
    const FeatureMatrix changed = compute_features(other);
    for (std::size_t bar = kWarmupBars; bar <= t; ++bar)
      expect_same_bits(changed.row(bar - kWarmupBars), all.row(bar - kWarmupBars), bar);
  }
}

TEST(Causality, StreamGivesTheSameBitsAsTheWholeSeries) {
  std::cout << "seed " << kSeed << "\n";
  const BarSeries whole = synthetic_bars(kBars, kSeed);
  const FeatureMatrix all = compute_features(whole);
  FeatureStream stream;
  for (std::size_t t = 0; t < kBars; ++t) {
    const bool ready = stream.push(whole.bars[t]);
    ASSERT_EQ(ready, t >= kWarmupBars) << t;
    if (ready) expect_same_bits(stream.row(), all.row(t - kWarmupBars), t);
  }
}

TEST(Causality, MovedStreamGoesOnWhereItWas) {
  const BarSeries whole = synthetic_bars(kBars, kSeed);
  const FeatureMatrix all = compute_features(whole);
  FeatureStream first;
  for (std::size_t t = 0; t < 700; ++t) first.push(whole.bars[t]);
  FeatureStream second = std::move(first);
  ASSERT_TRUE(second.push(whole.bars[700]));
  expect_same_bits(second.row(), all.row(700 - kWarmupBars), 700);
}

TEST(Causality, OldHistoryIsForgottenByWindows) {
  // The same last 400 bars after different beginnings: window features must be bit-equal.
  const BarSeries whole = synthetic_bars(1'000, kSeed);
  BarSeries other = whole;
  for (std::size_t i = 0; i < 600; ++i) {
    Bar& bar = other.bars[i];
    bar.high *= 1e6;  // a sum that adds and removes would never recover from this
    bar.open = bar.low = bar.close = bar.high;
    bar.volume *= 1e9;
  }
  const FeatureMatrix a = compute_features(whole);
  const FeatureMatrix b = compute_features(other);
  for (const std::string name :
       {"ret_mean_240", "ret_kurt_240", "sma_dist_200", "linreg_r2_60", "bb_width_20", "vol_z_240",
        "obv_z_60", "cmf_20", "mfi_14", "vwap_dist_60", "vpin_50", "roll_spread_60", "acf10_60",
        "hurst_120", "vr10_120", "perm_entropy_60", "donchian_pos_55", "yang_zhang_30"}) {
    EXPECT_EQ(last_value(a, name), last_value(b, name)) << name;
  }
}

TEST(Features, MatrixBeginsAfterTheWarmup) {
  const FeatureMatrix matrix = compute_features(synthetic_bars(kWarmupBars + 3, kSeed));
  EXPECT_EQ(matrix.rows(), 3u);
  EXPECT_EQ(matrix.first_bar(), kWarmupBars);
}

TEST(Features, TailLanesOfARowStayZero) {
  const FeatureMatrix matrix = compute_features(synthetic_bars(kWarmupBars + 3, kSeed));
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::size_t i = kFeatureDim; i < kFeatureStride; ++i)
      EXPECT_EQ(matrix.data()[row * kFeatureStride + i], 0.0F);
  }
}

TEST(Features, TooFewBarsAreCounted) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, kWarmupBars}) {
    BarSeries series = synthetic_bars(count, kSeed);
    series.source = "short.csv";
    try {
      static_cast<void>(compute_features(series));
      FAIL() << "no error for " << count;
    } catch (const DataError& error) {
      EXPECT_EQ(std::string(error.what()),
                "short.csv: expected at least 513 bars, as the features need 512 before their "
                "first row, found " +
                    std::to_string(count));
    }
  }
}
}  // namespace
}  // namespace drey::trainer
