// group_moments.hpp: features 32 to 55: mean, deviation, skewness and excess kurtosis of returns.
// Population moments. A flat window (deviation <= 1e-12) has no shape: skewness and kurtosis 0.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/window_math.hpp"

namespace drey::trainer {
struct Moments {
  double mean;
  double deviation;
  double skewness;
  double excess_kurtosis;
};

/// Two passes over `count` values.
[[nodiscard]] inline Moments moments_of(const double* values, std::size_t count) {
  const Spread spread = spread_of(values, count);
  if (!(spread.deviation > kStdFloor)) return {spread.mean, spread.deviation, 0.0, 0.0};
  const double n = static_cast<double>(count);
  const double scale = 1.0 / spread.deviation;
  const double cubes = sum_of(count, [=](std::size_t i) {
    const double z = (values[i] - spread.mean) * scale;
    return z * z * z;
  });
  const double fourths = sum_of(count, [=](std::size_t i) {
    const double z = (values[i] - spread.mean) * scale;
    return (z * z) * (z * z);
  });
  return {spread.mean, spread.deviation, cubes / n, fourths / n - 3.0};
}

class MomentsGroup {
 public:
  static constexpr std::size_t kFirst = 32;
  static constexpr std::array<std::size_t, 6> kSpans = {5, 10, 20, 60, 120, 240};
  static constexpr std::size_t kCount = 4 * kSpans.size();

  void push(const BarContext&) {}

  void write(const BarContext& context, FeatureWriter& out) const {
    for (const std::size_t span : kSpans) {
      const Moments moments = moments_of(context.history.log_return.last(span), span);
      out.put(moments.mean);
      out.put(moments.deviation);
      out.put(moments.skewness);
      out.put(moments.excess_kurtosis);
    }
  }
};
}  // namespace drey::trainer
