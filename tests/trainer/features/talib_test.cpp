// talib_test.cpp: every feature that has a function of TA-Lib (features named by feature_names.hpp)
// against that function, at ten times its period and later.
// Tolerance: 2e-6 of the value, 2e-8 absolute: what a float can hold, and what TA-Lib's running sums
// lose. What TA-Lib has no value for is left out; that is never more than a quarter of the bars.
// TA-Lib's NVI and PVI are declared, but compute nothing: those two have their naive reference alone.
// Read next: oracle.hpp.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <map>

#include "trainer/data/csv_reader.hpp"
#include "trainer/features/feature_series.hpp"
#include "trainer/features/oracle.hpp"

namespace drey::trainer::oracle {
namespace {
constexpr std::size_t kBars = 4'000;
constexpr std::size_t kFirstCompared = 2'500;  // ten times 200, after the warm-up
constexpr int kSimpleMean = 0;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// The bars as columns and what TA-Lib says of them, by the name of the feature.
class Expected {
 public:
  Expected(const Library& library, const BarSeries& series) : ta_(library) {
    for (const Bar& bar : series.bars) {
      open_.push_back(bar.open);
      high_.push_back(bar.high);
      low_.push_back(bar.low);
      close_.push_back(bar.close);
      volume_.push_back(bar.volume);
      index_.push_back(static_cast<double>(close_.size()));
      const double before = close_[close_.size() < 2 ? 0 : close_.size() - 2];
      return_.push_back(std::log(bar.close / before));
      log_volume_.push_back(std::log(bar.volume + 1.0));
    }
    atr_14_ = ta_.call("TA_ATR", high_, low_, close_, 14);
    volume_mean_ = ta_.call("TA_SMA", volume_, 20);
    trend();
    oscillators();
    momentum();
    ranges();
    bands();
    volume_flows();
    volume_indices();
    patterns();
    directional();
  }
  [[nodiscard]] const std::map<std::string, Real>& features() const { return features_; }

 private:
  template <class Function>
  void add(const std::string& name, Function value) {
    Real column(close_.size());
    for (std::size_t t = 0; t < column.size(); ++t) column[t] = value(t);
    features_[name] = std::move(column);
  }
  void add_distance(const std::string& name, const Real& line) {
    add(name, [&](std::size_t t) { return std::log(close_[t] / line[t]); });
  }
  void add_scaled(const std::string& name, const Real& column, double scale, double offset) {
    add(name, [&](std::size_t t) { return column[t] * scale + offset; });
  }
  void add_ratio(const std::string& name, const Real& column, const Real& unit) {
    add(name, [&](std::size_t t) { return column[t] / unit[t]; });
  }

  void trend() {
    std::map<int, Real> sma;
    for (const int period : {5, 10, 20, 50, 100, 200}) {
      sma[period] = ta_.call("TA_SMA", close_, period);
      add_distance("sma_dist_" + std::to_string(period), sma[period]);
    }
    std::map<int, Real> ema;
    for (const int period : {5, 12, 26, 50, 100, 200}) {
      ema[period] = ta_.call("TA_EMA", close_, period);
      add_distance("ema_dist_" + std::to_string(period), ema[period]);
    }
    add_distance("wma20_dist", ta_.call("TA_WMA", close_, 20));
    add_distance("dema20_dist", ta_.call("TA_DEMA", close_, 20));
    add_distance("tema20_dist", ta_.call("TA_TEMA", close_, 20));
    add_distance("kama10_dist", ta_.call("TA_KAMA", close_, 10));
    add("ema12_26", [&](std::size_t t) { return std::log(ema[12][t] / ema[26][t]); });
    add("sma20_50", [&](std::size_t t) { return std::log(sma[20][t] / sma[50][t]); });
    add("sma50_200", [&](std::size_t t) { return std::log(sma[50][t] / sma[200][t]); });
    for (const int period : {20, 60}) {
      const std::string span = std::to_string(period);
      add_ratio("linreg_slope_" + span, ta_.call("TA_LINEARREG_SLOPE", close_, period), close_);
      const Real r = ta_.call("TA_CORREL", close_, index_, period);
      add("linreg_r2_" + span, [&](std::size_t t) { return r[t] * r[t]; });
    }
    add_distance("sar_dist", ta_.call("TA_SAR", high_, low_, 0.02, 0.2));
  }

