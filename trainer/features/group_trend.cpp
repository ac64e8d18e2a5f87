// group_trend.cpp: see group_trend.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_trend.hpp"

#include <algorithm>
#include <array>

#include "trainer/features/window_math.hpp"

namespace drey::trainer {
namespace {
// Source: TA-Lib's definition of WMA: weights 1, 2, ... to the newest: the mean, and as much more as
// the close goes with its place in the window.
double weighted_mean_20(const WindowStatistics& windows) {
  const auto& sums = windows.pairs.sums<20>();
  constexpr double kWeights = 0.5 * 20.0 * 21.0;
  return sums.mean_x[kCloseIndex] + sums.xy[kCloseIndex] / kWeights;
}

// Slope over the price, and the share of the variance that the line explains.
// Source: TA-Lib's definitions of LINEARREG_SLOPE and CORREL (the latter squared).
template <std::size_t kSpan>
void put_line(const WindowStatistics& windows, double close, FeatureWriter& out) {
  constexpr double kValues = kSpan;
  constexpr double kIndexSquares = kValues * (kValues * kValues - 1.0) / 12.0;
  const auto& sums = windows.pairs.sums<kSpan>();
  const double xx = sums.xx[kCloseIndex];
  const double xy = sums.xy[kCloseIndex];
  const double floor = 1e-12 * close;
  out.put(xy / (kIndexSquares * close));
  out.put(xx > kValues * floor * floor ? std::min(1.0, xy * xy / (xx * kIndexSquares)) : 0.0);
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
  const WindowStatistics& windows = context.windows;
  const Indicators& shared = context.indicators;
  const std::array<double, 6> sma = windows.closes.means();
  for (const double mean : sma) out.put_log(close / mean);
  out.put_log(close / ema_5_.value());
  out.put_log(close / shared.ema_12.value());
  out.put_log(close / shared.ema_26.value());
  out.put_log(close / ema_50_.value());
  out.put_log(close / ema_100_.value());
  out.put_log(close / ema_200_.value());
  out.put_log(close / weighted_mean_20(windows));
  out.put_log(bounded_ratio(close, chain_20_.dema()));
  out.put_log(bounded_ratio(close, chain_20_.tema()));
  out.put_log(close / kaufman_.value());
  out.put_log(shared.ema_12.value() / shared.ema_26.value());
  out.put_log(sma[2] / sma[3]);
  out.put_log(sma[3] / sma[5]);
  put_line<20>(windows, close, out);
  put_line<60>(windows, close, out);
  out.put_log(bounded_ratio(close, stop_.value()));
}
}  // namespace drey::trainer
