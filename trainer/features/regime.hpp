// regime.hpp: which of three states the market is in, bar by bar.
//   volatile  std of r over 20 bars > 1.5 times that over 240
//   trend     else, |C_t - C_{t-20}| > 0.35 times the path walked in those 20 bars
//   range     else
// A random walk's ratio over 20 steps is about 0.22; both limits are ours, chosen so that each
// state takes a fair part of real minute and daily bars.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "trainer/features/history.hpp"
#include "trainer/features/window_math.hpp"
#include "trainer/features/window_statistics.hpp"

namespace drey::trainer {
enum class Regime : std::uint8_t { kTrend, kRange, kVolatile };
inline constexpr std::size_t kRegimeCount = 3;

/// |C_t - C_{t-20}| over the sum of |C_i - C_{i-1}|: 1 is a straight line, 0 no progress.
[[nodiscard]] inline double efficiency_20(const History& history, const WindowStatistics& windows) {
  const double path = 20.0 * windows.pairs.sums<20>().mean_x[kPathVolume];
  const double progress = std::abs(history.close.newest() - history.close.ago(20));
  return ratio_or_zero(progress, path, 1e-12 * history.close.newest());
}

[[nodiscard]] inline Regime regime_of(const History& history, const WindowStatistics& windows,
                                      double std_20, double std_240) {
  constexpr double kVolatileRatio = 1.5;
  constexpr double kTrendEfficiency = 0.35;
  if (std_20 > kVolatileRatio * std_240 + kStdFloor) return Regime::kVolatile;
  return efficiency_20(history, windows) > kTrendEfficiency ? Regime::kTrend : Regime::kRange;
}
}  // namespace drey::trainer
