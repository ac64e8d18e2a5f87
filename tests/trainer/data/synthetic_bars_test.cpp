// synthetic_bars_test.cpp: the generator keeps the promises of a series and looks like a market.
// SPDX-License-Identifier: MIT
#include "trainer/data/synthetic_bars.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iostream>

namespace drey::trainer {
namespace {
void expect_sound(const BarSeries& series) {
  for (std::size_t i = 0; i < series.bars.size(); ++i) {
    const Bar& bar = series.bars[i];
    ASSERT_TRUE(std::isfinite(bar.volume) && bar.volume >= 0.0) << i;
    ASSERT_GT(bar.low, 0.0) << i;
    ASSERT_TRUE(bar.low <= bar.open && bar.open <= bar.high) << i;
    ASSERT_TRUE(bar.low <= bar.close && bar.close <= bar.high) << i;
    ASSERT_TRUE(std::isfinite(bar.high)) << i;
    if (i != 0) {
      ASSERT_GT(bar.timestamp_ns, series.bars[i - 1].timestamp_ns) << i;
    }
  }
}

TEST(SyntheticBars, KeepThePromisesOfASeries) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    std::cout << "seed " << seed << "\n";
    const BarSeries series = synthetic_bars(50'000, seed);
    EXPECT_EQ(series.bars.size(), 50'000u);
    EXPECT_EQ(series.source, "synthetic:50000:" + std::to_string(seed));
    expect_sound(series);
  }
}

TEST(SyntheticBars, DailyAndHourlyBarsAreSoundToo) {
  for (const std::int64_t length_ns : {kDayNs, kHourNs, kSecondNs}) {
    const BarSeries series =
        synthetic_bars({.row_count = 3'000, .seed = 4, .bar_length_ns = length_ns});
    expect_sound(series);
    EXPECT_EQ(series.bars[1].timestamp_ns - series.bars[0].timestamp_ns, length_ns);
  }
}

TEST(SyntheticBars, AreTheSameForTheSameSeedOnly) {
  const BarSeries a = synthetic_bars(1'000, 7);
  const BarSeries b = synthetic_bars(1'000, 7);
  const BarSeries c = synthetic_bars(1'000, 8);
  EXPECT_EQ(std::memcmp(a.bars.data(), b.bars.data(), a.bars.size() * sizeof(Bar)), 0);
  EXPECT_NE(std::memcmp(a.bars.data(), c.bars.data(), a.bars.size() * sizeof(Bar)), 0);
}

TEST(SyntheticBars, BeginAlikeWhateverTheirNumber) {
  const BarSeries few = synthetic_bars(500, 7);
  const BarSeries many = synthetic_bars(5'000, 7);
  EXPECT_EQ(std::memcmp(few.bars.data(), many.bars.data(), few.bars.size() * sizeof(Bar)), 0);
}

TEST(SyntheticBars, SessionsHaveNightsAndWeekendsBetween) {
  const BarSeries series = synthetic_bars(3'900, 1);
  std::size_t nights = 0;
  std::size_t weekends = 0;
  for (std::size_t i = 1; i < series.bars.size(); ++i) {
    const std::int64_t step_ns = series.bars[i].timestamp_ns - series.bars[i - 1].timestamp_ns;
    nights += step_ns == 17 * kHourNs + 31 * kMinuteNs ? 1 : 0;
    weekends += step_ns > 2 * kDayNs ? 1 : 0;
  }
  EXPECT_EQ(nights, 8u);
  EXPECT_EQ(weekends, 1u);
}

TEST(SyntheticBars, VolumeIsHighestAtBothEndsOfTheSession) {
  const BarSeries series = synthetic_bars(78'000, 1);
  double edge = 0.0;
  double middle = 0.0;
  for (std::size_t i = 0; i < series.bars.size(); ++i) {
    const std::size_t minute = i % 390;
    if (minute < 20 || minute >= 370) edge += std::log(series.bars[i].volume + 1.0) / (40 * 200);
    if (minute >= 185 && minute < 205) middle += std::log(series.bars[i].volume + 1.0) / (20 * 200);
  }
  EXPECT_GT(edge, middle + 0.8);
}

TEST(SyntheticBars, LongSeriesStayWithinASanePrice) {
  const BarSeries series = synthetic_bars({.row_count = 200'000, .seed = 5});
  for (const Bar& bar : series.bars) {
    ASSERT_GT(bar.low, 1.0);
    ASSERT_LT(bar.high, 10'000.0);
  }
}
}  // namespace
}  // namespace drey::trainer
