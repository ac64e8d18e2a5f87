// group_calendar.hpp: features 191 to 200: time of day, week and year, and place in the session.
// Read next: session_clock.hpp, which says what a session is.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

#include "trainer/features/bar_context.hpp"

namespace drey::trainer {
class CalendarGroup {
 public:
  static constexpr std::size_t kFirst = 191;
  static constexpr std::size_t kCount = 10;

  void push(const BarContext&) {}

  void write(const BarContext& context, FeatureWriter& out) const {
    constexpr double kMinutesPerDay = 1440.0;
    const SessionPlace& place = context.place;
    put_angle(place.minute_of_day / kMinutesPerDay, out);
    put_angle(static_cast<double>(place.weekday) / 7.0, out);
    put_angle(static_cast<double>(place.month) / 12.0, out);
    out.put(place.since_open / kMinutesPerDay);
    out.put(place.to_close / kMinutesPerDay);
    out.put(place.regular_hours ? 1.0 : 0.0);
    out.put(place.after_gap ? 1.0 : 0.0);
  }

 private:
  static void put_angle(double turns, FeatureWriter& out) {
    out.put(std::sin(2.0 * std::numbers::pi * turns));
    out.put(std::cos(2.0 * std::numbers::pi * turns));
  }
};
}  // namespace drey::trainer
