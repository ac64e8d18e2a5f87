// naive.hpp: the features' definitions once more, as slow and as plain as possible: whole columns,
// long double, every window summed anew. Shares no code with trainer/features, so that the
// reference tests compare two independent writings of each formula.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iostream>
#include <string_view>
#include <vector>

#include "trainer/data/synthetic_bars.hpp"
#include "trainer/features/feature_names.hpp"
#include "trainer/features/features.hpp"

namespace drey::trainer::naive {
using Column = std::vector<long double>;

/// A series as columns. Value t of each belongs to bar t; r[0] is 0.
struct Market {
  explicit Market(const BarSeries& series) {
    for (const Bar& bar : series.bars) {
      time_ns.push_back(bar.timestamp_ns);
      open.push_back(bar.open);
      high.push_back(bar.high);
      low.push_back(bar.low);
      close.push_back(bar.close);
      volume.push_back(bar.volume);
      typical.push_back((high.back() + low.back() + close.back()) / 3);
      const std::size_t t = close.size() - 1;
      const long double before = t == 0 ? close[0] : close[t - 1];
      r.push_back(std::log(close[t] / before));
      change.push_back(close[t] - before);
      true_range.push_back(
          std::max({high[t] - low[t], std::abs(high[t] - before), std::abs(low[t] - before)}));
      log_volume.push_back(std::log(volume[t] + 1));
    }
  }
  std::vector<std::int64_t> time_ns;
  Column open, high, low, close, volume, typical, r, change, true_range, log_volume;
};

/// Values t - count + 1 to t of a column, minus `lag`.
inline Column window(const Column& values, std::size_t t, std::size_t count, std::size_t lag = 0) {
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(t + 1 - lag);
  return {end - static_cast<std::ptrdiff_t>(count), end};
}
inline long double sum(const Column& values) {
  long double total = 0;
  for (const long double value : values) total += value;
  return total;
}
inline long double mean(const Column& values) {
  return sum(values) / static_cast<long double>(values.size());
}
/// Mean of the k-th power of the deviations from the mean.
inline long double central(const Column& values, int k) {
  const long double m = mean(values);
  long double total = 0;
  for (const long double value : values) total += std::pow(value - m, k);
  return total / static_cast<long double>(values.size());
}
inline long double deviation(const Column& values) {
  return std::sqrt(central(values, 2));
}
inline long double covariance(const Column& x, const Column& y) {
  long double products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) products += x[i] * y[i];
  return products / static_cast<long double>(x.size()) - mean(x) * mean(y);
}
inline long double correlation(const Column& x, const Column& y) {
  const long double scale = deviation(x) * deviation(y);
  return scale == 0 ? 0 : covariance(x, y) / scale;
}
inline long double highest(const Column& values) {
  return *std::max_element(values.begin(), values.end());
}
inline long double lowest(const Column& values) {
  return *std::min_element(values.begin(), values.end());
}
/// Slope of the least-squares line, by the normal equations.
inline long double slope(const Column& values) {
  Column index;
  for (std::size_t i = 0; i < values.size(); ++i) index.push_back(static_cast<long double>(i));
  return covariance(index, values) / central(index, 2);
}
/// Recursive mean, seeded with the plain mean of the first `period` values from `first` on.
inline Column smoothed(const Column& values, std::size_t period, long double weight,
                       std::size_t first) {
  Column result(values.size(), 0);
  const std::size_t seed = first + period - 1;
  result[seed] = mean(window(values, seed, period));
  for (std::size_t t = seed + 1; t < values.size(); ++t)
    result[t] = (1 - weight) * result[t - 1] + weight * values[t];
  return result;
}
inline Column ema(const Column& values, std::size_t period, std::size_t first = 0) {
  return smoothed(values, period, 2.0L / (static_cast<long double>(period) + 1), first);
}
inline Column wilder(const Column& values, std::size_t period, std::size_t first = 1) {
  return smoothed(values, period, 1.0L / static_cast<long double>(period), first);
}

/// Features of a fixed synthetic series, compared name by name with a naive function of t.
class ReferenceTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kSeed = 20'231'117;
  static constexpr std::size_t kBars = 1'400;

  static void SetUpTestSuite() {
    std::cout << "synthetic bars, seed " << kSeed << "\n";
    series = synthetic_bars(kBars, kSeed);
    matrix = compute_features(series);
  }

  /// Checks every row. `tolerance` is relative to max(1e-3, |expected|).
  static void expect_feature(std::string_view name,
                             const std::function<long double(std::size_t)>& expected,
                             double tolerance = 2e-6) {
    const std::size_t index = feature_index(name);
    ASSERT_LT(index, kFeatureDim) << name;
    for (std::size_t t = kWarmupBars; t < kBars; ++t) {
      const double want = static_cast<double>(expected(t));
      const double have = matrix.row(t - kWarmupBars)[index];
      ASSERT_NEAR(have, want, tolerance * std::max(1e-3, std::abs(want)))
          << name << " of bar " << t;
    }
  }

  static inline BarSeries series;
  static inline FeatureMatrix matrix;
  Market market_{series};
};
}  // namespace drey::trainer::naive