  void oscillators() {
    for (const int period : {7, 14, 28})
      add_scaled("rsi_" + std::to_string(period), ta_.call("TA_RSI", close_, period), 0.02, -1);
    const auto stoch_rsi = ta_.call_several<2>("TA_STOCHRSI", close_, 14, 5, 3, kSimpleMean);
    const Real rsi = ta_.call("TA_RSI", close_, 14);
    // An RSI that rests, the close not moving, has no place in its range: TA-Lib takes one from the
    // rounding, or 0; drey says the middle. Such windows are not compared.
    const auto rests = [&](std::size_t t) {
      const auto end = rsi.begin() + static_cast<std::ptrdiff_t>(t + 1);
      return t < 5 || *std::max_element(end - 5, end) - *std::min_element(end - 5, end) < 1e-6;
    };
    add("stochrsi_k",
        [&](std::size_t t) { return rests(t) ? kNothing : stoch_rsi[0][t] * 0.02 - 1; });
    add("stochrsi_d", [&](std::size_t t) {
      const bool is_clear = t >= 2 && !rests(t) && !rests(t - 1) && !rests(t - 2);
      return is_clear ? stoch_rsi[1][t] * 0.02 - 1 : kNothing;
    });
    const auto stoch =
        ta_.call_several<2>("TA_STOCH", high_, low_, close_, 14, 3, kSimpleMean, 3, kSimpleMean);
    add_scaled("stoch_k", stoch[0], 0.02, -1);
    add_scaled("stoch_d", stoch[1], 0.02, -1);
    const auto fast = ta_.call_several<2>("TA_STOCHF", high_, low_, close_, 5, 3, kSimpleMean);
    add_scaled("stochf_k", fast[0], 0.02, -1);
    add_scaled("willr_14", ta_.call("TA_WILLR", high_, low_, close_, 14), 0.02, 1);
    add_scaled("cci_20", ta_.call("TA_CCI", high_, low_, close_, 20), 1.0 / 200, 0);
    add_scaled("cmo_14", ta_.call("TA_CMO", close_, 14), 0.01, 0);
    add_scaled("ultosc", ta_.call("TA_ULTOSC", high_, low_, close_, 7, 14, 28), 0.02, -1);
    const auto aroon = ta_.call_several<2>("TA_AROON", high_, low_, 25);
    add_scaled("aroon_down_25", aroon[0], 0.01, 0);
    add_scaled("aroon_up_25", aroon[1], 0.01, 0);
    add_scaled("aroon_osc_25", ta_.call("TA_AROONOSC", high_, low_, 25), 0.01, 0);
    add_scaled("bop", ta_.call("TA_BOP", open_, high_, low_, close_), 1, 0);
  }

  void momentum() {
    for (const int period : {5, 10, 20})
      add_scaled("roc_" + std::to_string(period), ta_.call("TA_ROCP", close_, period), 1, 0);
    add_ratio("mom10_atr", ta_.call("TA_MOM", close_, 10), atr_14_);
    const auto macd = ta_.call_several<3>("TA_MACD", close_, 12, 26, 9);
    add_ratio("macd", macd[0], atr_14_);
    add_ratio("macd_signal", macd[1], atr_14_);
    add_ratio("macd_hist", macd[2], atr_14_);
    add_scaled("ppo", ta_.call("TA_PPO", close_, 12, 26, kSimpleMean), 0.01, 0);
    add_scaled("trix_15", ta_.call("TA_TRIX", close_, 15), 100, 0);
  }

