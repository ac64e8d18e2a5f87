// patterns_test.cpp: features 169 to 178: each candle pattern is found where it stands, and not
// when one condition of it is broken.
// Method: a warm-up of alternating ordinary candles (body 1, range 2) around 100, then the pattern;
// the last row is looked at.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "trainer/features/feature_series.hpp"

namespace drey::trainer {
namespace {
struct Prices {
  double open, high, low, close;
};

double value_after(std::string_view name, std::initializer_list<Prices> pattern) {
  BarSeries series = flat_bars(kWarmupBars, 100.0, 10.0);
  for (std::size_t i = 0; i < series.bars.size(); ++i) {
    Bar& bar = series.bars[i];
    bar.open = i % 2 == 0 ? 99.5 : 100.5;
    bar.close = 200.0 - bar.open;
    bar.high = 101.0;
    bar.low = 99.0;
  }
  for (const Prices& p : pattern)
    series.bars.push_back({static_cast<std::int64_t>(series.bars.size()) * kMinuteNs, p.open,
                           p.high, p.low, p.close, 10.0});
  return last_value(compute_features(series), name);
}

TEST(Patterns, DojiHasAlmostNoBody) {
  EXPECT_EQ(value_after("cdl_doji", {{100.0, 101.0, 99.0, 100.19}}), 1.0);
  EXPECT_EQ(value_after("cdl_doji", {{100.0, 101.0, 99.0, 100.21}}), 0.0);
}

TEST(Patterns, HammerHangsFromASmallBodyNearTheLow) {
  EXPECT_EQ(value_after("cdl_hammer", {{99.2, 99.5, 97.0, 99.4}}), 1.0);
  EXPECT_EQ(value_after("cdl_hammer", {{99.2, 99.7, 97.0, 99.4}}), 0.0) << "upper shadow";
  EXPECT_EQ(value_after("cdl_hammer", {{99.2, 99.5, 99.1, 99.4}}), 0.0) << "no lower shadow";
  EXPECT_EQ(value_after("cdl_hammer", {{100.2, 100.5, 97.0, 100.4}}), 0.0) << "far from the low";
}

TEST(Patterns, EngulfingBodyCoversTheLast) {
  // The last candle of the warm-up is black, 100.5 to 99.5.
  EXPECT_EQ(value_after("cdl_engulfing", {{99.0, 101.5, 98.5, 101.0}}), 1.0);
  EXPECT_FLOAT_EQ(static_cast<float>(value_after("cdl_engulfing", {{99.5, 101.5, 98.5, 101.0}})),
                  0.8F);
  EXPECT_EQ(value_after("cdl_engulfing", {{99.5, 101.5, 98.5, 100.5}}), 0.0) << "the same body";
  EXPECT_EQ(value_after("cdl_engulfing", {{101.0, 101.5, 98.5, 99.0}}), 0.0) << "the same colour";
  EXPECT_EQ(value_after("cdl_engulfing", {{99.5, 101.0, 99.0, 100.5}, {101.0, 101.5, 98.5, 99.0}}),
            -1.0);
}

TEST(Patterns, HaramiIsASmallBodyInsideALongOne) {
  EXPECT_EQ(value_after("cdl_harami", {{103.0, 103.5, 96.5, 97.0}, {99.0, 100.5, 98.5, 99.5}}),
            1.0);
  EXPECT_EQ(value_after("cdl_harami", {{97.0, 103.5, 96.5, 103.0}, {99.0, 100.5, 98.5, 99.5}}),
            -1.0);
  EXPECT_FLOAT_EQ(static_cast<float>(value_after(
                      "cdl_harami", {{103.0, 103.5, 96.5, 97.0}, {97.0, 98.5, 96.5, 97.5}})),
                  0.8F);
  EXPECT_EQ(value_after("cdl_harami", {{103.0, 103.5, 96.5, 97.0}, {96.9, 98.5, 96.5, 97.5}}), 0.0)
      << "outside";
}

TEST(Patterns, MorningStarTurnsAFall) {
  EXPECT_EQ(value_after(
                "cdl_morningstar",
                {{103.0, 103.5, 96.5, 97.0}, {96.5, 96.8, 96.0, 96.2}, {97.0, 101.0, 96.5, 100.5}}),
            1.0);
  EXPECT_EQ(
      value_after("cdl_morningstar",
                  {{103.0, 103.5, 96.5, 97.0}, {96.5, 96.8, 96.0, 96.2}, {97.0, 99.0, 96.5, 98.7}}),
      0.0)
      << "does not reach 0.3 into the first body";
  EXPECT_EQ(value_after(
                "cdl_morningstar",
                {{103.0, 103.5, 96.5, 97.0}, {97.2, 97.4, 96.0, 96.9}, {97.0, 101.0, 96.5, 100.5}}),
            0.0)
      << "no gap";
}

TEST(Patterns, EveningStarTurnsARise) {
  EXPECT_EQ(value_after("cdl_eveningstar", {{97.0, 103.5, 96.5, 103.0},
                                            {103.5, 104.0, 103.2, 103.8},
                                            {103.0, 103.5, 99.0, 99.5}}),
            -1.0);
  EXPECT_EQ(value_after("cdl_eveningstar", {{97.0, 103.5, 96.5, 103.0},
                                            {103.5, 104.0, 103.2, 103.8},
                                            {99.5, 103.5, 99.0, 103.0}}),
            0.0)
      << "the third is white";
}

TEST(Patterns, ThreeWhiteSoldiersClimb) {
  EXPECT_EQ(value_after("cdl_3whitesoldiers", {{100.0, 102.05, 99.5, 102.0},
                                               {101.0, 103.05, 100.5, 103.0},
                                               {102.0, 104.55, 101.5, 104.5}}),
            1.0);
  EXPECT_EQ(value_after("cdl_3whitesoldiers", {{100.0, 102.05, 99.5, 102.0},
                                               {101.0, 104.00, 100.5, 103.0},
                                               {102.0, 104.55, 101.5, 104.5}}),
            0.0)
      << "an upper shadow";
}

TEST(Patterns, ThreeBlackCrowsFall) {
  // Before them a white candle whose high is above the first crow's close.
  EXPECT_EQ(value_after("cdl_3blackcrows", {{99.5, 101.0, 99.0, 100.5},
                                            {100.4, 100.8, 98.45, 98.5},
                                            {99.5, 99.8, 97.45, 97.5},
                                            {98.5, 98.8, 96.45, 96.5}}),
            -1.0);
  EXPECT_EQ(value_after("cdl_3blackcrows", {{99.5, 101.0, 99.0, 100.5},
                                            {100.4, 100.8, 98.45, 98.5},
                                            {98.4, 99.8, 97.45, 97.5},
                                            {98.5, 98.8, 96.45, 96.5}}),
            0.0)
      << "opens below the last body";
}

TEST(Patterns, MarubozuIsAllBody) {
  EXPECT_EQ(value_after("cdl_marubozu", {{98.0, 102.05, 97.95, 102.0}}), 1.0);
  EXPECT_EQ(value_after("cdl_marubozu", {{102.0, 102.05, 97.95, 98.0}}), -1.0);
  EXPECT_EQ(value_after("cdl_marubozu", {{98.0, 102.50, 97.95, 102.0}}), 0.0);
}

TEST(Patterns, ThreeInsideConfirmsAHarami) {
  EXPECT_EQ(value_after("cdl_3inside", {{103.0, 103.5, 96.5, 97.0},
                                        {99.0, 100.5, 98.5, 99.5},
                                        {99.0, 104.0, 98.5, 103.5}}),
            1.0);
  EXPECT_EQ(value_after("cdl_3inside", {{97.0, 103.5, 96.5, 103.0},
                                        {99.0, 100.5, 98.5, 99.5},
                                        {100.0, 100.5, 96.0, 96.5}}),
            -1.0);
  EXPECT_EQ(value_after("cdl_3inside", {{103.0, 103.5, 96.5, 97.0},
                                        {99.0, 100.5, 98.5, 99.5},
                                        {99.0, 103.0, 98.5, 102.5}}),
            0.0)
      << "does not pass the first open";
}
}  // namespace
}  // namespace drey::trainer
