// group_momentum.cpp: see group_momentum.hpp.
// Stochastics are kept as 2 * place - 1, which is K / 50 - 1 and also WILLR / 50 + 1.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_momentum.hpp"

#include <cmath>

#include "trainer/features/extremes.hpp"
#include "trainer/features/window_math.hpp"

namespace drey::trainer {
namespace {
// Source: TA-Lib's definition of STOCHF's fast K.
template <std::size_t kSpan>
double stochastic(const WindowStatistics& windows, double close) {
  const double place = place_within(close, windows.prices.lowest<kSpan>(),
                                    windows.prices.highest<kSpan>(), 1e-12 * close, 0.5);
  return 2.0 * place - 1.0;
}

constexpr std::size_t kAroonPeriod = 25;

// The age of the extreme after one more bar: it is new, or one bar older, or has left the window.
std::size_t aged(std::size_t age, const double* values, double extreme) {
  constexpr std::size_t kBars = kAroonPeriod + 1;
  if (values[kBars - 1] == extreme) return 0;
  return age < kAroonPeriod ? age + 1 : age_of(values, kBars, extreme);
}

// Source: TA-Lib's definition of CCI: deviation from the mean typical price in units of the mean
// absolute deviation, over 0.015.
double channel_index(const History& history, double mean) {
  constexpr std::size_t kPeriod = 20;
  const double* typical = history.typical.last(kPeriod);
  const double mean_deviation =
      sum_of(kPeriod, [=](std::size_t i) { return std::abs(typical[i] - mean); }) / kPeriod;
  const double newest = history.typical.newest();
  return ratio_or_zero(newest - mean, 0.015 * mean_deviation, 1e-12 * newest);
}
}  // namespace

void MomentumGroup::push(const BarContext& context) {
  if (context.index != 0) {
    const double change = context.history.close_change.newest();
    strength_7_.push(change);
    strength_14_.push(change);
    strength_28_.push(change);
  }
  push_stochastic(context);
  const History& history = context.history;
  const PriceExtremes& prices = context.windows.prices;
  high_age_ = aged(high_age_, history.high.last(kAroonPeriod + 1), prices.highest<26>());
  low_age_ = aged(low_age_, history.low.last(kAroonPeriod + 1), prices.lowest<26>());
  const Indicators& shared = context.indicators;
  if (shared.ema_26.ready()) signal_.push(shared.ema_12.value() - shared.ema_26.value());
  third_before_ = chain_15_.third();
  chain_15_.push(context.bar.close);
  buying_pressure_.push(context.bar.close - std::min(context.bar.low, context.previous.close));
}

// Source: TA-Lib's definitions of STOCH(14,3,3) and STOCHRSI(14,5,3), means simple.
void MomentumGroup::push_stochastic(const BarContext& context) {
  const double strength = strength_14_.centred(context.indicators.atr_floor);
  strength_.push(strength);
  const double* window = strength_.last(5);
  const double place =
      place_within(strength, lowest_of(window, 5), highest_of(window, 5), 1e-10, 0.5);
  strength_fast_k_.push(2.0 * place - 1.0);
  fast_k_14_.push(stochastic<14>(context.windows, context.bar.close));
  slow_k_14_.push(mean_of(fast_k_14_.last(3), 3));
}

void MomentumGroup::write(const BarContext& context, FeatureWriter& out) const {
  write_oscillators(context, out);
  write_rates(context, out);
  write_macd(context, out);
  out.put(ultimate(context));
  write_aroon(out);
  const Bar& bar = context.bar;
  // Source: TA-Lib's definition of BOP.
  out.put(ratio_or_zero(bar.close - bar.open, bar.high - bar.low, 1e-12 * bar.close));
}

void MomentumGroup::write_oscillators(const BarContext& context, FeatureWriter& out) const {
  const double floor = context.indicators.atr_floor;
  out.put(strength_7_.centred(floor));
  out.put(strength_14_.centred(floor));
  out.put(strength_28_.centred(floor));
  out.put(strength_fast_k_.newest());
  out.put(mean_of(strength_fast_k_.last(3), 3));
  out.put(slow_k_14_.newest());
  out.put(mean_of(slow_k_14_.last(3), 3));
  out.put(stochastic<5>(context.windows, context.bar.close));
  out.put(fast_k_14_.newest());
  const double typical_mean = context.windows.pairs.sums<20>().mean_y[kVolumeTypical];
  out.put(channel_index(context.history, typical_mean) / 200.0);
  out.put(strength_14_.centred(floor));
}

// Source: TA-Lib's definitions of ROCP and MOM.
void MomentumGroup::write_rates(const BarContext& context, FeatureWriter& out) const {
  const History& history = context.history;
  const double close = context.bar.close;
  for (const std::size_t span : {5, 10, 20}) out.put(close / history.close.ago(span) - 1.0);
  out.put(context.indicators.in_atr(close - history.close.ago(10)));
}

// Source: TA-Lib's definitions of MACD(12,26,9), PPO(12,26) with its default simple means,
// TRIX(15).
void MomentumGroup::write_macd(const BarContext& context, FeatureWriter& out) const {
  const Indicators& shared = context.indicators;
  const double macd = shared.ema_12.value() - shared.ema_26.value();
  out.put(shared.in_atr(macd));
  out.put(shared.in_atr(signal_.value()));
  out.put(shared.in_atr(macd - signal_.value()));
  const double sma_12 = mean_of(context.history.close.last(12), 12);
  const double sma_26 = mean_of(context.history.close.last(26), 26);
  out.put((sma_12 - sma_26) / sma_26);
  constexpr double kPercent = 100.0;
  out.put(kPercent * (chain_15_.third() / third_before_ - 1.0) * 100.0);
}

// Source: TA-Lib's definition of ULTOSC(7,14,28), after Williams 1985; rescaled to [-1, 1].
double MomentumGroup::ultimate(const BarContext& context) const {
  double weighted = 0.0;
  double weight = 4.0;
  for (const std::size_t span : {7, 14, 28}) {
    const double pressure = sum_of(buying_pressure_.last(span), span);
    const double range = sum_of(context.history.true_range.last(span), span);
    weighted += weight * (range > 1e-12 * context.bar.close ? pressure / range : 0.5);
    weight *= 0.5;
  }
  return 2.0 * weighted / 7.0 - 1.0;
}

// Source: TA-Lib's definition of AROON(25): 26 bars; of equal extremes the newest counts.
void MomentumGroup::write_aroon(FeatureWriter& out) const {
  const auto freshness = [](std::size_t age) {
    return static_cast<double>(kAroonPeriod - age) / static_cast<double>(kAroonPeriod);
  };
  const double up = freshness(high_age_);
  const double down = freshness(low_age_);
  out.put(up);
  out.put(down);
  out.put(up - down);
}
}  // namespace drey::trainer
