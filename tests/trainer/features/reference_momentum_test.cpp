// reference_momentum_test.cpp: features 80 to 104 and 211 to 215 against their definitions.
// SPDX-License-Identifier: MIT
#include <string>

#include "trainer/features/naive.hpp"

namespace drey::trainer::naive {
namespace {
class MomentumReference : public ReferenceTest {
 protected:
  // 0 to 100; 50 where nothing moved.
  [[nodiscard]] Column strength(std::size_t period) const {
    Column gain(kBars, 0);
    Column loss(kBars, 0);
    for (std::size_t t = 1; t < kBars; ++t) {
      gain[t] = std::max(market_.change[t], 0.0L);
      loss[t] = std::max(-market_.change[t], 0.0L);
    }
    const Column up = wilder(gain, period);
    const Column down = wilder(loss, period);
    Column result(kBars, 50);
    for (std::size_t t = period; t < kBars; ++t) {
      if (up[t] + down[t] > 0) result[t] = 100 - 100 / (1 + up[t] / down[t]);
    }
    return result;
  }
  // Of `values` among `lows` and `highs` of the last `count` bars, 0 to 100.
  static long double place(const Column& values, const Column& lows, const Column& highs,
                           std::size_t t, std::size_t count) {
    const long double low = lowest(window(lows, t, count));
    const long double high = highest(window(highs, t, count));
    return high - low < 1e-9L ? 50 : 100 * (values[t] - low) / (high - low);
  }
  [[nodiscard]] long double fast_k(std::size_t t, std::size_t count) const {
    return place(market_.close, market_.low, market_.high, t, count);
  }
  [[nodiscard]] Column atr_14() const { return wilder(market_.true_range, 14); }
};

TEST_F(MomentumReference, RelativeStrength) {
  for (const std::size_t period : {7, 14, 28}) {
    const Column line = strength(period);
    expect_feature("rsi_" + std::to_string(period),
                   [&](std::size_t t) { return line[t] / 50 - 1; });
  }
}

TEST_F(MomentumReference, ChandeSmoothedByWilderIsRelativeStrengthAgain) {
  const Column line = strength(14);
  expect_feature("cmo_14", [&](std::size_t t) { return (2 * line[t] - 100) / 100; });
}

TEST_F(MomentumReference, Stochastics) {
  const auto slow = [&](std::size_t t) {
    return (fast_k(t, 14) + fast_k(t - 1, 14) + fast_k(t - 2, 14)) / 3;
  };
  expect_feature("stochf_k", [&](std::size_t t) { return fast_k(t, 5) / 50 - 1; });
  expect_feature("stoch_k", [&](std::size_t t) { return slow(t) / 50 - 1; });
  expect_feature("stoch_d",
                 [&](std::size_t t) { return (slow(t) + slow(t - 1) + slow(t - 2)) / 150 - 1; });
  expect_feature("willr_14", [&](std::size_t t) {
    const long double high = highest(window(market_.high, t, 14));
    const long double low = lowest(window(market_.low, t, 14));
    return -100 * (high - market_.close[t]) / (high - low) / 50 + 1;
  });
  const Column line = strength(14);
  const auto k = [&](std::size_t t) { return place(line, line, line, t, 5); };
  expect_feature("stochrsi_k", [&](std::size_t t) { return k(t) / 50 - 1; });
  expect_feature("stochrsi_d",
                 [&](std::size_t t) { return (k(t) + k(t - 1) + k(t - 2)) / 150 - 1; });
}

TEST_F(MomentumReference, CommodityChannelIndex) {
  expect_feature("cci_20", [&](std::size_t t) {
    const Column typical = window(market_.typical, t, 20);
    const long double middle = mean(typical);
    Column distances;
    for (const long double value : typical) distances.push_back(std::abs(value - middle));
    return (typical.back() - middle) / (0.015L * mean(distances)) / 200;
  });
}

TEST_F(MomentumReference, RatesOfChange) {
  const Column& close = market_.close;
  for (const std::size_t span : {5, 10, 20})
    expect_feature("roc_" + std::to_string(span),
                   [&](std::size_t t) { return (close[t] - close[t - span]) / close[t - span]; });
  const Column atr = atr_14();
  expect_feature("mom10_atr", [&](std::size_t t) { return (close[t] - close[t - 10]) / atr[t]; });
}

TEST_F(MomentumReference, DifferencesOfMeans) {
  const Column& close = market_.close;
  const Column atr = atr_14();
  const Column fast = ema(close, 12);
  const Column slow = ema(close, 26);
  Column macd(kBars, 0);
  for (std::size_t t = 25; t < kBars; ++t) macd[t] = fast[t] - slow[t];
  const Column signal = ema(macd, 9, 25);
  expect_feature("macd", [&](std::size_t t) { return macd[t] / atr[t]; });
  expect_feature("macd_signal", [&](std::size_t t) { return signal[t] / atr[t]; });
  expect_feature("macd_hist", [&](std::size_t t) { return (macd[t] - signal[t]) / atr[t]; });
  expect_feature("ppo", [&](std::size_t t) {
    return mean(window(close, t, 12)) / mean(window(close, t, 26)) - 1;
  });
  const Column third = ema(ema(ema(close, 15), 15, 14), 15, 28);
  expect_feature("trix_15",
                 [&](std::size_t t) { return 10'000 * (third[t] - third[t - 1]) / third[t - 1]; });
}

TEST_F(MomentumReference, UltimateOscillator) {
  const Market& m = market_;
  const auto average = [&](std::size_t t, std::size_t span) {
    long double pressure = 0;
    long double range = 0;
    for (std::size_t i = t + 1 - span; i <= t; ++i) {
      pressure += m.close[i] - std::min(m.low[i], m.close[i - 1]);
      range += std::max(m.high[i], m.close[i - 1]) - std::min(m.low[i], m.close[i - 1]);
    }
    return pressure / range;
  };
  expect_feature("ultosc", [&](std::size_t t) {
    return 100 * (4 * average(t, 7) + 2 * average(t, 14) + average(t, 28)) / 7 / 50 - 1;
  });
}

TEST_F(MomentumReference, Aroon) {
  const auto age = [](const Column& values, long double wanted) {
    std::size_t bars = 0;
    while (values[values.size() - 1 - bars] != wanted) ++bars;
    return static_cast<long double>(bars);
  };
  const auto up = [&](std::size_t t) {
    const Column values = window(market_.high, t, 26);
    return (25 - age(values, highest(values))) / 25;
  };
  const auto down = [&](std::size_t t) {
    const Column values = window(market_.low, t, 26);
    return (25 - age(values, lowest(values))) / 25;
  };
  expect_feature("aroon_up_25", up);
  expect_feature("aroon_down_25", down);
  expect_feature("aroon_osc_25", [&](std::size_t t) { return up(t) - down(t); });
}

TEST_F(MomentumReference, DirectionalMovement) {
  const Market& m = market_;
  Column rise(kBars, 0);
  Column fall(kBars, 0);
  for (std::size_t t = 1; t < kBars; ++t) {
    const long double up = m.high[t] - m.high[t - 1];
    const long double down = m.low[t - 1] - m.low[t];
    if (up > down && up > 0) rise[t] = up;
    if (down > up && down > 0) fall[t] = down;
  }
  // Seeded a little differently from the program: after 500 bars that weighs (13/14)^500.
  const Column up = wilder(rise, 14);
  const Column down = wilder(fall, 14);
  const Column range = wilder(m.true_range, 14);
  Column dx(kBars, 0);
  for (std::size_t t = 14; t < kBars; ++t)
    dx[t] = 100 * std::abs(up[t] - down[t]) / (up[t] + down[t]);
  const Column adx = wilder(dx, 14, 14);
  expect_feature("plus_di_14", [&](std::size_t t) { return 2 * up[t] / range[t] - 1; });
  expect_feature("minus_di_14", [&](std::size_t t) { return 2 * down[t] / range[t] - 1; });
  expect_feature("dx_14", [&](std::size_t t) { return dx[t] / 50 - 1; });
  expect_feature("adx_14", [&](std::size_t t) { return adx[t] / 50 - 1; });
  expect_feature("adxr_14", [&](std::size_t t) { return (adx[t] + adx[t - 13]) / 100 - 1; });
}
}  // namespace
}  // namespace drey::trainer::naive
