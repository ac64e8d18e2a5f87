// reference_volatility_test.cpp: features 105 to 128 against their definitions.
// SPDX-License-Identifier: MIT
#include <numbers>
#include <string>

#include "trainer/features/naive.hpp"

namespace drey::trainer::naive {
namespace {
class VolatilityReference : public ReferenceTest {
 protected:
  [[nodiscard]] long double log_ratio(const Column& a, const Column& b, std::size_t t) const {
    return std::log(a[t] / b[t]);
  }
  [[nodiscard]] Column per_bar(const std::function<long double(std::size_t)>& term) const {
    Column result;
    for (std::size_t t = 0; t < kBars; ++t) result.push_back(term(t));
    return result;
  }
  [[nodiscard]] Column rogers_satchell() const {
    const Market& m = market_;
    return per_bar([&](std::size_t t) {
      return log_ratio(m.high, m.close, t) * log_ratio(m.high, m.open, t) +
             log_ratio(m.low, m.close, t) * log_ratio(m.low, m.open, t);
    });
  }
};

TEST_F(VolatilityReference, AverageTrueRange) {
  for (const std::size_t period : {7, 14, 28}) {
    const Column atr = wilder(market_.true_range, period);
    expect_feature("natr_" + std::to_string(period),
                   [&](std::size_t t) { return atr[t] / market_.close[t]; });
  }
  expect_feature("tr_pct", [&](std::size_t t) { return market_.true_range[t] / market_.close[t]; });
}

TEST_F(VolatilityReference, BandsAndChannels) {
  const Column& close = market_.close;
  const Column line = ema(close, 20);
  const Column atr = wilder(market_.true_range, 20);
  const auto middle = [&](std::size_t t) { return mean(window(close, t, 20)); };
  const auto half = [&](std::size_t t) { return 2 * deviation(window(close, t, 20)); };
  expect_feature("bb_pctb_20", [&](std::size_t t) {
    const long double lower = middle(t) - half(t);
    return (close[t] - lower) / (2 * half(t)) - 0.5L;
  });
  expect_feature("bb_width_20", [&](std::size_t t) { return 2 * half(t) / middle(t); });
  expect_feature("kc_pos_20", [&](std::size_t t) { return (close[t] - line[t]) / (2 * atr[t]); });
  expect_feature("kc_width_20", [&](std::size_t t) { return 4 * atr[t] / line[t]; });
  expect_feature("squeeze", [&](std::size_t t) {
    const bool below = middle(t) + half(t) < line[t] + 2 * atr[t];
    const bool above = middle(t) - half(t) > line[t] - 2 * atr[t];
    return below && above ? 1.0L : 0.0L;
  });
  for (const std::size_t span : {20, 55}) {
    const auto high = [&](std::size_t t) { return highest(window(market_.high, t, span)); };
    const auto low = [&](std::size_t t) { return lowest(window(market_.low, t, span)); };
    expect_feature("donchian_pos_" + std::to_string(span),
                   [&](std::size_t t) { return (close[t] - low(t)) / (high(t) - low(t)) - 0.5L; });
    expect_feature("donchian_width_" + std::to_string(span),
                   [&](std::size_t t) { return (high(t) - low(t)) / close[t]; });
  }
}

TEST_F(VolatilityReference, RangeEstimators) {
  const Market& m = market_;
  const Column range =
      per_bar([&](std::size_t t) { return std::pow(log_ratio(m.high, m.low, t), 2.0L); });
  const Column garman_klass = per_bar([&](std::size_t t) {
    return 0.5L * range[t] - (2 * std::numbers::ln2_v<long double> - 1) *
                                 std::pow(log_ratio(m.close, m.open, t), 2.0L);
  });
  const Column rs = rogers_satchell();
  for (const std::size_t span : {10, 30}) {
    const std::string suffix = "_" + std::to_string(span);
    expect_feature("parkinson" + suffix, [&](std::size_t t) {
      return std::sqrt(mean(window(range, t, span)) / (4 * std::numbers::ln2_v<long double>));
    });
    expect_feature("garman_klass" + suffix, [&](std::size_t t) {
      return std::sqrt(std::max(0.0L, mean(window(garman_klass, t, span))));
    });
    expect_feature("rogers_satchell" + suffix, [&](std::size_t t) {
      return std::sqrt(std::max(0.0L, mean(window(rs, t, span))));
    });
  }
}

TEST_F(VolatilityReference, YangZhang) {
  const Market& m = market_;
  const Column night =
      per_bar([&](std::size_t t) { return t == 0 ? 0 : std::log(m.open[t] / m.close[t - 1]); });
  const Column day = per_bar([&](std::size_t t) { return log_ratio(m.close, m.open, t); });
  const Column rs = rogers_satchell();
  const long double k = 0.34L / (1.34L + 31.0L / 29.0L);
  expect_feature("yang_zhang_30", [&](std::size_t t) {
    const long double sample = 30.0L / 29.0L;
    return std::sqrt(sample * central(window(night, t, 30), 2) +
                     k * sample * central(window(day, t, 30), 2) +
                     (1 - k) * mean(window(rs, t, 30)));
  });
}

TEST_F(VolatilityReference, RatiosAndWeightedVolatility) {
  const Column& r = market_.r;
  const auto ratio = [&](std::size_t t, std::size_t a, std::size_t b) {
    return deviation(window(r, t, a)) / deviation(window(r, t, b)) - 1;
  };
  expect_feature("vol_ratio_10_60", [&](std::size_t t) { return ratio(t, 10, 60); });
  expect_feature("vol_ratio_60_240", [&](std::size_t t) { return ratio(t, 60, 240); });
  Column variance(kBars, 0);
  for (std::size_t t = 1; t < kBars; ++t)
    variance[t] = t == 1 ? r[1] * r[1] : 0.94L * variance[t - 1] + 0.06L * r[t] * r[t];
  expect_feature("ewma_vol", [&](std::size_t t) { return std::sqrt(variance[t]); });
  expect_feature("bipower_ratio_60", [&](std::size_t t) {
    long double realised = 0;
    long double bipower = 0;
    for (std::size_t i = t - 59; i <= t; ++i) {
      realised += r[i] * r[i];
      if (i > t - 59) bipower += std::abs(r[i] * r[i - 1]);
    }
    return std::numbers::pi_v<long double> / 2 * (bipower / 59) / (realised / 60);
  });
}
}  // namespace
}  // namespace drey::trainer::naive
