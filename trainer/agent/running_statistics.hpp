// running_statistics.hpp: mean and deviation of numbers that are not kept.
// Invariants: the same numbers in the same order give the same bits; what is no number is counted
// and changes nothing else. Sources: Welford, "Note on a Method for Calculating Corrected Sums of
// Squares and Products", 1962 (add); Chan, Golub, LeVeque, "Updating Formulae and a Pairwise
// Algorithm for Computing Sample Variances", 1979, equation 2.1 (merge).
// Read next: kept_samples.hpp, which is what this replaces; run_monitor.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace drey::trainer {
/// Sums of squares would lose 16 digits on numbers such as 1e9 and a bit; differences from the mean
/// lose none. Threads: one at a time; merge() joins those of several.
class RunningStatistics {
 public:
  /// An infinity is no number either: it would turn the mean into one for good.
  void add(double value) {
    if (!std::isfinite(value)) {
      ++refused_count_;
      return;
    }
    ++count_;
    const double difference = value - mean_;
    mean_ += difference / static_cast<double>(count_);
    squares_ += difference * (value - mean_);
    least_ = std::min(least_, value);
    largest_ = std::max(largest_, value);
  }

  /// As if the numbers of `other` had been added here too, but for rounding.
  void merge(const RunningStatistics& other) {
    refused_count_ += other.refused_count_;
    if (other.count_ == 0) return;
    const auto own = static_cast<double>(count_);
    const auto theirs = static_cast<double>(other.count_);
    const double difference = other.mean_ - mean_;
    const double share = theirs / (own + theirs);
    mean_ += difference * share;
    squares_ += other.squares_ + difference * difference * own * share;
    count_ += other.count_;
    least_ = std::min(least_, other.least_);
    largest_ = std::max(largest_, other.largest_);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t refused_count() const { return refused_count_; }  ///< NaN, infinities
  [[nodiscard]] double mean() const { return mean_; }                           ///< 0 of none
  /// Of a sample: over count - 1; 0 of fewer than two.
  [[nodiscard]] double variance() const {
    return count_ < 2 ? 0.0 : squares_ / static_cast<double>(count_ - 1);
  }
  [[nodiscard]] double deviation() const { return std::sqrt(variance()); }
  [[nodiscard]] double least() const { return count_ == 0 ? 0.0 : least_; }
  [[nodiscard]] double largest() const { return count_ == 0 ? 0.0 : largest_; }
  [[nodiscard]] std::size_t bytes() const { return sizeof(*this); }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t refused_count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared differences from the mean
  double least_ = std::numeric_limits<double>::infinity();
  double largest_ = -std::numeric_limits<double>::infinity();
};
}  // namespace drey::trainer
