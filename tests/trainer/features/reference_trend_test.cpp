// reference_trend_test.cpp: features 56 to 79 against their definitions.
// SPDX-License-Identifier: MIT
#include <string>

#include "trainer/features/naive.hpp"

namespace drey::trainer::naive {
namespace {
class TrendReference : public ReferenceTest {};

TEST_F(TrendReference, DistanceFromSimpleAndExponentialMeans) {
  const Market& m = market_;
  const auto sma = [&](std::size_t t, std::size_t span) { return mean(window(m.close, t, span)); };
  for (const std::size_t span : {5, 10, 20, 50, 100, 200})
    expect_feature("sma_dist_" + std::to_string(span),
                   [&](std::size_t t) { return std::log(m.close[t] / sma(t, span)); });
  for (const std::size_t span : {5, 12, 26, 50, 100, 200}) {
    const Column line = ema(m.close, span);
    expect_feature("ema_dist_" + std::to_string(span),
                   [&](std::size_t t) { return std::log(m.close[t] / line[t]); });
  }
  const Column ema_12 = ema(m.close, 12);
  const Column ema_26 = ema(m.close, 26);
  expect_feature("ema12_26", [&](std::size_t t) { return std::log(ema_12[t] / ema_26[t]); });
  expect_feature("sma20_50", [&](std::size_t t) { return std::log(sma(t, 20) / sma(t, 50)); });
  expect_feature("sma50_200", [&](std::size_t t) { return std::log(sma(t, 50) / sma(t, 200)); });
}

TEST_F(TrendReference, WeightedDoubleAndTripleMeans) {
  const Market& m = market_;
  expect_feature("wma20_dist", [&](std::size_t t) {
    long double total = 0;
    for (std::size_t i = 0; i < 20; ++i) total += static_cast<long double>(20 - i) * m.close[t - i];
    return std::log(m.close[t] / (total / 210));
  });
  const Column first = ema(m.close, 20);
  const Column second = ema(first, 20, 19);
  const Column third = ema(second, 20, 38);
  expect_feature("dema20_dist",
                 [&](std::size_t t) { return std::log(m.close[t] / (2 * first[t] - second[t])); });
  expect_feature("tema20_dist", [&](std::size_t t) {
    return std::log(m.close[t] / (3 * first[t] - 3 * second[t] + third[t]));
  });
}

TEST_F(TrendReference, KaufmanMean) {
  const Market& m = market_;
  Column line(kBars, 0);
  line[9] = m.close[9];
  for (std::size_t t = 10; t < kBars; ++t) {
    long double path = 0;
    for (std::size_t i = 0; i < 10; ++i) path += std::abs(m.close[t - i] - m.close[t - i - 1]);
    const long double efficiency = path == 0 ? 1 : std::abs(m.close[t] - m.close[t - 10]) / path;
    const long double weight = std::pow(efficiency * (2.0L / 3 - 2.0L / 31) + 2.0L / 31, 2.0L);
    line[t] = weight * m.close[t] + (1 - weight) * line[t - 1];
  }
  expect_feature("kama10_dist", [&](std::size_t t) { return std::log(m.close[t] / line[t]); });
}

TEST_F(TrendReference, FittedLines) {
  const Market& m = market_;
  for (const std::size_t span : {20, 60}) {
    Column index;
    for (std::size_t i = 0; i < span; ++i) index.push_back(static_cast<long double>(i));
    expect_feature("linreg_slope_" + std::to_string(span),
                   [&](std::size_t t) { return slope(window(m.close, t, span)) / m.close[t]; });
    expect_feature("linreg_r2_" + std::to_string(span), [&](std::size_t t) {
      return std::pow(correlation(index, window(m.close, t, span)), 2.0L);
    });
  }
}

// Wilder's rules, one branch for each direction.
Column parabolic_stop(const Market& m) {
  Column result(m.close.size(), 0);
  const long double fall = m.low[0] - m.low[1];
  const long double rise = m.high[1] - m.high[0];
  bool is_long = !(fall > 0 && fall > rise);
  long double extreme = is_long ? m.high[1] : m.low[1];
  long double stop = is_long ? m.low[0] : m.high[0];
  long double factor = 0.02L;
  for (std::size_t t = 1; t < m.close.size(); ++t) {
    const std::size_t before = t == 1 ? 1 : t - 1;
    if (is_long && m.low[t] <= stop) {
      is_long = false;
      stop = std::max({extreme, m.high[before], m.high[t]});
      result[t] = stop;
      factor = 0.02L;
      extreme = m.low[t];
      stop = std::max({stop + factor * (extreme - stop), m.high[before], m.high[t]});
    } else if (is_long) {
      result[t] = stop;
      if (m.high[t] > extreme) {
        extreme = m.high[t];
        factor = std::min(factor + 0.02L, 0.2L);
      }
      stop = std::min({stop + factor * (extreme - stop), m.low[before], m.low[t]});
    } else if (m.high[t] >= stop) {
      is_long = true;
      stop = std::min({extreme, m.low[before], m.low[t]});
      result[t] = stop;
      factor = 0.02L;
      extreme = m.high[t];
      stop = std::min({stop + factor * (extreme - stop), m.low[before], m.low[t]});
    } else {
      result[t] = stop;
      if (m.low[t] < extreme) {
        extreme = m.low[t];
        factor = std::min(factor + 0.02L, 0.2L);
      }
      stop = std::max({stop + factor * (extreme - stop), m.high[before], m.high[t]});
    }
  }
  return result;
}

TEST_F(TrendReference, ParabolicStop) {
  const Column stop = parabolic_stop(market_);
  expect_feature("sar_dist", [&](std::size_t t) { return std::log(market_.close[t] / stop[t]); });
}
}  // namespace
}  // namespace drey::trainer::naive
