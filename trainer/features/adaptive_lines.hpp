// adaptive_lines.hpp: two price lines that adapt to the market: Kaufman's mean and Wilder's SAR.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "trainer/data/bars.hpp"
#include "trainer/features/history.hpp"
#include "trainer/features/window_math.hpp"

namespace drey::trainer {
/// Source: TA-Lib's definition of KAMA(10), after Kaufman 1995, "Smarter Trading": the weight moves
/// between those of EMA(2) and EMA(30) with the square of the efficiency ratio. A flat window
/// counts as efficient. Starts from the close before its first full window.
class KaufmanMean {
 public:
  static constexpr std::size_t kPeriod = 10;

  /// `index` counts bars from 0; `history` includes the bar.
  void push(std::size_t index, const History& history) {
    const double close = history.close.newest();
    if (index < kPeriod) {
      value_ = close;
      return;
    }
    const double* changes = history.close_change.last(kPeriod);
    const double path = sum_of(kPeriod, [changes](std::size_t i) { return std::abs(changes[i]); });
    const double progress = std::abs(close - history.close.ago(kPeriod));
    const double efficiency = path > 1e-12 * close ? std::min(1.0, progress / path) : 1.0;
    constexpr double kFast = 2.0 / 3.0;
    constexpr double kSlow = 2.0 / 31.0;
    const double root = efficiency * (kFast - kSlow) + kSlow;
    value_ += root * root * (close - value_);
  }
  [[nodiscard]] double value() const { return value_; }

 private:
  double value_ = 0.0;
};

/// Source: TA-Lib's definition of SAR(0.02, 0.2), after Wilder 1978. value() is the stop that is in
/// force during the present bar. The first trend is down when the second bar's fall of the low
/// exceeds its rise of the high.
class ParabolicStop {
 public:
  void push(std::size_t index, const Bar& bar, const Bar& previous) {
    if (index == 0) return;
    if (index == 1) start(bar, previous);
    const double low_before = index == 1 ? bar.low : previous.low;
    const double high_before = index == 1 ? bar.high : previous.high;
    // Both directions are one rule: going down, everything is mirrored.
    if (rising_) {
      advance(bar.high, bar.low, high_before, low_before, 1.0);
    } else {
      advance(-bar.low, -bar.high, -low_before, -high_before, -1.0);
    }
  }
  [[nodiscard]] double value() const { return value_; }

 private:
  static constexpr double kStep = 0.02;
  static constexpr double kStepMax = 0.2;

  void start(const Bar& bar, const Bar& previous) {
    const double rise = bar.high - previous.high;
    const double fall = previous.low - bar.low;
    rising_ = !(fall > 0.0 && fall > rise);
    extreme_ = rising_ ? bar.high : bar.low;
    next_ = rising_ ? previous.low : previous.high;
    step_ = kStep;
  }

  // In a rising frame: `direction` -1 means that all prices come negated.
  void advance(double high, double low, double high_before, double low_before, double direction) {
    double stop = next_ * direction;
    double extreme = extreme_ * direction;
    if (low <= stop) {
      // Touched: turn round. The new stop is the old extreme, outside the last two bars.
      stop = std::max({extreme, high_before, high});
      value_ = stop * direction;
      rising_ = !rising_;
      step_ = kStep;
      extreme_ = low * direction;
      next_ = std::max({stop + step_ * (low - stop), high_before, high}) * direction;
      return;
    }
    value_ = stop * direction;
    if (high > extreme) {
      extreme = high;
      step_ = std::min(step_ + kStep, kStepMax);
    }
    extreme_ = extreme * direction;
    next_ = std::min({stop + step_ * (extreme - stop), low_before, low}) * direction;
  }

  bool rising_ = true;
  double extreme_ = 0.0;  // highest high of a rise, lowest low of a fall
  double next_ = 0.0;     // stop for the next bar
  double value_ = 0.0;
  double step_ = kStep;
};
}  // namespace drey::trainer
