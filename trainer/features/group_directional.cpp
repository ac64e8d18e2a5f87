// group_directional.cpp: see group_directional.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_directional.hpp"

#include <cmath>

namespace drey::trainer {
void DirectionalGroup::push(const BarContext& context) {
  if (context.index == 0) return;
  const double up = context.bar.high - context.previous.high;
  const double down = context.previous.low - context.bar.low;
  rise_.push(up > down && up > 0.0 ? up : 0.0);
  fall_.push(down > up && down > 0.0 ? down : 0.0);
  range_.push(context.history.true_range.newest());
  if (context.index < kPeriod) return;
  // Relative floor: after a long flat stretch the sums are tiny but still in proportion.
  const double floor = context.indicators.atr_floor;
  if (range_.value() > floor) {
    plus_ = 100.0 * rise_.value() / range_.value();
    minus_ = 100.0 * fall_.value() / range_.value();
    const double moved = rise_.value() + fall_.value();
    if (moved > floor) {
      dx_ = 100.0 * std::abs(rise_.value() - fall_.value()) / moved;
      adx_.push(dx_);
    }
  }
  adx_history_.push(adx_.value());
}

void DirectionalGroup::write(const BarContext&, FeatureWriter& out) const {
  const auto put = [&out](double index) { out.put(index / 50.0 - 1.0); };
  put(adx_.value());
  put(plus_);
  put(minus_);
  put(dx_);
  put(0.5 * (adx_.value() + adx_history_.ago(kPeriod - 1)));
}
}  // namespace drey::trainer
