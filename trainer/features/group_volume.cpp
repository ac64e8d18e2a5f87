// group_volume.cpp: see group_volume.hpp.
// Cumulative indicators (OBV, A/D) are never accumulated from the start of the file: only what a
// window of them needs is summed, so their size and the file's age cost no precision.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_volume.hpp"

#include <algorithm>
#include <cmath>

#include "trainer/features/window_math.hpp"

namespace drey::trainer {
namespace {
constexpr double kVolumeFloor = 1e-9;
constexpr double kLogVolumeFloor = 1e-9;

// Slope over the index of the running sum of `increments`.
double slope_of_running_sum(const double* increments, std::size_t count) {
  std::array<double, 64> sums{};
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sums[i] = sum += increments[i];
  return slope_of(sums.data(), count);
}

// How many deviations the running sum ends above its mean over the window.
double z_of_running_sum(const double* increments, std::size_t count) {
  std::array<double, 64> sums{};
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sums[i] = sum += increments[i];
  const Spread spread = spread_of(sums.data(), count);
  return ratio_or_zero(sum - spread.mean, spread.deviation, kVolumeFloor);
}

double z_of_log_volume(const History& history, std::size_t count) {
  const Spread spread = spread_of(history.log_volume.last(count), count);
  return ratio_or_zero(history.log_volume.newest() - spread.mean, spread.deviation,
                       kLogVolumeFloor);
}

// Volume-weighted mean of the typical price; the plain mean where nothing traded.
double weighted_price(const History& history, const double* traded, std::size_t count) {
  const double volume = sum_of(history.volume.last(count), count);
  if (volume > kVolumeFloor) return sum_of(traded, count) / volume;
  return mean_of(history.typical.last(count), count);
}
}  // namespace

void MinuteProfile::push(double minute_of_day, double log_volume) {
  constexpr double kCountMax = 60.0;
  Slot& slot = slots_[static_cast<std::size_t>(minute_of_day)];
  excess_ = slot.count == 0.0 ? 0.0 : log_volume - slot.mean;
  slot.count = std::min(slot.count + 1.0, kCountMax);
  slot.mean += (log_volume - slot.mean) / slot.count;
}

void VolumeGroup::push(const BarContext& context) {
  push_flows(context);
  push_session(context);
  const Bar& bar = context.bar;
  const Bar& previous = context.previous;
  const double log_return = context.history.log_return.newest();
  vwap_20_.push(weighted_price(context.history, traded_.last(20), 20));
  negative_index_.push(bar.volume < previous.volume ? log_return : 0.0);
  positive_index_.push(bar.volume > previous.volume ? log_return : 0.0);
  if (context.index != 0) force_.push(log_return * bar.volume);
  // Ease of movement: distance of the middle, times range, over volume, each in its usual unit.
  // Source: Arms 1996 ("box ratio"); the units are ours. Volume counts as 5 % of usual at least.
  constexpr double kVolumeShareMin = 0.05;
  const double moved = 0.5 * ((bar.high + bar.low) - (previous.high + previous.low));
  const double share = (bar.volume + 1.0) / (context.indicators.volume_mean_20 + 1.0);
  const Indicators& shared = context.indicators;
  ease_.push(shared.in_atr(moved) * shared.in_atr(bar.high - bar.low) /
             std::max(share, kVolumeShareMin));
  profile_.push(context.place.minute_of_day, context.history.log_volume.newest());
}

// Source: TA-Lib's definitions of OBV, AD, ADOSC(3,10) and MFI.
void VolumeGroup::push_flows(const BarContext& context) {
  const Bar& bar = context.bar;
  const History& history = context.history;
  const double typical = history.typical.newest();
  const double typical_before = context.index == 0 ? typical : history.typical.ago(1);
  balance_.push(bar.volume * sign_of(history.close_change.newest()));
  const double location = ratio_or_zero((bar.close - bar.low) - (bar.high - bar.close),
                                        bar.high - bar.low, 1e-12 * bar.close);
  const double flow = location * bar.volume;
  accumulation_.push(flow);
  // EMA_t - AD_t = (1 - k) (EMA_{t-1} - AD_{t-1} - flow_t): no need of A/D itself.
  if (context.index != 0) {
    fast_gap_ = (1.0 - 2.0 / 4.0) * (fast_gap_ - flow);
    slow_gap_ = (1.0 - 2.0 / 11.0) * (slow_gap_ - flow);
  }
  traded_.push(typical * bar.volume);
  // A sum of three prices in ticks can be equal and yet differ in its last bits: that is a tie.
  const double risen = typical - typical_before;
  const double tie = 1e-12 * typical;
  money_up_.push(risen > tie ? typical * bar.volume : 0.0);
  money_down_.push(risen < -tie ? typical * bar.volume : 0.0);
}

void VolumeGroup::push_session(const BarContext& context) {
  if (context.place.opens_session) {
    session_traded_ = 0.0;
    session_volume_ = 0.0;
    session_typical_ = 0.0;
    session_bars_ = 0.0;
  }
  session_traded_ += traded_.newest();
  session_volume_ += context.bar.volume;
  session_typical_ += context.history.typical.newest();
  session_bars_ += 1.0;
}

void VolumeGroup::write(const BarContext& context, FeatureWriter& out) const {
  const History& history = context.history;
  for (const std::size_t span : {20, 60, 240}) out.put(z_of_log_volume(history, span));
  const double volume = context.bar.volume;
  for (const std::size_t span : {5, 20, 60})
    out.put(std::log((volume + 1.0) / (mean_of(history.volume.last(span), span) + 1.0)));
  write_flows(context, out);
  write_weighted_price(context, out);
  write_indices(context, out);
}

void VolumeGroup::write_flows(const BarContext& context, FeatureWriter& out) const {
  const Indicators& shared = context.indicators;
  out.put(shared.in_volume(slope_of_running_sum(balance_.last(20), 20)));
  out.put(z_of_running_sum(balance_.last(60), 60));
  out.put(shared.in_volume(slope_of_running_sum(accumulation_.last(20), 20)));
  out.put(shared.in_volume(fast_gap_ - slow_gap_));
  out.put(ratio_or_zero(sum_of(accumulation_.last(20), 20),
                        sum_of(context.history.volume.last(20), 20), kVolumeFloor));
  const double up = sum_of(money_up_.last(14), 14);
  const double down = sum_of(money_down_.last(14), 14);
  out.put(ratio_or_zero(up - down, up + down, kVolumeFloor * context.bar.close));
}

void VolumeGroup::write_weighted_price(const BarContext& context, FeatureWriter& out) const {
  const double close = context.bar.close;
  out.put(std::log(close / vwap_20_.newest()));
  out.put(std::log(close / weighted_price(context.history, traded_.last(60), 60)));
  const double session_price = session_volume_ > kVolumeFloor ? session_traded_ / session_volume_
                                                              : session_typical_ / session_bars_;
  out.put(std::log(close / session_price));
  out.put(std::log(vwap_20_.newest() / vwap_20_.ago(5)));
}

void VolumeGroup::write_indices(const BarContext& context, FeatureWriter& out) const {
  const History& history = context.history;
  out.put(mean_of(ease_.last(14), 14));
  out.put(context.indicators.in_volume(force_.value()));
  // The log of NVI (PVI) moves by r on bars whose volume fell (rose).
  // Source: Fosback 1976, "Stock Market Logic".
  out.put(sum_of(negative_index_.last(20), 20));
  out.put(sum_of(positive_index_.last(20), 20));
  for (const std::size_t span : {20, 60})
    out.put(correlation_of(history.log_return.last(span), history.log_volume.last(span), span,
                           kStdFloor, kLogVolumeFloor));
  const double* balance = balance_.last(20);
  const double signed_sum = sum_of(balance, 20);
  const double total = sum_of(20, [balance](std::size_t i) { return std::abs(balance[i]); });
  out.put(ratio_or_zero(signed_sum, total, kVolumeFloor));
  out.put(profile_.excess());
}
}  // namespace drey::trainer
