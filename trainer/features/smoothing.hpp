// smoothing.hpp: recursive means with fixed state.
// Invariant: value() is meaningful once ready(); until then it is the mean of what came so far.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::trainer {
/// x_t = x_{t-1} + weight * (input - x_{t-1}), seeded with the mean of the first `period` inputs.
class SeededMean {
 public:
  SeededMean(std::size_t period, double weight) : period_(period), weight_(weight) {}

  void push(double input) {
    if (count_ < period_) {
      ++count_;
      sum_ += input;
      value_ = sum_ / static_cast<double>(count_);
      return;
    }
    value_ += weight_ * (input - value_);
  }
  [[nodiscard]] bool ready() const { return count_ == period_; }
  [[nodiscard]] double value() const { return value_; }

 private:
  std::size_t period_;
  double weight_;
  std::size_t count_ = 0;
  double sum_ = 0.0;
  double value_ = 0.0;
};

/// Exponential mean. Source: TA-Lib's definition of EMA: weight 2 / (period + 1), seeded by SMA.
class ExponentialMean : public SeededMean {
 public:
  explicit ExponentialMean(std::size_t period)
      : SeededMean(period, 2.0 / (static_cast<double>(period) + 1.0)) {}
};

/// Wilder's mean. Source: Wilder 1978, "New Concepts in Technical Trading Systems": weight
/// 1/period.
class WilderMean : public SeededMean {
 public:
  explicit WilderMean(std::size_t period) : SeededMean(period, 1.0 / static_cast<double>(period)) {}
};

/// Up to three exponential means in a row, each fed once the one before is ready.
/// Source: TA-Lib's definitions of DEMA, TEMA and TRIX.
class EmaChain {
 public:
  explicit EmaChain(std::size_t period) : first_(period), second_(period), third_(period) {}

  void push(double input) {
    first_.push(input);
    if (!first_.ready()) return;
    second_.push(first_.value());
    if (second_.ready()) third_.push(second_.value());
  }
  [[nodiscard]] bool ready() const { return third_.ready(); }
  [[nodiscard]] double dema() const { return 2.0 * first_.value() - second_.value(); }
  [[nodiscard]] double tema() const {
    return 3.0 * (first_.value() - second_.value()) + third_.value();
  }
  [[nodiscard]] double third() const { return third_.value(); }

 private:
  ExponentialMean first_;
  ExponentialMean second_;
  ExponentialMean third_;
};
}  // namespace drey::trainer