  void ranges() {
    for (const int period : {7, 14, 28})
      add_scaled("natr_" + std::to_string(period), ta_.call("TA_NATR", high_, low_, close_, period),
                 0.01, 0);
    add_ratio("tr_pct", ta_.call("TA_TRANGE", high_, low_, close_), close_);
    for (const int period : {20, 55}) {
      const std::string span = std::to_string(period);
      const Real low = ta_.call("TA_MIN", low_, period);
      const Real high = ta_.call("TA_MAX", high_, period);
      add("donchian_pos_" + span,
          [&](std::size_t t) { return (close_[t] - low[t]) / (high[t] - low[t]) - 0.5; });
      add("donchian_width_" + span, [&](std::size_t t) { return (high[t] - low[t]) / close_[t]; });
    }
  }

  void bands() {
    const auto band = ta_.call_several<3>("TA_BBANDS", close_, 20, 2.0, 2.0, kSimpleMean);
    const Real& upper = band[0];
    const Real& middle = band[1];
    const Real& lower = band[2];
    add("bb_pctb_20",
        [&](std::size_t t) { return (close_[t] - lower[t]) / (upper[t] - lower[t]) - 0.5; });
    add("bb_width_20", [&](std::size_t t) { return (upper[t] - lower[t]) / middle[t]; });
    const Real ema = ta_.call("TA_EMA", close_, 20);
    const Real atr = ta_.call("TA_ATR", high_, low_, close_, 20);
    add("kc_pos_20", [&](std::size_t t) { return (close_[t] - ema[t]) / (2 * atr[t]); });
    add("kc_width_20", [&](std::size_t t) { return 4 * atr[t] / ema[t]; });
    add("squeeze", [&](std::size_t t) {
      const bool inside = upper[t] < ema[t] + 2 * atr[t] && lower[t] > ema[t] - 2 * atr[t];
      return inside ? 1.0 : 0.0;
    });
  }

  void volume_flows() {
    for (const int period : {5, 20, 60}) {
      const Real mean = ta_.call("TA_SMA", volume_, period);
      add("vol_rel_" + std::to_string(period),
          [&](std::size_t t) { return std::log((volume_[t] + 1) / (mean[t] + 1)); });
    }
    const Real obv = ta_.call("TA_OBV", close_, volume_);
    add_ratio("obv_slope_20", ta_.call("TA_LINEARREG_SLOPE", obv, 20), volume_mean_);
    const Real mean = ta_.call("TA_SMA", obv, 60);
    const Real deviation = ta_.call("TA_STDDEV", obv, 60, 1.0);
    add("obv_z_60", [&](std::size_t t) { return (obv[t] - mean[t]) / deviation[t]; });
    const Real ad = ta_.call("TA_AD", high_, low_, close_, volume_);
    add_ratio("ad_slope_20", ta_.call("TA_LINEARREG_SLOPE", ad, 20), volume_mean_);
    add_ratio("adosc", ta_.call("TA_ADOSC", high_, low_, close_, volume_, 3, 10), volume_mean_);
    const Real flow = ta_.call("TA_MFI", high_, low_, close_, volume_, 14);
    add("mfi_14", [&](std::size_t t) { return ends_on_a_tie(t) ? kNothing : flow[t] * 0.02 - 1; });
  }

  // Typical prices that are equal but for the last bits of their sums: TA-Lib takes the rounding for a
  // move, drey for the tie it is. Such windows are not compared.
  [[nodiscard]] bool ends_on_a_tie(std::size_t t) const {
    const auto typical = [&](std::size_t i) { return (high_[i] + low_[i] + close_[i]) / 3.0; };
    for (std::size_t i = t < 14 ? 1 : t - 13; i <= t; ++i) {
      const double moved = std::abs(typical(i) - typical(i - 1));
      if (moved != 0.0 && moved < 1e-12 * typical(i)) return true;
    }
    return false;
  }

  void volume_indices() {
    Real force;
    for (std::size_t t = 0; t < close_.size(); ++t) force.push_back(return_[t] * volume_[t]);
    add_ratio("force_13", ta_.call("TA_EMA", force, 13), volume_mean_);
    for (const int period : {20, 60})
      add_scaled("ret_vol_corr_" + std::to_string(period),
                 ta_.call("TA_CORREL", return_, log_volume_, period), 1, 0);
  }

