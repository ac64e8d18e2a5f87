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

// How many deviations the running sum of 60 signed volumes ends above its mean.
double z_of_balance(const RunningSums<2>& sums) {
  return ratio_or_zero(sums.total[0] - sums.mean[0], std::sqrt(sums.squares[0] / 60.0),
                       kVolumeFloor);
}

double z_of_log_volume(const History& history, double mean, double variance) {
  return ratio_or_zero(history.log_volume.newest() - mean, std::sqrt(variance), kLogVolumeFloor);
}

// Volume-weighted mean of the typical price; the plain mean where nothing traded.
template <std::size_t kSpan>
double weighted_price(const WindowStatistics& windows) {
  const auto& sums = windows.pairs.sums<kSpan>();
  const double volume = sums.mean_x[kVolumeTypical];
  if (volume > kVolumeFloor / kSpan) return sums.mean_x[kTradedIlliquid] / volume;
  return sums.mean_y[kVolumeTypical];
}

template <std::size_t kSpan>
void put_relative_volume(const WindowStatistics& windows, double volume, FeatureWriter& out) {
  out.put_log((volume + 1.0) / (windows.pairs.sums<kSpan>().mean_x[kVolumeTypical] + 1.0));
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
  vwap_20_.push(weighted_price<20>(context.windows));
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
  const double location = ratio_or_zero((bar.close - bar.low) - (bar.high - bar.close),
                                        bar.high - bar.low, 1e-12 * bar.close);
  const double flow = location * bar.volume;
  sums_.push({bar.volume * sign_of(history.close_change.newest()), flow});
  // EMA_t - AD_t = (1 - k) (EMA_{t-1} - AD_{t-1} - flow_t): no need of A/D itself.
  if (context.index != 0) {
    fast_gap_ = (1.0 - 2.0 / 4.0) * (fast_gap_ - flow);
    slow_gap_ = (1.0 - 2.0 / 11.0) * (slow_gap_ - flow);
  }
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
  session_traded_ += context.history.typical.newest() * context.bar.volume;
  session_volume_ += context.bar.volume;
  session_typical_ += context.history.typical.newest();
  session_bars_ += 1.0;
}

void VolumeGroup::write(const BarContext& context, FeatureWriter& out) const {
  const History& history = context.history;
  const WindowStatistics& windows = context.windows;
  const auto put_z = [&](double mean, double variance) {
    out.put(z_of_log_volume(history, mean, variance));
  };
  const auto& pairs_20 = windows.pairs.sums<20>();
  const auto& pairs_60 = windows.pairs.sums<60>();
  put_z(pairs_20.mean_y[kReturnVolume], pairs_20.yy[kReturnVolume] / 20.0);
  put_z(pairs_60.mean_y[kReturnVolume], pairs_60.yy[kReturnVolume] / 60.0);
  put_z(windows.series.sums<240>().mean[kLogVolume], windows.series.variance<240>(kLogVolume));
  put_relative_volume<5>(windows, context.bar.volume, out);
  put_relative_volume<20>(windows, context.bar.volume, out);
  put_relative_volume<60>(windows, context.bar.volume, out);
  write_flows(context, out);
  write_weighted_price(context, out);
  write_indices(context, out);
}

void VolumeGroup::write_flows(const BarContext& context, FeatureWriter& out) const {
  const Indicators& shared = context.indicators;
  const double volume_20 = 20.0 * shared.volume_mean_20;
  out.put(shared.in_volume(sums_.slope_20(0)));
  out.put(z_of_balance(sums_.sums_60()));
  out.put(shared.in_volume(sums_.slope_20(1)));
  out.put(shared.in_volume(fast_gap_ - slow_gap_));
  out.put(ratio_or_zero(sums_.sums_20().total[1], volume_20, kVolumeFloor));
  const double up = sum_of(money_up_.last(14), 14);
  const double down = sum_of(money_down_.last(14), 14);
  out.put(ratio_or_zero(up - down, up + down, kVolumeFloor * context.bar.close));
}

void VolumeGroup::write_weighted_price(const BarContext& context, FeatureWriter& out) const {
  const double close = context.bar.close;
  out.put_log(close / vwap_20_.newest());
  out.put_log(close / weighted_price<60>(context.windows));
  const double session_price = session_volume_ > kVolumeFloor ? session_traded_ / session_volume_
                                                              : session_typical_ / session_bars_;
  out.put_log(close / session_price);
  out.put_log(vwap_20_.newest() / vwap_20_.ago(5));
}

void VolumeGroup::write_indices(const BarContext& context, FeatureWriter& out) const {
  const PairBank<kPairLaneCount>& pairs = context.windows.pairs;
  out.put(mean_of(ease_.last(14), 14));
  out.put(context.indicators.in_volume(force_.value()));
  // The log of NVI (PVI) moves by r on bars whose volume fell (rose).
  // Source: Fosback 1976, "Stock Market Logic".
  out.put(sum_of(negative_index_.last(20), 20));
  out.put(sum_of(positive_index_.last(20), 20));
  out.put(pairs.correlation<20>(kReturnVolume, kStdFloor, kLogVolumeFloor));
  out.put(pairs.correlation<60>(kReturnVolume, kStdFloor, kLogVolumeFloor));
  const auto& sums = pairs.sums<20>();
  out.put(ratio_or_zero(sums.mean_x[kBalanceSize], sums.mean_y[kBalanceSize], kVolumeFloor / 20.0));
  out.put(profile_.excess());
}
}  // namespace drey::trainer
