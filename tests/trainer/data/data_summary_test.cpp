// data_summary_test.cpp: the line that says what was read.
// SPDX-License-Identifier: MIT
#include "trainer/data/data_summary.hpp"

#include <gtest/gtest.h>

#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
BarSeries series_at(std::initializer_list<std::int64_t> minutes) {
  BarSeries series;
  for (const std::int64_t minute : minutes)
    series.bars.push_back({minute * kMinuteNs, 1.0, 1.0, 1.0, 1.0, 0.0});
  return series;
}

TEST(DataSummary, CountsGapsLongerThanOneAndAHalfBars) {
  const DataSummary summary = summarise(series_at({0, 1, 2, 3, 5, 6, 7, 100}));
  EXPECT_EQ(summary.row_count, 8u);
  EXPECT_EQ(summary.bar_length_ns, kMinuteNs);
  EXPECT_EQ(summary.gap_count, 2u);
  EXPECT_EQ(summary.gap_longest_ns, 93 * kMinuteNs);
  EXPECT_EQ(to_text(summary),
            "8 bars of 1 min, 1970-01-01 to 1970-01-01T01:40:00Z, 2 gaps, the longest 1.55 h, "
            "7 repeats, 8 of volume 0");
}

TEST(DataSummary, SaysWhenThereAreNoGaps) {
  EXPECT_EQ(to_text(summarise(series_at({0, 1, 2}))),
            "3 bars of 1 min, 1970-01-01 to 1970-01-01T00:02:00Z, no gaps, 2 repeats, 3 of "
            "volume 0");
}

TEST(DataSummary, CountsBarsThatRepeatTheOneBefore) {
  BarSeries series = series_at({0, 1, 2, 3});
  series.bars[2].volume = 5.0;
  const DataSummary summary = summarise(series);
  EXPECT_EQ(summary.repeat_count, 1u);
  EXPECT_EQ(summary.zero_volume_count, 3u);
}

TEST(DataSummary, NoneOrOneBarHasNoLength) {
  EXPECT_EQ(to_text(summarise(series_at({}))), "0 bars");
  EXPECT_EQ(to_text(summarise(series_at({0}))),
            "1 bars, 1970-01-01 to 1970-01-01, no gaps, 0 repeats, 1 of "
            "volume 0");
}
}  // namespace
}  // namespace drey::trainer
