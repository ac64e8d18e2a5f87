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
double high_low_spread(const Bar& bar, const Bar& previous) {
  double shift = 0.0;
  if (previous.close < bar.low) shift = previous.close - bar.low;
  if (previous.close > bar.high) shift = previous.close - bar.high;
  const double high = bar.high + shift;
  const double low = bar.low + shift;
  const auto squared_log = [](double a, double b) {
    const double log = std::log(a / b);
    return log * log;
  };
  const double beta = squared_log(previous.high, previous.low) + squared_log(high, low);
  const double gamma = squared_log(std::max(previous.high, high), std::min(previous.low, low));
  constexpr double kDivisor = 3.0 - 2.0 * std::numbers::sqrt2;
  const double alpha =
      (std::sqrt(2.0 * beta) - std::sqrt(beta)) / kDivisor - std::sqrt(gamma / kDivisor);
  // 2 (e^a - 1) / (1 + e^a)
  return std::max(0.0, 2.0 * std::tanh(0.5 * alpha));
}

// Source: Roll 1984: the bounce between bid and ask makes successive changes covary negatively.
double roll_spread(const History& history, std::size_t count) {
  const double covariance =
      covariance_of(history.close_change.last(count), history.close_change.last(count, 1), count);
  return 2.0 * std::sqrt(std::max(0.0, -covariance)) / history.close.newest();
}

// Least-squares slope of r on sign(r) sqrt(V). Source: Hasbrouck 2009's form of Kyle's lambda.
double impact(const double* log_return, const double* signed_root, std::size_t count) {
  const double deviation = spread_of(signed_root, count).deviation;
  const double covariance = covariance_of(signed_root, log_return, count);
  return ratio_or_zero(covariance, deviation * deviation, kVolumeFloor * kVolumeFloor);
}
}  // namespace

void MicrostructureGroup::push(const BarContext& context) {
  const Bar& bar = context.bar;
  const double r = context.history.log_return.newest();
  const double sign = sign_of(r);
  const double value = bar.close * bar.volume;
  spread_.push(high_low_spread(bar, context.previous));
  illiquidity_.push(ratio_or_zero(std::abs(r), value, kVolumeFloor * bar.close));
  sign_.push(sign);
  signed_root_.push(sign * std::sqrt(bar.volume));
  signed_volume_.push(sign * bar.volume);
  // Share of buys is Phi(r / sigma), so |buys - sells| = V |2 Phi - 1| = V erf(|r| / sigma / sqrt
  // 2). Source: Easley, Lopez de Prado, O'Hara 2012, "Bulk Classification"; sigma over 20 bars.
  const double deviation = std::max(context.indicators.std_20, kStdFloor);
  imbalance_.push(bar.volume * std::erf(std::abs(r) / (deviation * std::numbers::sqrt2)));
  run_length_ = sign * run_length_ > 0.0 ? run_length_ + sign : sign;
}

void MicrostructureGroup::write(const BarContext& context, FeatureWriter& out) const {
  const History& history = context.history;
  for (const std::size_t span : {20, 60}) out.put(roll_spread(history, span));
  out.put(spread_.newest());
  out.put(mean_of(spread_.last(20), 20));
  // Source: Amihud 2002.
  for (const std::size_t span : {20, 60})
    out.put(std::log1p(1e6 * mean_of(illiquidity_.last(span), span)));
  for (const std::size_t span : {20, 60})
    out.put(impact(history.log_return.last(span), signed_root_.last(span), span));
  for (const std::size_t span : {5, 20, 60})
    out.put(ratio_or_zero(sum_of(signed_volume_.last(span), span),
                          sum_of(history.volume.last(span), span), kVolumeFloor));
  for (const std::size_t span : {20, 50})
    out.put(ratio_or_zero(sum_of(imbalance_.last(span), span),
                          sum_of(history.volume.last(span), span), kVolumeFloor));
  out.put(efficiency_20(history));
  out.put(correlation_of(sign_.last(20), sign_.last(20, 1), 20, 1e-9, 1e-9));
  out.put(run_length_ / 20.0);
}
}  // namespace drey::trainer
