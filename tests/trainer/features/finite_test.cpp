// finite_test.cpp: no series that keeps its promises can make a feature infinite or not a number,
// and where a market does nothing the features say nothing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>

#include "trainer/data/csv_reader.hpp"
#include "trainer/features/feature_series.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kBars = 900;

TEST(Finite, ConstantPriceAndVolume) {
  for (const double price : {100.0, 0.1, 1.1, 1e-12, 1e15}) {
    const FeatureMatrix matrix = compute_features(flat_bars(kBars, price, 1'000.0));
    expect_finite(matrix);
  }
}

TEST(Finite, ConstantPriceHasNoOpinion) {
  const FeatureMatrix matrix = compute_features(flat_bars(kBars, 1.1, 1'000.0));
  for (const std::string name : {"body",
                                 "clv",
                                 "ret_std_240",
                                 "ret_skew_60",
                                 "ret_kurt_60",
                                 "rsi_14",
                                 "stochrsi_k",
                                 "stoch_k",
                                 "willr_14",
                                 "cci_20",
                                 "cmo_14",
                                 "mom10_atr",
                                 "macd",
                                 "ultosc",
                                 "bop",
                                 "bb_pctb_20",
                                 "kc_pos_20",
                                 "donchian_pos_20",
                                 "vol_ratio_10_60",
                                 "vol_z_60",
                                 "mfi_14",
                                 "cmf_20",
                                 "roll_spread_20",
                                 "corwin_schultz",
                                 "kyle_lambda_20",
                                 "tick_imb_20",
                                 "vpin_20",
                                 "efficiency_20",
                                 "run_length",
                                 "acf1_60",
                                 "hurst_120",
                                 "vr5_120",
                                 "perm_entropy_60",
                                 "ar1_halflife_60",
                                 "linreg_r2_20",
                                 "linreg_slope_60",
                                 "regime_sharpe_120",
                                 "cusum_pos"})
    EXPECT_EQ(last_value(matrix, name), 0.0) << name;
  EXPECT_EQ(last_value(matrix, "atr_rank_240"), 0.5);
  EXPECT_EQ(last_value(matrix, "pos_mult"), 1.0);
}

TEST(Finite, ZeroVolumeEverywhere) {
  std::cout << "seed 3\n";
  BarSeries series = synthetic_bars(kBars, 3);
  for (Bar& bar : series.bars) bar.volume = 0.0;
  const FeatureMatrix matrix = compute_features(series);
  expect_finite(matrix);
  for (const std::string name :
       {"vol_z_240", "vol_rel_20", "obv_slope_20", "obv_z_60", "adosc", "cmf_20", "mfi_14",
        "force_13", "nvi_ret_20", "ret_vol_corr_20", "updown_vol_20", "rel_vol_tod", "amihud_20",
        "kyle_lambda_60", "tick_imb_5", "vpin_50"})
    EXPECT_EQ(last_value(matrix, name), 0.0) << name;
}

TEST(Finite, VolumeWeightedPriceFallsBackToThePlainMean) {
  BarSeries series = synthetic_bars(kBars, 3);
  for (Bar& bar : series.bars) bar.volume = 0.0;
  const BarSeries without = series;
  for (Bar& bar : series.bars) bar.volume = 7.0;
  const FeatureMatrix plain = compute_features(without);
  const FeatureMatrix weighted = compute_features(series);
  for (const std::string name : {"vwap_dist_20", "vwap_dist_60", "vwap_dist_sess", "vwap_slope_20"})
    EXPECT_NEAR(last_value(plain, name), last_value(weighted, name), 1e-9) << name;
}

TEST(Finite, SingleTradeInADeadMarket) {
  BarSeries series = flat_bars(kBars, 50.0, 0.0);
  series.bars[600] = {series.bars[600].timestamp_ns, 50.0, 51.0, 49.0, 50.5, 1.0};
  expect_finite(compute_features(series));
}

TEST(Finite, ExtremePricesVolumesAndGaps) {
  constexpr std::uint64_t kSeed = 77;
  std::cout << "seed " << kSeed << "\n";
  std::mt19937_64 random(kSeed);
  const auto power = [&](double low, double high) {
    const double share = static_cast<double>(random() >> 11) * 0x1p-53;
    return std::pow(10.0, low + (high - low) * share);
  };
  BarSeries series;
  std::int64_t time_ns = 0;
  for (std::size_t i = 0; i < 2'500; ++i) {
    const double a = power(-12, 15);
    const double b = power(-12, 15);
    const bool traded = random() % 3 != 0;
    series.bars.push_back(
        {time_ns, a, std::max(a, b), std::min(a, b), b, traded ? power(-12, 18) : 0.0});
    time_ns +=
        random() % 50 == 0 ? 400 * kDayNs / 100 : static_cast<std::int64_t>(random() % 9 + 1);
  }
  expect_finite(compute_features(series));
}

TEST(Finite, CrashAndRecoveryByAMillion) {
  BarSeries series = synthetic_bars(1'500, 5);
  for (std::size_t i = 0; i < series.bars.size(); ++i) {
    const double scale = i > 700 && i <= 1'100 ? 1e-6 : 1.0;
    Bar& bar = series.bars[i];
    bar.open *= scale;
    bar.high *= scale;
    bar.low *= scale;
    bar.close *= scale;
  }
  expect_finite(compute_features(series));
}

TEST(Finite, DailyHourlyAndSecondBars) {
  for (const std::int64_t length_ns : {kDayNs, kHourNs, kSecondNs})
    expect_finite(compute_features(
        synthetic_bars({.row_count = kBars, .seed = 9, .bar_length_ns = length_ns})));
}

TEST(Finite, DailyBarsHaveASensibleCalendar) {
  const FeatureMatrix matrix =
      compute_features(synthetic_bars({.row_count = kBars, .seed = 9, .bar_length_ns = kDayNs}));
  EXPECT_EQ(last_value(matrix, "since_open"), 0.0);
  EXPECT_EQ(last_value(matrix, "to_close"), 1.0);
  EXPECT_EQ(last_value(matrix, "is_rth"), 1.0);
  double after_gap = 0.0;
  for (std::size_t row = 0; row < matrix.rows(); ++row)
    after_gap += matrix.row(row)[feature_index("after_gap")];
  EXPECT_NEAR(after_gap / static_cast<double>(matrix.rows()), 0.2, 0.01) << "Mondays";
}

TEST(Finite, RealBars) {
  const char* folder = std::getenv("DREY_SHARED_DATA");
  const std::string root = folder != nullptr ? folder : DREY_SHARED_DATA_DEFAULT;
  std::size_t files = 0;
  for (const char* name :
       {"sp500_daily_2000-2020_vega.csv.gz", "eurusd_1h_2017_gym-anytrading.csv.gz",
        "es_front_1min.csv.gz", "spy_1s_2013-10.csv.gz"}) {
    const std::string path = root + "/" + name;
    if (!std::filesystem::exists(path)) continue;
    ++files;
    BarSeries series = read_csv(path);
    if (series.bars.size() > 1'500) series.bars.resize(1'500);
    expect_finite(compute_features(series));
  }
  if (files == 0) GTEST_SKIP() << "real bars are not on this machine";
}
}  // namespace
}  // namespace drey::trainer
