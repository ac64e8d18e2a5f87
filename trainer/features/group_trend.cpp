// group_trend.cpp: see group_trend.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_trend.hpp"

#include <cmath>

#include "trainer/features/window_math.hpp"

namespace drey::trainer {
namespace {
constexpr std::array<std::size_t, 6> kSmaSpans = {5, 10, 20, 50, 100, 200};

// Source: TA-Lib's definition of WMA: weights 1, 2, ... to the newest.
double weighted_mean(const double* values, std::size_t count) {
  const double n = static_cast<double>(count);
  const double sum =
      sum_of(count, [=](std::size_t i) { return static_cast<double>(i + 1) * values[i]; });
  return sum / (0.5 * n * (n + 1.0));
}

// Slope over the price, and the share of the variance that the line explains.
// Source: TA-Lib's definitions of LINEARREG_SLOPE and CORREL (the latter squared).
void put_line(const History& history, std::size_t count, FeatureWriter& out) {
  const double* closes = history.close.last(count);
  const double close = history.close.newest();
  const double n = static_cast<double>(count);
  const double slope = slope_of(closes, count);
  const double deviation = spread_of(closes, count).deviation;
  const double index_deviation = std::sqrt((n * n - 1.0) / 12.0);
  const double r = deviation > 1e-12 * close ? slope * index_deviation / deviation : 0.0;
  out.put(slope / close);
  out.put(std::min(1.0, r * r));
}
}  // namespace

void TrendGroup::push(const BarContext& context) {
  const double close = context.bar.close;
  ema_5_.push(close);
  ema_50_.push(close);
  ema_100_.push(close);
  ema_200_.push(close);
  chain_20_.push(close);
  kaufman_.push(context.index, context.history);
  stop_.push(context.index, context.bar, context.previous);
}

void TrendGroup::write(const BarContext& context, FeatureWriter& out) const {
  const double close = context.bar.close;
  const History& history = context.history;
  const Indicators& shared = context.indicators;
  std::array<double, kSmaSpans.size()> sma{};
  for (std::size_t i = 0; i < sma.size(); ++i) {
    sma[i] = mean_of(history.close.last(kSmaSpans[i]), kSmaSpans[i]);
    out.put(std::log(close / sma[i]));
  }
  out.put(std::log(close / ema_5_.value()));
  out.put(std::log(close / shared.ema_12.value()));
  out.put(std::log(close / shared.ema_26.value()));
  out.put(std::log(close / ema_50_.value()));
  out.put(std::log(close / ema_100_.value()));
  out.put(std::log(close / ema_200_.value()));
  out.put(std::log(close / weighted_mean(history.close.last(20), 20)));
  out.put(bounded_log_ratio(close, chain_20_.dema()));
  out.put(bounded_log_ratio(close, chain_20_.tema()));
  out.put(std::log(close / kaufman_.value()));
  out.put(std::log(shared.ema_12.value() / shared.ema_26.value()));
  out.put(std::log(sma[2] / sma[3]));
  out.put(std::log(sma[3] / sma[5]));
  put_line(history, 20, out);
  put_line(history, 60, out);
  out.put(bounded_log_ratio(close, stop_.value()));
}
}  // namespace drey::trainer
