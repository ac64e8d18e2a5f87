// session_clock.cpp: see session_clock.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/session_clock.hpp"

#include <algorithm>
#include <chrono>

#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
namespace chrono = std::chrono;
constexpr double kMinutesPerDay = 1440.0;
constexpr std::int64_t kRegularNs = 6 * kHourNs + 30 * kMinuteNs;

double minutes(std::int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(kMinuteNs);
}

std::int64_t floor_day(std::int64_t ns) {
  return ns / kDayNs - (ns % kDayNs < 0 ? 1 : 0);
}

// Source: US Uniform Time Act as amended in 1986 and by the Energy Policy Act of 2005.
bool new_york_saves_daylight(chrono::sys_days day) {
  const chrono::year year = chrono::year_month_day(day).year();
  if (year >= chrono::year(2007)) {
    const chrono::sys_days first = year / chrono::March / chrono::Sunday[2];
    const chrono::sys_days last = year / chrono::November / chrono::Sunday[1];
    return day >= first && day < last;
  }
  const chrono::sys_days first = year / chrono::April / chrono::Sunday[1];
  const chrono::sys_days last = year / chrono::October / chrono::Sunday[chrono::last];
  return day >= first && day < last;
}
}  // namespace

SessionClock::SessionClock(std::int64_t bar_length_ns)
    : bar_length_ns_(bar_length_ns),
      gap_ns_(std::max(30 * kMinuteNs, bar_length_ns + bar_length_ns / 2)) {
  length_by_hour_.fill(-1.0);
}

void SessionClock::push(const Bar& bar) {
  const std::int64_t time_ns = bar.timestamp_ns;
  const std::int64_t day = floor_day(time_ns);
  const bool first = day_ == INT64_MIN;
  place_.after_gap = !first && time_ns - last_ns_ > gap_ns_;
  place_.opens_session = first || place_.after_gap || day != day_;
  if (place_.opens_session && !first) {
    last_length_ = minutes(last_ns_ - open_ns_ + bar_length_ns_);
    const std::int64_t hour = (open_ns_ - floor_day(open_ns_) * kDayNs) / kHourNs;
    length_by_hour_[static_cast<std::size_t>(hour)] = last_length_;
  }
  if (day != day_) enter_day(day);
  if (place_.opens_session) open_ns_ = time_ns;
  const std::int64_t into_day_ns = time_ns - day * kDayNs;
  place_.minute_of_day = minutes(into_day_ns);
  place_.since_open = minutes(time_ns - open_ns_);
  place_.to_close = std::max(0.0, expected_length() - place_.since_open);
  place_.regular_hours = place_.weekday < 5 && into_day_ns < regular_open_ns_ + kRegularNs &&
                         into_day_ns + bar_length_ns_ > regular_open_ns_;
  last_ns_ = time_ns;
}

void SessionClock::enter_day(std::int64_t day) {
  day_ = day;
  const chrono::sys_days date{chrono::days(day)};
  place_.weekday = static_cast<int>(chrono::weekday(date).iso_encoding()) - 1;
  place_.month = static_cast<int>(static_cast<unsigned>(chrono::year_month_day(date).month()));
  const std::int64_t offset_ns = (new_york_saves_daylight(date) ? 4 : 5) * kHourNs;
  regular_open_ns_ = 9 * kHourNs + 30 * kMinuteNs + offset_ns;
}

double SessionClock::expected_length() const {
  const std::int64_t into_day_ns = open_ns_ - floor_day(open_ns_) * kDayNs;
  const double same_hour = length_by_hour_[static_cast<std::size_t>(into_day_ns / kHourNs)];
  if (same_hour >= 0.0) return same_hour;
  if (last_length_ >= 0.0) return last_length_;
  return kMinutesPerDay - minutes(into_day_ns);
}
}  // namespace drey::trainer
