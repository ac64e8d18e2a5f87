// group_volatility.cpp: see group_volatility.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_volatility.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trainer/features/extremes.hpp"
#include "trainer/features/window_math.hpp"

namespace drey::trainer {
namespace {
// Both with a population deviation of 20 closes and two deviations to each side.
// Source: TA-Lib's definition of BBANDS(20,2,2).
constexpr double kBandDeviations = 2.0;
constexpr double kKeltnerRanges = 2.0;

// Sample variance (n - 1).
double sample_variance(const double* values, std::size_t count) {
  const double n = static_cast<double>(count);
  const double deviation = spread_of(values, count).deviation;
  return deviation * deviation * n / (n - 1.0);
}

// Mean and deviation of 20 closes.
Spread band_of(const WindowStatistics& windows) {
  const auto& sums = windows.pairs.sums<20>();
  return {sums.mean_x[kCloseIndex], std::sqrt(sums.xx[kCloseIndex] / 20.0)};
}

template <std::size_t kSpan>
void put_donchian(const WindowStatistics& windows, double close, FeatureWriter& out) {
  const double highest = windows.prices.highest<kSpan>();
  const double lowest = windows.prices.lowest<kSpan>();
  out.put(place_within(close, lowest, highest, 1e-12 * close, 0.5) - 0.5);
  out.put((highest - lowest) / close);
}

double ratio_minus_one(double short_deviation, double long_deviation) {
  return (short_deviation + kStdFloor) / (long_deviation + kStdFloor) - 1.0;
}

// Bipower variation over realised variance: 1 without jumps, less with them.
// Source: Barndorff-Nielsen and Shephard 2004, with the n / (n - 1) correction for the missing
// pair.
double bipower_ratio(const History& history) {
  constexpr std::size_t kSpan = 60;
  const double* r = history.log_return.last(kSpan);
  const double realised = sum_of(kSpan, [=](std::size_t i) { return r[i] * r[i]; });
  const double pairs =
      sum_of(kSpan - 1, [=](std::size_t i) { return std::abs(r[i]) * std::abs(r[i + 1]); });
  constexpr double kScale = std::numbers::pi / 2.0 * kSpan / (kSpan - 1.0);
  return realised > kSpan * kStdFloor * kStdFloor ? kScale * pairs / realised : 1.0;
}
}  // namespace

void VolatilityGroup::push(const BarContext& context) {
  if (context.index != 0) {
    const double range = context.history.true_range.newest();
    atr_7_.push(range);
    atr_20_.push(range);
    atr_28_.push(range);
  }
  const BarLogs& logs = context.history.logs;
  const double log_return = context.history.log_return.newest();
  const double high_low = logs.range;
  const double close_open = log_return - logs.open;
  range_square_.push(high_low * high_low);
  // Source: Garman and Klass 1980, the practical estimator.
  garman_klass_.push(0.5 * high_low * high_low -
                     (2.0 * std::numbers::ln2 - 1.0) * close_open * close_open);
  // Source: Rogers and Satchell 1991.
  rogers_satchell_.push((logs.high - log_return) * (logs.high - logs.open) +
                        (logs.low - log_return) * (logs.low - logs.open));
  overnight_.push(logs.open);
  intraday_.push(close_open);
}

void VolatilityGroup::write(const BarContext& context, FeatureWriter& out) const {
  const double close = context.bar.close;
  const History& history = context.history;
  // Source: TA-Lib's definitions of NATR and TRANGE, as fractions of the close.
  out.put(atr_7_.value() / close);
  out.put(context.indicators.atr_14.value() / close);
  out.put(atr_28_.value() / close);
  out.put(history.true_range.newest() / close);
  write_bands(context, out);
  put_donchian<20>(context.windows, close, out);
  put_donchian<55>(context.windows, close, out);
  write_estimates(out);
  const MomentBank<1>& returns = context.windows.returns;
  const double deviation_60 = std::sqrt(returns.variance<60>(0));
  out.put(ratio_minus_one(std::sqrt(returns.variance<10>(0)), deviation_60));
  out.put(ratio_minus_one(deviation_60, context.indicators.std_240));
  out.put(context.indicators.volatility);
  out.put(bipower_ratio(history));
  out.put(squeezed(context) ? 1.0 : 0.0);
}

void VolatilityGroup::write_bands(const BarContext& context, FeatureWriter& out) const {
  const double close = context.bar.close;
  const Spread band = band_of(context.windows);
  const double half_width = kBandDeviations * band.deviation;
  out.put(ratio_or_zero(close - band.mean, 2.0 * half_width, 1e-12 * close));
  out.put(2.0 * half_width / band.mean);
  const double ema = context.indicators.ema_20.value();
  const double keltner = kKeltnerRanges * atr_20_.value();
  out.put(ratio_or_zero(close - ema, keltner, context.indicators.atr_floor));
  out.put(2.0 * keltner / ema);
}

bool VolatilityGroup::squeezed(const BarContext& context) const {
  const Spread band = band_of(context.windows);
  const double half_width = kBandDeviations * band.deviation;
  const double ema = context.indicators.ema_20.value();
  const double keltner = kKeltnerRanges * atr_20_.value();
  return band.mean + half_width < ema + keltner && band.mean - half_width > ema - keltner;
}

void VolatilityGroup::write_estimates(FeatureWriter& out) const {
  // Source: Parkinson 1980.
  for (const std::size_t span : {10, 30}) {
    const double mean = mean_of(range_square_.last(span), span);
    out.put(std::sqrt(mean / (4.0 * std::numbers::ln2)));
  }
  for (const std::size_t span : {10, 30})
    out.put(std::sqrt(std::max(0.0, mean_of(garman_klass_.last(span), span))));
  for (const std::size_t span : {10, 30})
    out.put(std::sqrt(std::max(0.0, mean_of(rogers_satchell_.last(span), span))));
  out.put(yang_zhang());
}

// Source: Yang and Zhang 2000, "Drift-independent volatility estimation", k for n = 30.
double VolatilityGroup::yang_zhang() const {
  constexpr std::size_t kSpan = 30;
  constexpr double kWeight = 0.34 / (1.34 + (kSpan + 1.0) / (kSpan - 1.0));
  const double variance = sample_variance(overnight_.last(kSpan), kSpan) +
                          kWeight * sample_variance(intraday_.last(kSpan), kSpan) +
                          (1.0 - kWeight) * mean_of(rogers_satchell_.last(kSpan), kSpan);
  return std::sqrt(std::max(0.0, variance));
}
}  // namespace drey::trainer
