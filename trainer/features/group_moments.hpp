// group_moments.hpp: features 32 to 55: mean, deviation, skewness and excess kurtosis of returns
// over 5, 10, 20, 60, 120 and 240 bars.
// Population moments. A flat window (deviation <= 1e-12) has no shape: skewness and kurtosis 0.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/window_math.hpp"

namespace drey::trainer {
class MomentsGroup {
 public:
  static constexpr std::size_t kFirst = 32;
  static constexpr std::size_t kCount = 24;  // four moments over six windows

  void push(const BarContext&) {}

  void write(const BarContext& context, FeatureWriter& out) const {
    const auto& returns = context.windows.returns;
    put<5>(returns.sums<5>(), out);
    put<10>(returns.sums<10>(), out);
    put<20>(returns.sums<20>(), out);
    put<60>(returns.sums<60>(), out);
    put<120>(returns.sums<120>(), out);
    put<240>(returns.sums<240>(), out);
  }

 private:
  template <std::size_t kSpan>
  static void put(const MomentSums<1>& sums, FeatureWriter& out) {
    constexpr double kValues = kSpan;
    const double variance = sums.squares[0] / kValues;
    const double deviation = std::sqrt(variance);
    const bool has_shape = deviation > kStdFloor;
    out.put(sums.mean[0]);
    out.put(deviation);
    out.put(has_shape ? sums.cubes[0] / (kValues * variance * deviation) : 0.0);
    out.put(has_shape ? sums.fourths[0] / (kValues * variance * variance) - 3.0 : 0.0);
  }
};
}  // namespace drey::trainer
