// group_adaptive.hpp: features 221 to 224: how large a position the present risk allows, and how
// the present regime has paid.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/window.hpp"
#include "trainer/features/window_math.hpp"

namespace drey::trainer {
class AdaptiveGroup {
 public:
  static constexpr std::size_t kFirst = 221;
  static constexpr std::size_t kCount = 4;

  void push(const BarContext& context) {
    range_share_.push(context.indicators.atr_14.value() / context.bar.close);
    const double regime = static_cast<double>(context.indicators.regime);
    age_ = regime == regime_.newest() ? age_ + 1.0 : 1.0;
    regime_.push(regime);
  }

  void write(const BarContext& context, FeatureWriter& out) const {
    // The target is the usual volatility of the last 240 bars.
    const Indicators& shared = context.indicators;
    out.put(std::clamp((shared.std_240 + kStdFloor) / (shared.volatility + kStdFloor), 0.2, 2.0));
    out.put(range_rank());
    out.put(regime_sharpe(context.history));
    out.put(std::tanh(age_ / 120.0));
  }

 private:
  // Share of the last 240 values below the newest, equal ones counting half.
  [[nodiscard]] double range_rank() const {
    constexpr std::size_t kSpan = 240;
    const double* values = range_share_.last(kSpan);
    const double newest = range_share_.newest();
    const double below = sum_of(kSpan, [=](std::size_t i) {
      return values[i] < newest ? 1.0 : (values[i] == newest ? 0.5 : 0.0);
    });
    return below / kSpan;
  }

  // Mean over deviation of r on those of the last 120 bars that were in the present regime; 0 while
  // they are too few to say anything.
  [[nodiscard]] double regime_sharpe(const History& history) const {
    constexpr std::size_t kSpan = 120;
    const double* r = history.log_return.last(kSpan);
    const double* regime = regime_.last(kSpan);
    const double present = regime_.newest();
    const auto weight = [=](std::size_t i) { return regime[i] == present ? 1.0 : 0.0; };
    const double n = sum_of(kSpan, weight);
    if (n < kSharpeBarsMin) return 0.0;
    const double mean = sum_of(kSpan, [=](std::size_t i) { return weight(i) * r[i]; }) / n;
    const double squares =
        sum_of(kSpan, [=](std::size_t i) { return weight(i) * (r[i] - mean) * (r[i] - mean); });
    return ratio_or_zero(mean, std::sqrt(squares / n), kStdFloor);
  }

  static constexpr double kSharpeBarsMin = 20.0;
  Window<256> range_share_;  // NATR(14) / 100
  Window<128> regime_;
  double age_ = 0.0;  // bars in the present regime
};
}  // namespace drey::trainer
