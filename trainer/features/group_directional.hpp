// group_directional.hpp: features 211 to 215: Wilder's directional movement, each index / 50 - 1.
// Without any movement an index keeps its value (at the start, 0): TA-Lib's convention.
// Source: TA-Lib's definitions of PLUS_DI, MINUS_DI, DX, ADX and ADXR(14), after Wilder 1978.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/smoothing.hpp"
#include "trainer/features/window.hpp"

namespace drey::trainer {
/// Sum of `period - 1` inputs, then x - x / period + input: about `period` times Wilder's mean.
class WilderSum {
 public:
  explicit WilderSum(std::size_t period) : period_(period) {}

  void push(double input) {
    if (count_ + 1 < period_) {
      ++count_;
      value_ += input;
    } else {
      value_ += input - value_ / static_cast<double>(period_);
    }
  }
  [[nodiscard]] double value() const { return value_; }

 private:
  std::size_t period_;
  std::size_t count_ = 0;
  double value_ = 0.0;
};

class DirectionalGroup {
 public:
  static constexpr std::size_t kFirst = 211;
  static constexpr std::size_t kCount = 5;
  static constexpr std::size_t kPeriod = 14;

  void push(const BarContext& context);
  void write(const BarContext& context, FeatureWriter& out) const;

 private:
  WilderSum rise_{kPeriod};
  WilderSum fall_{kPeriod};
  WilderSum range_{kPeriod};
  double plus_ = 0.0;  // 0 to 100, as all here
  double minus_ = 0.0;
  double dx_ = 0.0;
  WilderMean adx_{kPeriod};
  Window<16> adx_history_;
};
}  // namespace drey::trainer
