// kept_samples.hpp: the wasteful form of RunningStatistics: every number is kept, and looked at again
// when somebody asks. For the race of the seven fixes (docs/DESIGN.md); nothing else uses it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace drey::trainer {
/// What keeps account of a series of numbers.
template <class Account>
concept SeriesAccount = requires(Account account, const Account constant, double value) {
  account.add(value);
  { constant.count() } -> std::same_as<std::uint64_t>;
  { constant.refused_count() } -> std::same_as<std::uint64_t>;
  { constant.mean() } -> std::same_as<double>;
  { constant.variance() } -> std::same_as<double>;
  { constant.bytes() } -> std::same_as<std::size_t>;
};

/// Threads: one at a time. Cost: 8 bytes a number, for as long as the run goes on.
class KeptSamples {
 public:
  void add(double value) {
    if (std::isfinite(value)) {
      samples_.push_back(value);
    } else {
      ++refused_count_;
    }
  }

  [[nodiscard]] std::uint64_t count() const { return samples_.size(); }
  [[nodiscard]] std::uint64_t refused_count() const { return refused_count_; }

  /// Cost: linear in the numbers so far, as the next.
  [[nodiscard]] double mean() const {
    if (samples_.empty()) return 0.0;
    double sum = 0;
    for (const double sample : samples_) sum += sample;
    return sum / static_cast<double>(samples_.size());
  }

  [[nodiscard]] double variance() const {
    if (samples_.size() < 2) return 0.0;
    const double center = mean();
    double squares = 0;
    for (const double sample : samples_) squares += (sample - center) * (sample - center);
    return squares / static_cast<double>(samples_.size() - 1);
  }

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(*this) + samples_.capacity() * sizeof(double);
  }

 private:
  std::vector<double> samples_;
  std::uint64_t refused_count_ = 0;
};
static_assert(SeriesAccount<KeptSamples>);
}  // namespace drey::trainer
