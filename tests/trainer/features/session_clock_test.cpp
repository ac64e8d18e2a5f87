// session_clock_test.cpp: days, sessions and New York's hours at known moments.
// SPDX-License-Identifier: MIT
#include "trainer/features/session_clock.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
Bar bar_at(std::string_view time) {
  return {parse_time(time).value(), 1.0, 1.0, 1.0, 1.0, 0.0};
}

SessionPlace place_of(std::string_view time, std::int64_t bar_length_ns = kMinuteNs) {
  SessionClock clock(bar_length_ns);
  clock.push(bar_at(time));
  return clock.place();
}

TEST(SessionClock, KnowsDayAndMonth) {
  EXPECT_EQ(place_of("2024-01-01").weekday, 0) << "a Monday";
  EXPECT_EQ(place_of("2024-02-29").weekday, 3);
  EXPECT_EQ(place_of("2024-02-29").month, 2);
  EXPECT_EQ(place_of("1969-12-28T23:59:00Z").weekday, 6) << "before the epoch";
  EXPECT_EQ(place_of("1969-12-28T23:59:00Z").minute_of_day, 1439.0);
  EXPECT_EQ(place_of("2024-01-01T10:30:45Z").minute_of_day, 630.75);
}

TEST(SessionClock, RegularHoursFollowDaylightSaving) {
  EXPECT_TRUE(place_of("2024-01-10T14:30:00Z").regular_hours) << "winter: from 14:30 UTC";
  EXPECT_FALSE(place_of("2024-01-10T14:29:00Z").regular_hours);
  EXPECT_TRUE(place_of("2024-01-10T20:59:00Z").regular_hours);
  EXPECT_FALSE(place_of("2024-01-10T21:00:00Z").regular_hours);
  EXPECT_TRUE(place_of("2024-07-10T13:30:00Z").regular_hours) << "summer: from 13:30 UTC";
  EXPECT_FALSE(place_of("2024-07-10T20:00:00Z").regular_hours);
  EXPECT_FALSE(place_of("2024-03-08T13:30:00Z").regular_hours) << "Friday before the change";
  EXPECT_TRUE(place_of("2024-03-11T13:30:00Z").regular_hours) << "Monday after";
  EXPECT_TRUE(place_of("2024-11-01T13:30:00Z").regular_hours) << "Friday before the end";
  EXPECT_FALSE(place_of("2024-11-04T13:30:00Z").regular_hours) << "Monday after";
  EXPECT_FALSE(place_of("2005-03-21T13:30:00Z").regular_hours) << "until 2006 from April";
  EXPECT_TRUE(place_of("2005-04-04T13:30:00Z").regular_hours);
  EXPECT_FALSE(place_of("2005-10-31T13:30:00Z").regular_hours) << "until 2006 to October";
  EXPECT_FALSE(place_of("2024-01-13T16:00:00Z").regular_hours) << "a Saturday";
}

TEST(SessionClock, LongBarsCountWhenTheyOverlapRegularHours) {
  EXPECT_TRUE(place_of("2024-01-10T14:00:00Z", kHourNs).regular_hours);
  EXPECT_FALSE(place_of("2024-01-10T13:00:00Z", kHourNs).regular_hours);
  EXPECT_TRUE(place_of("2024-01-10", kDayNs).regular_hours);
  EXPECT_FALSE(place_of("2024-01-13", kDayNs).regular_hours);
}

TEST(SessionClock, GapOfMoreThanThirtyMinutesOpensASession) {
  SessionClock clock(kMinuteNs);
  clock.push(bar_at("2024-01-10T14:00:00Z"));
  EXPECT_TRUE(clock.place().opens_session);
  EXPECT_FALSE(clock.place().after_gap) << "nothing before it";
  clock.push(bar_at("2024-01-10T14:30:00Z"));
  EXPECT_FALSE(clock.place().opens_session) << "just 30 minutes";
  EXPECT_EQ(clock.place().since_open, 30.0);
  clock.push(bar_at("2024-01-10T15:01:00Z"));
  EXPECT_TRUE(clock.place().opens_session);
  EXPECT_TRUE(clock.place().after_gap);
  EXPECT_EQ(clock.place().since_open, 0.0);
}

TEST(SessionClock, HourlyBarsInARowHaveNoGap) {
  SessionClock clock(kHourNs);
  clock.push(bar_at("2024-01-10T14:00:00Z"));
  clock.push(bar_at("2024-01-10T15:00:00Z"));
  EXPECT_FALSE(clock.place().after_gap);
  clock.push(bar_at("2024-01-10T17:00:00Z"));
  EXPECT_TRUE(clock.place().after_gap);
}

TEST(SessionClock, NewDayOpensASessionWithoutAGap) {
  SessionClock clock(kMinuteNs);
  clock.push(bar_at("2024-01-10T23:59:00Z"));
  clock.push(bar_at("2024-01-11T00:00:00Z"));
  EXPECT_TRUE(clock.place().opens_session);
  EXPECT_FALSE(clock.place().after_gap);
}

TEST(SessionClock, CloseIsExpectedAsInTheLastSessionThatOpenedAtThatHour) {
  SessionClock clock(kMinuteNs);
  clock.push(bar_at("2024-01-10T14:30:00Z"));
  EXPECT_EQ(clock.place().to_close, 570.0) << "nothing known: the end of the day";
  for (int minute = 1; minute < 100; ++minute) {
    const std::int64_t time_ns = *parse_time("2024-01-10T14:30:00Z") + minute * kMinuteNs;
    clock.push({time_ns, 1.0, 1.0, 1.0, 1.0, 0.0});
  }
  clock.push(bar_at("2024-01-10T22:00:00Z"));  // an evening session of one bar
  EXPECT_EQ(clock.place().to_close, 100.0) << "that hour is new: as the last session";
  clock.push(bar_at("2024-01-11T14:30:00Z"));
  EXPECT_EQ(clock.place().to_close, 100.0) << "as yesterday at that hour, not as last evening";
  clock.push(bar_at("2024-01-11T14:40:00Z"));
  EXPECT_EQ(clock.place().to_close, 90.0);
}

TEST(SessionClock, ASessionThatRunsOverHasNothingLeft) {
  SessionClock clock(kMinuteNs);
  clock.push(bar_at("2024-01-10T14:30:00Z"));
  clock.push(bar_at("2024-01-11T14:30:00Z"));
  EXPECT_EQ(clock.place().to_close, 1.0) << "a session of one bar was the last";
  clock.push(bar_at("2024-01-11T14:35:00Z"));
  EXPECT_EQ(clock.place().to_close, 0.0);
}
}  // namespace
}  // namespace drey::trainer
