// time_text_test.cpp: every form of time, at its borders, and back to text.
// SPDX-License-Identifier: MIT
#include "trainer/data/time_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace drey::trainer {
namespace {
constexpr std::int64_t kMomentNs = 1'609'459'445 * kSecondNs;  // 2021-01-01T00:04:05Z

TEST(TimeText, IsoDateIsMidnightUtc) {
  EXPECT_EQ(parse_time("1970-01-01"), 0);
  EXPECT_EQ(parse_time("2021-01-01"), 1'609'459'200 * kSecondNs);
  EXPECT_EQ(parse_time("1969-12-31"), -kDayNs);
  EXPECT_EQ(parse_time("2000-02-29"), 951'782'400 * kSecondNs);
}

TEST(TimeText, IsoSeparatorMayBeTOrSpace) {
  for (const char* text : {"2021-01-01T00:04:05", "2021-01-01 00:04:05", "2021-01-01t00:04:05"})
    EXPECT_EQ(parse_time(text), kMomentNs) << text;
}

TEST(TimeText, IsoSecondsMayBeMissing) {
  EXPECT_EQ(parse_time("2021-01-01T00:04"), kMomentNs - 5 * kSecondNs);
}

TEST(TimeText, IsoFractionReachesNanoseconds) {
  EXPECT_EQ(parse_time("2021-01-01T00:04:05.5"), kMomentNs + 500'000'000);
  EXPECT_EQ(parse_time("2021-01-01T00:04:05.000001"), kMomentNs + 1'000);
  EXPECT_EQ(parse_time("2021-01-01 00:04:05.123456789Z"), kMomentNs + 123'456'789);
}

TEST(TimeText, IsoOffsetIsTakenOff) {
  for (const char* text :
       {"2021-01-01T00:04:05Z", "2021-01-01T02:04:05+02:00", "2021-01-01T02:04:05+0200",
        "2021-01-01T02:04:05+02", "2020-12-31T19:04:05-05:00", "2021-01-01T05:34:05+05:30"})
    EXPECT_EQ(parse_time(text), kMomentNs) << text;
}

TEST(TimeText, EuropeanFormIsDayFirst) {
  EXPECT_EQ(parse_time("01.01.2021 00:04:05"), kMomentNs);
  EXPECT_EQ(parse_time("01.01.2021 00:04:05.250"), kMomentNs + 250'000'000);
  EXPECT_EQ(parse_time("02.01.2021"), 1'609'545'600 * kSecondNs);
}

TEST(TimeText, EightDigitsThatAreADateAreADate) {
  EXPECT_EQ(parse_time("20210101"), 1'609'459'200 * kSecondNs);
  EXPECT_EQ(parse_time("20211301"), 20'211'301 * kSecondNs) << "month 13: epoch seconds";
}

TEST(TimeText, EpochUnitFollowsFromItsSize) {
  EXPECT_EQ(parse_time("1609459445"), kMomentNs);
  EXPECT_EQ(parse_time("1609459445000"), kMomentNs);
  EXPECT_EQ(parse_time("1609459445000000"), kMomentNs);
  EXPECT_EQ(parse_time("1609459445000000000"), kMomentNs);
  EXPECT_EQ(parse_time("0"), 0);
  EXPECT_EQ(parse_time("-86400"), -kDayNs);
}

TEST(TimeText, EpochMayHaveAFraction) {
  EXPECT_EQ(parse_time("1609459445.25"), kMomentNs + 250'000'000);
  EXPECT_EQ(parse_time("1609459445000.5"), kMomentNs + 500'000);
  EXPECT_EQ(parse_time("-0.5"), -500'000'000);
}

TEST(TimeText, WhatIsNoTimeIsNothing) {
  for (const char* text : {"",
                           "-",
                           "abc",
                           "2021-",
                           "2021-13-01",
                           "2021-02-29",
                           "2021-00-10",
                           "2021-01-32",
                           "2021-1-1",
                           "2021-01-01T",
                           "2021-01-01T24:00",
                           "2021-01-01T00:60",
                           "2021-01-01T00:00:61",
                           "2021-01-01T00:00:00.",
                           "2021-01-01T00:00:00.1234567890",
                           "2021-01-01T00:00:00X",
                           "2021-01-01T00:00:00+2",
                           "2021-01-01T00:00:00+25:00",
                           "2021-01-01x00:00",
                           "1699-01-01",
                           "2300-01-01",
                           "31.02.2021 00:00:00",
                           "01.01.21 00:00",
                           "1609459445x",
                           "1609459445.",
                           "9223372036854775807",
                           "99999999999999999999",
                           "nan",
                           "1e9"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

TEST(TimeText, FormattedTimeReadsBackAsItself) {
  for (const std::int64_t time_ns :
       {std::int64_t{0}, kMomentNs, kMomentNs + 1, -kDayNs - 1, std::int64_t{-1}})
    EXPECT_EQ(parse_time(format_time(time_ns)), time_ns) << format_time(time_ns);
  EXPECT_EQ(format_time(kMomentNs), "2021-01-01T00:04:05Z");
  EXPECT_EQ(format_time(kMomentNs + 7), "2021-01-01T00:04:05.000000007Z");
}

TEST(TimeText, MidnightIsWrittenAsADate) {
  EXPECT_EQ(format_time_briefly(1'609'459'200 * kSecondNs), "2021-01-01");
  EXPECT_EQ(format_time_briefly(kMomentNs), "2021-01-01T00:04:05Z");
}

TEST(TimeText, DurationsAreInTheLargestUnit) {
  EXPECT_EQ(format_duration(kDayNs), "1 d");
  EXPECT_EQ(format_duration(90 * kMinuteNs), "1.5 h");
  EXPECT_EQ(format_duration(kMinuteNs), "1 min");
  EXPECT_EQ(format_duration(30 * kSecondNs), "30 s");
  EXPECT_EQ(format_duration(kSecondNs / 4), "0.25 s");
}
}  // namespace
}  // namespace drey::trainer
