// group_cusum.cpp: see group_cusum.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/group_cusum.hpp"

#include <algorithm>
#include <cmath>

namespace drey::trainer {
namespace {
constexpr double kSlack = 0.5;
constexpr double kThreshold = 5.0;
constexpr double kAlarmDecay = 0.95;
constexpr double kZMax = 10.0;

// An alarm of 300 bars ago is over: otherwise it would fade into subnormal numbers.
double faded(double alarm) {
  constexpr double kOver = 1e-6;
  return alarm * kAlarmDecay < kOver ? 0.0 : alarm * kAlarmDecay;
}
}  // namespace

void CusumGroup::push(const BarContext& context) {
  // The first bars have no volatility to be measured by.
  if (context.index < 20) return;
  const double volatility = std::max(context.indicators.volatility_before, kStdFloor);
  const double z = std::clamp(context.history.log_return.newest() / volatility, -kZMax, kZMax);
  if (up_ > kThreshold) up_ = 0.0;
  if (down_ > kThreshold) down_ = 0.0;
  up_ = std::max(0.0, up_ + z - kSlack);
  down_ = std::max(0.0, down_ - z - kSlack);
  const double excess = z * z - 1.0;
  variance_up_ = std::clamp(variance_up_ + excess - kSlack, 0.0, 2.0 * kThreshold);
  variance_down_ = std::clamp(variance_down_ - excess - kSlack, 0.0, 2.0 * kThreshold);
  since_ += 1.0;
  z_sum_ += z;
  alarm_up_ = faded(alarm_up_);
  alarm_down_ = faded(alarm_down_);
  note_alarm(up_ > kThreshold, down_ > kThreshold);
}

void CusumGroup::note_alarm(bool up, bool down) {
  alarm_count_ -= alarms_[next_];
  alarms_[next_] = static_cast<std::uint8_t>(up || down);
  alarm_count_ += alarms_[next_];
  next_ = (next_ + 1) % kMemoryBars;
  if (!up && !down) return;
  if (up) alarm_up_ = 1.0;
  if (down) alarm_down_ = 1.0;
  direction_ = up ? 1.0 : -1.0;
  since_ = 0.0;
  z_sum_ = 0.0;
}

void CusumGroup::write(const BarContext&, FeatureWriter& out) const {
  out.put(up_ / kThreshold);
  out.put(down_ / kThreshold);
  out.put(alarm_up_);
  out.put(alarm_down_);
  out.put_log(1.0 + since_, 0.1);
  out.put(alarm_count_ / 10.0);
  out.put(since_ > 0.0 ? z_sum_ / since_ : 0.0);
  out.put(variance_up_ / kThreshold);
  out.put(variance_down_ / kThreshold);
  out.put(direction_);
}
}  // namespace drey::trainer
