// group_statistics.cpp: see group_statistics.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trainer/features/window_math.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kSpan = 60;
constexpr std::size_t kLongSpan = 120;

template <std::size_t Capacity>
double autocorrelation(const Window<Capacity>& series, std::size_t lag) {
  return correlation_of(series.last(kSpan), series.last(kSpan, lag), kSpan, kStdFloor, kStdFloor);
}

// Range of the running sum of deviations from the mean, over the deviation; 0 when flat.
double rescaled_range(const double* values, std::size_t count) {
  const Spread spread = spread_of(values, count);
  if (!(spread.deviation > kStdFloor)) return 0.0;
  double sum = 0.0;
  double highest = 0.0;
  double lowest = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += values[i] - spread.mean;
    highest = std::max(highest, sum);
    lowest = std::min(lowest, sum);
  }
  return (highest - lowest) / spread.deviation;
}

// Slope of ln(R/S) over ln(block), blocks of 15, 30, 60, 120 returns, minus 0.5; 0 when the blocks
// of some size are all flat. Source: Hurst 1951; Mandelbrot and Wallis 1969.
double hurst_exponent(const double* values) {
  constexpr std::array<std::size_t, 4> kBlocks = {15, 30, 60, 120};
  std::array<double, kBlocks.size()> log_ranges{};
  for (std::size_t i = 0; i < kBlocks.size(); ++i) {
    double sum = 0.0;
    double used = 0.0;
    for (std::size_t start = 0; start < kLongSpan; start += kBlocks[i]) {
      const double range = rescaled_range(values + start, kBlocks[i]);
      sum += range;
      used += range > 0.0 ? 1.0 : 0.0;
    }
    if (used == 0.0) return 0.0;
    log_ranges[i] = std::log(sum / used);
  }
  // Each block is twice the one before: the slope over ln(block) is that over the index, / ln 2.
  return slope_of(log_ranges.data(), log_ranges.size()) / std::numbers::ln2 - 0.5;
}

// Variance of overlapping sums of `lag` returns over `lag` times that of single ones, minus 1.
// Source: Lo and MacKinlay 1988. The sums are differences of log closes.
double variance_ratio(const History& history, std::size_t lag) {
  const double* now = history.log_close.last(kLongSpan);
  const double* before = history.log_close.last(kLongSpan, lag);
  std::array<double, kLongSpan> sums;
  for (std::size_t i = 0; i < kLongSpan; ++i) sums[i] = now[i] - before[i];
  const double single = spread_of(history.log_return.last(kLongSpan), kLongSpan).deviation;
  if (!(single > kStdFloor)) return 0.0;
  const double several = spread_of(sums.data(), kLongSpan).deviation;
  return several * several / (static_cast<double>(lag) * single * single) - 1.0;
}

// tanh(h / 60) where h is the half-life in bars of the regression C_t = a + b C_{t-1} over 60
// pairs: 0 when a deviation reverts within one bar, 1 when it does not revert. The distance from
// the window's own mean has the same b, so no mean need be taken off.
double reversion_half_life(const History& history) {
  const double* now = history.close.last(kSpan);
  const double* before = history.close.last(kSpan, 1);
  const double deviation = spread_of(before, kSpan).deviation;
  if (!(deviation > 1e-12 * history.close.newest())) return 0.0;
  const double b = covariance_of(now, before, kSpan) / (deviation * deviation);
  if (b <= 0.0) return 0.0;
  if (b >= 1.0) return 1.0;
  return std::tanh(-std::numbers::ln2 / std::log(b) / static_cast<double>(kSpan));
}
}  // namespace

void OrderEntropy::push(const History& history) {
  const double* r = history.log_return.last(3);
  // Three comparisons name the order; a > b with a the older, so equal values keep their age.
  const int pairs = (r[0] > r[1] ? 4 : 0) + (r[1] > r[2] ? 2 : 0) + (r[0] > r[2] ? 1 : 0);
  // 2 of the 8 combinations contradict themselves: 1 (a<=b<=c but a>c) and 6 (a>b>c but a<=c).
  constexpr std::array<std::uint8_t, 8> kOrder = {0, 0, 1, 2, 3, 4, 0, 5};
  const std::uint8_t code = kOrder[static_cast<std::size_t>(pairs)];
  if (size_ == kTripleCount) {
    --counts_[codes_[next_]];
  } else {
    ++size_;
  }
  codes_[next_] = code;
  ++counts_[code];
  next_ = (next_ + 1) % kTripleCount;
}

double OrderEntropy::value() const {
  double entropy = 0.0;
  for (const int count : counts_) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(size_);
    entropy -= share * std::log(share);
  }
  return std::clamp(entropy / std::log(6.0), 0.0, 1.0);
}

void StatisticsGroup::push(const BarContext& context) {
  absolute_return_.push(std::abs(context.history.log_return.newest()));
  if (context.index >= 3) entropy_.push(context.history);
}

void StatisticsGroup::write(const BarContext& context, FeatureWriter& out) const {
  const History& history = context.history;
  for (const std::size_t lag : {1, 2, 5, 10}) out.put(autocorrelation(history.log_return, lag));
  for (const std::size_t lag : {1, 5}) out.put(autocorrelation(absolute_return_, lag));
  out.put(hurst_exponent(history.log_return.last(kLongSpan)));
  for (const std::size_t lag : {2, 5, 10}) out.put(variance_ratio(history, lag));
  out.put(entropy_.value());
  out.put(reversion_half_life(history));
}
}  // namespace drey::trainer
