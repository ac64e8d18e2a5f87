// indicators.hpp: quantities that more than one group of features needs, computed once a bar.
// Invariant: after push() all of them include the bar just pushed, but volatility_before.
// Read next: bar_context.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

#include "trainer/features/history.hpp"
#include "trainer/features/regime.hpp"
#include "trainer/features/smoothing.hpp"
#include "trainer/features/window_math.hpp"
#include "trainer/features/window_statistics.hpp"

namespace drey::trainer {
struct Indicators {
  WilderMean atr_14{14};
  ExponentialMean ema_12{12};
  ExponentialMean ema_20{20};
  ExponentialMean ema_26{26};
  double atr_floor = 0.0;          ///< ATR below this counts as none: 1e-12 of the price
  double volatility = 0.0;         ///< sqrt of the EWMA of r^2, lambda 0.94
  double volatility_before = 0.0;  ///< the same, one bar earlier
  double std_20 = 0.0;             ///< population std of r
  double std_240 = 0.0;
  double volume_mean_20 = 0.0;
  Regime regime = Regime::kRange;

  /// `index` counts bars from 0; `history` and `windows` include the bar.
  void push(std::size_t index, const History& history, const WindowStatistics& windows) {
    const double close = history.close.newest();
    atr_floor = 1e-12 * close;
    ema_12.push(close);
    ema_20.push(close);
    ema_26.push(close);
    volume_mean_20 = windows.pairs.sums<20>().mean_x[kVolumeTypical];
    if (index == 0) return;
    atr_14.push(history.true_range.newest());
    push_volatility(index, history.log_return.newest());
    std_20 = std::sqrt(windows.returns.variance<20>(0));
    std_240 = std::sqrt(windows.returns.variance<240>(0));
    regime = regime_of(history, windows, std_20, std_240);
  }

  /// `value` in units of ATR(14); 0 while nothing moves.
  [[nodiscard]] double in_atr(double value) const {
    return ratio_or_zero(value, atr_14.value(), atr_floor);
  }
  /// `value` in units of the mean volume of 20 bars; 0 while nothing trades.
  [[nodiscard]] double in_volume(double value) const {
    return ratio_or_zero(value, volume_mean_20, 1e-9);
  }

 private:
  // Source: RiskMetrics technical document, 4th edition 1996, lambda 0.94; seeded with the first
  // r^2.
  void push_volatility(std::size_t index, double log_return) {
    constexpr double kLambda = 0.94;
    volatility_before = volatility;
    const double square = log_return * log_return;
    variance_ = index == 1 ? square : kLambda * variance_ + (1.0 - kLambda) * square;
    volatility = std::sqrt(variance_);
  }

  double variance_ = 0.0;
};
}  // namespace drey::trainer
