// group_microstructure.cpp: see group_microstructure.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_microstructure.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trainer/features/regime.hpp"
#include "trainer/features/window_math.hpp"

namespace drey::trainer {
namespace {
constexpr double kVolumeFloor = 1e-9;

// Source: Corwin and Schultz 2012, "A Simple Way to Estimate Bid-Ask Spreads", equations 14 and 18
// and its adjustment for overnight moves; negative estimates count as 0.
double high_low_spread(const BarLogs& logs) {
  const double beta =
      logs.range_before * logs.range_before + logs.shifted_range * logs.shifted_range;
  constexpr double kDivisor = 3.0 - 2.0 * std::numbers::sqrt2;
  const double alpha =
      (std::sqrt(2.0 * beta) - std::sqrt(beta)) / kDivisor - logs.joint_range / std::sqrt(kDivisor);
  // 2 (e^a - 1) / (1 + e^a)
  return alpha > 0.0 ? 2.0 * std::tanh(0.5 * alpha) : 0.0;
}

// Source: Roll 1984: the bounce between bid and ask makes successive changes covary negatively.
template <std::size_t kSpan>
double roll_spread(const WindowStatistics& windows, double close) {
  const double covariance = windows.pairs.sums<kSpan>().xy[kChangeLag1] / kSpan;
  return 2.0 * std::sqrt(std::max(0.0, -covariance)) / close;
}

// Least-squares slope of r on sign(r) sqrt(V). Source: Hasbrouck 2009's form of Kyle's lambda.
template <std::size_t kSpan>
double impact(const WindowStatistics& windows) {
  const auto& sums = windows.pairs.sums<kSpan>();
  return ratio_or_zero(sums.xy[kRootReturn], sums.xx[kRootReturn],
                       kSpan * kVolumeFloor * kVolumeFloor);
}

// Signed over all volume.
template <std::size_t kSpan>
double tick_imbalance(const WindowStatistics& windows) {
  const auto& sums = windows.pairs.sums<kSpan>();
  return ratio_or_zero(sums.mean_x[kBalanceSize], sums.mean_x[kVolumeTypical],
                       kVolumeFloor / kSpan);
}

// Source: Amihud 2002.
template <std::size_t kSpan>
double illiquidity(const WindowStatistics& windows) {
  return 1.0 + 1e6 * windows.pairs.sums<kSpan>().mean_y[kTradedIlliquid];
}
}  // namespace

void MicrostructureGroup::push(const BarContext& context) {
  const Bar& bar = context.bar;
  const double r = context.history.log_return.newest();
  const double sign = sign_of(r);
  spread_.push(high_low_spread(context.history.logs));
  // Share of buys is Phi(r / sigma), so |buys - sells| = V |2 Phi - 1| = V erf(|r| / sigma / sqrt
  // 2). Source: Easley, Lopez de Prado, O'Hara 2012, "Bulk Classification"; sigma over 20 bars.
  const double deviation = std::max(context.indicators.std_20, kStdFloor);
  imbalance_.push(bar.volume * std::erf(std::abs(r) / (deviation * std::numbers::sqrt2)));
  run_length_ = sign * run_length_ > 0.0 ? run_length_ + sign : sign;
}

void MicrostructureGroup::write(const BarContext& context, FeatureWriter& out) const {
  const History& history = context.history;
  const WindowStatistics& windows = context.windows;
  out.put(roll_spread<20>(windows, context.bar.close));
  out.put(roll_spread<60>(windows, context.bar.close));
  out.put(spread_.newest());
  out.put(mean_of(spread_.last(20), 20));
  out.put_log(illiquidity<20>(windows));
  out.put_log(illiquidity<60>(windows));
  out.put(impact<20>(windows));
  out.put(impact<60>(windows));
  out.put(tick_imbalance<5>(windows));
  out.put(tick_imbalance<20>(windows));
  out.put(tick_imbalance<60>(windows));
  out.put(ratio_or_zero(sum_of(imbalance_.last(20), 20),
                        20.0 * windows.pairs.sums<20>().mean_x[kVolumeTypical], kVolumeFloor));
  out.put(ratio_or_zero(sum_of(imbalance_.last(50), 50), windows.pairs.sum_y_50(kPathVolume),
                        kVolumeFloor));
  out.put(efficiency_20(history, windows));
  out.put(windows.pairs.correlation<20>(kSignLag1, 1e-9, 1e-9));
  out.put(run_length_ / 20.0);
}
}  // namespace drey::trainer
