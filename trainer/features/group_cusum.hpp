// group_cusum.hpp: features 201 to 210: cumulative sums that notice a shift of drift or volatility.
// z = r over the EWMA volatility known before the bar, held within +-10.
//   S+ = max(0, S+ + z - k), S- = max(0, S- - z - k), k = 0.5; an alarm above h = 5, after which
//   the sum starts again at 0 (the bar of the alarm still shows it).
// The sums on z^2 - 1 raise no alarm; they are held below 2 h instead.
// Source: Page 1954, "Continuous Inspection Schemes".
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trainer/features/bar_context.hpp"

namespace drey::trainer {
class CusumGroup {
 public:
  static constexpr std::size_t kFirst = 201;
  static constexpr std::size_t kCount = 10;

  void push(const BarContext& context);
  void write(const BarContext& context, FeatureWriter& out) const;

 private:
  void note_alarm(bool up, bool down);

  static constexpr std::size_t kMemoryBars = 120;
  double up_ = 0.0;
  double down_ = 0.0;
  double alarm_up_ = 0.0;  // 1 at an alarm, then 0.95 of it each bar
  double alarm_down_ = 0.0;
  double since_ = 0.0;      // bars since the last alarm
  double z_sum_ = 0.0;      // over those bars
  double direction_ = 0.0;  // of the last alarm
  double variance_up_ = 0.0;
  double variance_down_ = 0.0;
  std::array<std::uint8_t, kMemoryBars> alarms_{};  // a ring
  std::size_t next_ = 0;
  int alarm_count_ = 0;
};
}  // namespace drey::trainer
