// group_calendar.hpp: features 191 to 200: time of day, week and year, and place in the session.
// Read next: session_clock.hpp, which says what a session is.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
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
    put_angle(angle_of(place.minute_of_day / kMinutesPerDay), out);
    put_angle(weekdays_[static_cast<std::size_t>(place.weekday)], out);
    put_angle(months_[static_cast<std::size_t>(place.month)], out);
    out.put(place.since_open / kMinutesPerDay);
    out.put(place.to_close / kMinutesPerDay);
    out.put(place.regular_hours ? 1.0 : 0.0);
    out.put(place.after_gap ? 1.0 : 0.0);
  }

 private:
  struct Angle {
    double sine = 0.0;
    double cosine = 1.0;
  };

  static Angle angle_of(double turns) {
    const double angle = 2.0 * std::numbers::pi * turns;
    return {std::sin(angle), std::cos(angle)};
  }
  static void put_angle(const Angle& angle, FeatureWriter& out) {
    out.put(angle.sine);
    out.put(angle.cosine);
  }
  template <std::size_t kCountOfParts>
  static std::array<Angle, kCountOfParts + 1> parts_of_a_turn() {
    std::array<Angle, kCountOfParts + 1> angles;
    for (std::size_t i = 0; i < angles.size(); ++i)
      angles[i] = angle_of(static_cast<double>(i) / static_cast<double>(kCountOfParts));
    return angles;
  }

  std::array<Angle, 8> weekdays_ = parts_of_a_turn<7>();  // 0 is Monday
  std::array<Angle, 13> months_ = parts_of_a_turn<12>();  // 1 is January
};
}  // namespace drey::trainer
