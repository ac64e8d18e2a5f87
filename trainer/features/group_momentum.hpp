// group_momentum.hpp: features 80 to 104: oscillators.
// Where nothing moved in its window an oscillator has no opinion and gives 0, the middle of its
// range (TA-Lib gives the lower end, which would read as an extreme). Features 81 and 90 are equal:
// TA-Lib smooths CMO as it smooths RSI, and then CMO = 2 RSI - 100.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/smoothing.hpp"
#include "trainer/features/window.hpp"

namespace drey::trainer {
/// Source: TA-Lib's definition of RSI, after Wilder 1978.
class RelativeStrength {
 public:
  explicit RelativeStrength(std::size_t period) : gain_(period), loss_(period) {}

  void push(double change) {
    gain_.push(std::max(change, 0.0));
    loss_.push(std::max(-change, 0.0));
  }
  /// RSI / 50 - 1, in [-1, 1]; 0 when gains and losses together are not above `floor`.
  [[nodiscard]] double centred(double floor) const {
    const double moved = gain_.value() + loss_.value();
    return moved > floor ? (gain_.value() - loss_.value()) / moved : 0.0;
  }

 private:
  WilderMean gain_;
  WilderMean loss_;
};

class MomentumGroup {
 public:
  static constexpr std::size_t kFirst = 80;
  static constexpr std::size_t kCount = 25;

  void push(const BarContext& context);
  void write(const BarContext& context, FeatureWriter& out) const;

 private:
  void push_stochastic(const BarContext& context);
  void write_oscillators(const BarContext& context, FeatureWriter& out) const;
  void write_rates(const BarContext& context, FeatureWriter& out) const;
  void write_macd(const BarContext& context, FeatureWriter& out) const;
  void write_aroon(FeatureWriter& out) const;
  [[nodiscard]] double ultimate(const BarContext& context) const;

  RelativeStrength strength_7_{7};
  RelativeStrength strength_14_{14};
  RelativeStrength strength_28_{28};
  Window<16> strength_;        // centred RSI(14)
  Window<4> strength_fast_k_;  // -1 to 1, as all stochastics here
  Window<4> fast_k_14_;
  Window<4> slow_k_14_;
  ExponentialMean signal_{9};
  EmaChain chain_15_{15};
  double third_before_ = 0.0;  // of the chain, one bar earlier
  std::size_t high_age_ = 0;   // bars since the highest high of 26, the newest of equal ones
  std::size_t low_age_ = 0;
  Window<32> buying_pressure_;  // C - min(L, C_{t-1})
};
}  // namespace drey::trainer
