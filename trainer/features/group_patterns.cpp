// group_patterns.cpp: each pattern is one function of the last candles, newest at index 0.
// Source of every rule: TA-Lib's definition of the pattern of that name.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_patterns.hpp"

#include <algorithm>

#include "trainer/features/window_math.hpp"

namespace drey::trainer {
namespace {
double doji(const Candles& c) {
  return c[0].body() <= 0.1 * c[0].usual_range_10 ? 1.0 : 0.0;
}

double hammer(const Candles& c) {
  const bool small_body = c[0].body() < c[0].usual_body;
  const bool long_lower_shadow = c[0].lower_shadow() > c[0].body();
  const bool near_the_low = c[0].bottom() <= c[1].low + c[1].near();
  return small_body && long_lower_shadow && c[0].no_upper_shadow() && near_the_low ? 1.0 : 0.0;
}

// +-1 when the new body goes beyond the old at both ends, +-0.8 when it shares one of them.
double engulfing(const Candles& c) {
  if (c[0].white() == c[1].white()) return 0.0;
  const bool covers = c[0].top() >= c[1].top() && c[0].bottom() <= c[1].bottom();
  const bool shares_top = c[0].top() == c[1].top();
  const bool shares_bottom = c[0].bottom() == c[1].bottom();
  if (!covers || (shares_top && shares_bottom)) return 0.0;
  const double size = shares_top || shares_bottom ? 0.8 : 1.0;
  return c[0].white() ? size : -size;
}

// The same, with the new body inside the old.
double harami(const Candles& c) {
  if (!c[1].long_body() || c[0].body() > c[0].usual_body) return 0.0;
  if (c[0].top() > c[1].top() || c[0].bottom() < c[1].bottom()) return 0.0;
  const bool strictly = c[0].top() < c[1].top() && c[0].bottom() > c[1].bottom();
  const double size = strictly ? 1.0 : 0.8;
  return c[1].white() ? -size : size;
}

constexpr double kStarPenetration = 0.3;  // how far the third body reaches into the first

double morning_star(const Candles& c) {
  const bool falls = c[2].long_body() && !c[2].white();
  const bool rests_below = c[1].body() <= c[1].usual_body && c[1].top() < c[2].bottom();
  const bool rises =
      c[0].long_body() && c[0].white() && c[0].close > c[2].close + c[2].body() * kStarPenetration;
  return falls && rests_below && rises ? 1.0 : 0.0;
}

double evening_star(const Candles& c) {
  const bool rises = c[2].long_body() && c[2].white();
  const bool rests_above = c[1].body() <= c[1].usual_body && c[1].bottom() > c[2].top();
  const bool falls =
      c[0].long_body() && !c[0].white() && c[0].close < c[2].close - c[2].body() * kStarPenetration;
  return rises && rests_above && falls ? -1.0 : 0.0;
}

double three_white_soldiers(const Candles& c) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (!c[i].white() || !c[i].no_upper_shadow()) return 0.0;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const Candle& later = c[i];
    const Candle& earlier = c[i + 1];
    const bool climbs = later.close > earlier.close && later.open > earlier.open;
    const bool opens_near = later.open <= earlier.close + earlier.near();
    const bool not_far_shorter = later.body() > earlier.body() - earlier.far();
    if (!climbs || !opens_near || !not_far_shorter) return 0.0;
  }
  return c[0].body() > c[0].usual_body ? 1.0 : 0.0;
}

double three_black_crows(const Candles& c) {
  if (!c[3].white() || !(c[3].high > c[2].close)) return 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (c[i].white() || !c[i].no_lower_shadow()) return 0.0;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const Candle& later = c[i];
    const Candle& earlier = c[i + 1];
    const bool opens_inside = later.open < earlier.open && later.open > earlier.close;
    if (!opens_inside || !(later.close < earlier.close)) return 0.0;
  }
  return -1.0;
}

double marubozu(const Candles& c) {
  const bool full = c[0].long_body() && c[0].no_upper_shadow() && c[0].no_lower_shadow();
  if (!full) return 0.0;
  return c[0].white() ? 1.0 : -1.0;
}

double three_inside(const Candles& c) {
  const bool inside = c[2].long_body() && c[1].body() <= c[1].usual_body &&
                      c[1].top() < c[2].top() && c[1].bottom() > c[2].bottom();
  if (!inside || c[0].white() == c[2].white()) return 0.0;
  if (c[0].white()) return c[0].close > c[2].open ? 1.0 : 0.0;
  return c[0].close < c[2].open ? -1.0 : 0.0;
}
}  // namespace

void PatternsGroup::push(const BarContext& context) {
  std::copy_backward(candles_.begin(), candles_.end() - 1, candles_.end());
  Candle& candle = candles_[0];
  const Bar& bar = context.bar;
  candle.open = bar.open;
  candle.high = bar.high;
  candle.low = bar.low;
  candle.close = bar.close;
  candle.usual_body = mean_of(body_.last(10), 10);
  candle.usual_range_10 = mean_of(range_.last(10), 10);
  candle.usual_range_5 = mean_of(range_.last(5), 5);
  body_.push(candle.body());
  range_.push(candle.range());
}

void PatternsGroup::write(const BarContext&, FeatureWriter& out) const {
  out.put(doji(candles_));
  out.put(hammer(candles_));
  out.put(engulfing(candles_));
  out.put(harami(candles_));
  out.put(morning_star(candles_));
  out.put(evening_star(candles_));
  out.put(three_white_soldiers(candles_));
  out.put(three_black_crows(candles_));
  out.put(marubozu(candles_));
  out.put(three_inside(candles_));
}
}  // namespace drey::trainer
