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
constexpr double kLn6 = 1.791759469228055;

// Variance of overlapping sums of `kLag` returns over `kLag` times that of single ones, minus 1.
// Source: Lo and MacKinlay 1988. The sums are differences of log closes.
template <std::size_t kLag>
double variance_ratio(const WindowStatistics& windows, SeriesLane lane) {
  const double single = windows.returns.variance<kLongSpan>(0);
  if (!(single > kStdFloor * kStdFloor)) return 0.0;
  return windows.series.variance<kLongSpan>(lane) / (static_cast<double>(kLag) * single) - 1.0;
}

// tanh(h / 60) where h is the half-life in bars of the regression C_t = a + b C_{t-1} over 60
// pairs: 0 when a deviation reverts within one bar, 1 when it does not revert. The distance from
// the window's own mean has the same b, so no mean need be taken off.
double reversion_half_life(const WindowStatistics& windows, double close) {
  const auto& sums = windows.pairs.sums<kSpan>();
  const double floor = 1e-12 * close;
  if (!(sums.yy[kCloseLag1] > kSpan * floor * floor)) return 0.0;
  const double b = sums.xy[kCloseLag1] / sums.yy[kCloseLag1];
  if (b <= 0.0) return 0.0;
  if (b >= 1.0) return 1.0;
  return std::tanh(-std::numbers::ln2 / log_of(b) / static_cast<double>(kSpan));
}
}  // namespace

OrderEntropy::OrderEntropy() {
  for (std::size_t n = 1; n < terms_.size(); ++n)
    terms_[n] = static_cast<double>(n) * log_of(static_cast<double>(n));
}

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

// With N triples: -sum (n / N) ln(n / N) = ln N - sum n ln n / N. The terms come from a table.
double OrderEntropy::value() const {
  double sum = 0.0;
  for (const int count : counts_) sum += terms_[static_cast<std::size_t>(count)];
  constexpr double kTriples = kTripleCount;
  return std::clamp((terms_[kTripleCount] - sum) / (kTriples * kLn6), 0.0, 1.0);
}

void StatisticsGroup::push(const BarContext& context) {
  if (context.index >= 3) entropy_.push(context.history);
  hurst_.push(context.history, context.windows);
}

void StatisticsGroup::write(const BarContext& context, FeatureWriter& out) const {
  const WindowStatistics& windows = context.windows;
  for (const PairLane lane :
       {kReturnLag1, kReturnLag2, kReturnLag5, kReturnLag10, kSizeLag1, kSizeLag5})
    out.put(windows.pairs.correlation<kSpan>(lane, kStdFloor, kStdFloor));
  hurst_.write(out);
  out.put(variance_ratio<2>(windows, kTwoReturns));
  out.put(variance_ratio<5>(windows, kFiveReturns));
  out.put(variance_ratio<10>(windows, kTenReturns));
  out.put(entropy_.value());
  out.put(reversion_half_life(windows, context.bar.close));
}
}  // namespace drey::trainer