  void patterns() {
    const auto pattern = [&](const char* feature, const char* function) {
      add_scaled(feature, ta_.call_pattern(function, open_, high_, low_, close_), 0.01, 0);
    };
    pattern("cdl_doji", "TA_CDLDOJI");
    pattern("cdl_hammer", "TA_CDLHAMMER");
    pattern("cdl_engulfing", "TA_CDLENGULFING");
    pattern("cdl_harami", "TA_CDLHARAMI");
    pattern("cdl_3whitesoldiers", "TA_CDL3WHITESOLDIERS");
    pattern("cdl_3blackcrows", "TA_CDL3BLACKCROWS");
    pattern("cdl_marubozu", "TA_CDLMARUBOZU");
    pattern("cdl_3inside", "TA_CDL3INSIDE");
    add_scaled("cdl_morningstar",
               ta_.call_pattern("TA_CDLMORNINGSTAR", open_, high_, low_, close_, 0.3), 0.01, 0);
    add_scaled("cdl_eveningstar",
               ta_.call_pattern("TA_CDLEVENINGSTAR", open_, high_, low_, close_, 0.3), 0.01, 0);
  }

  void directional() {
    for (const auto& [name, function] : {std::pair{"adx_14", "TA_ADX"},
                                         {"adxr_14", "TA_ADXR"},
                                         {"dx_14", "TA_DX"},
                                         {"plus_di_14", "TA_PLUS_DI"},
                                         {"minus_di_14", "TA_MINUS_DI"}})
      add_scaled(name, ta_.call(function, high_, low_, close_, 14), 0.02, -1);
  }

  const Library& ta_;
  Real open_, high_, low_, close_, volume_, index_, return_, log_volume_;
  Real atr_14_, volume_mean_;
  std::map<std::string, Real> features_;
};

constexpr std::size_t kFeaturesOfTaLib = 88;

void expect_agreement(const BarSeries& series) {
  const Library library;
  if (!library.is_there())
    GTEST_SKIP() << "TA-Lib is not there (scripts/get-oracle brings it): " << library.path();
  const FeatureMatrix matrix = compute_features(series);
  const Expected expected(library, series);
  EXPECT_EQ(expected.features().size(), kFeaturesOfTaLib);
  for (const auto& [name, column] : expected.features()) {
    std::size_t left_out = 0;
    const std::size_t feature = feature_index(name);
    ASSERT_LT(feature, kFeatureDim) << name;
    for (std::size_t t = kFirstCompared; t < series.bars.size(); ++t) {
      if (!std::isfinite(column[t])) {
        ++left_out;
        continue;
      }
      const double have = matrix.row(t - kWarmupBars)[feature];
      EXPECT_NEAR(have, column[t], 2e-8 + 2e-6 * std::abs(column[t])) << name << " of bar " << t;
      if (testing::Test::HasFailure()) break;
    }
    EXPECT_LT(left_out, (series.bars.size() - kFirstCompared) / 4) << name;
  }
}

TEST(TaLib, AgreesOnSyntheticBars) {
  constexpr std::uint64_t kSeed = 90;
  std::cout << "seed " << kSeed << "\n";
  expect_agreement(synthetic_bars(kBars, kSeed));
}

TEST(TaLib, AgreesOnDailySyntheticBars) {
  constexpr std::uint64_t kSeed = 91;
  std::cout << "seed " << kSeed << "\n";
  expect_agreement(
      synthetic_bars({.row_count = kBars, .seed = kSeed, .bar_length_ns = kDayNs, .tick = 0.0}));
}

TEST(TaLib, AgreesOnRealBars) {
  const char* folder = std::getenv("DREY_SHARED_DATA");
  const std::string root = folder != nullptr ? folder : DREY_SHARED_DATA_DEFAULT;
  const std::string path = root + "/sp500_daily_2000-2020_vega.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "real bars are not on this machine";
  expect_agreement(read_csv(path));
}
}  // namespace
}  // namespace drey::trainer::oracle
