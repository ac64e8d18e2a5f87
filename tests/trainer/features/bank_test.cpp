// bank_test.cpp: windows that are joined from parts give what a plain loop over the window gives, for
// easy and for nasty values; their logarithms are as good as the C library's.
// Method: long double, each window summed anew.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

#include "trainer/features/close_means.hpp"
#include "trainer/features/moment_bank.hpp"
#include "trainer/features/pair_bank.hpp"
#include "trainer/features/price_extremes.hpp"
#include "trainer/features/running_sum_bank.hpp"
#include "trainer/features/vector_log.hpp"

namespace drey::trainer {
namespace {
constexpr std::uint64_t kSeed = 20'241'130;
constexpr std::size_t kCount = 700;
using Column = std::vector<double>;

/// Values around `origin`: what a sum of squares less the square of the sum would lose.
Column column(double origin, double deviation, std::uint64_t stream) {
  std::mt19937_64 random(kSeed + stream);
  std::normal_distribution<double> normal(origin, deviation);
  Column values(kCount);
  for (double& value : values) value = normal(random);
  return values;
}

long double mean_of_window(const Column& values, std::size_t t, std::size_t count) {
  long double sum = 0;
  for (std::size_t i = t + 1 - count; i <= t; ++i) sum += values[i];
  return sum / static_cast<long double>(count);
}

/// Sum of products of powers of the deviations.
long double cross_of_window(const Column& x, int power_x, const Column& y, int power_y,
                            std::size_t t, std::size_t count) {
  const long double mx = mean_of_window(x, t, count);
  const long double my = mean_of_window(y, t, count);
  long double sum = 0;
  for (std::size_t i = t + 1 - count; i <= t; ++i)
    sum += std::pow(x[i] - mx, power_x) * std::pow(y[i] - my, power_y);
  return sum;
}

void expect_close(double have, long double want, long double scale, const char* what,
                  std::size_t t) {
  ASSERT_NEAR(have, static_cast<double>(want), 1e-12 * static_cast<double>(scale))
      << what << " of value " << t;
}

template <std::size_t kSpan>
void expect_moments(const MomentBank<2>& bank, std::size_t lane, const Column& x, std::size_t t) {
  const auto& sums = bank.sums<kSpan>();
  const long double squares = cross_of_window(x, 2, x, 0, t, kSpan);
  const long double deviation = std::sqrt(squares / static_cast<long double>(kSpan));
  const long double mean = mean_of_window(x, t, kSpan);
  // Rounding of the values themselves, in units of their deviation, is what no method can undo.
  const long double noise = 1 + std::abs(mean) / deviation;
  expect_close(sums.mean[lane], mean, deviation * noise, "mean", t);
  expect_close(sums.squares[lane], squares, squares * noise, "squares", t);
  expect_close(sums.cubes[lane], cross_of_window(x, 3, x, 0, t, kSpan), squares * deviation * noise,
               "cubes", t);
  const long double fourths = cross_of_window(x, 4, x, 0, t, kSpan);
  expect_close(sums.fourths[lane], fourths, fourths * noise, "fourths", t);
}

TEST(MomentBank, JoinedWindowsEqualPlainSums) {
  std::cout << "seed " << kSeed << "\n";
  const Column x = column(0.0, 1e-4, 1);
  const Column y = column(1e6, 1.0, 2);
  MomentBank<2> bank;
  for (std::size_t t = 0; t < kCount; ++t) {
    bank.push({x[t], y[t]});
    if (t < 240) continue;
    for (const std::size_t lane : {0, 1}) {
      const Column& values = lane == 0 ? x : y;
      expect_moments<5>(bank, lane, values, t);
      expect_moments<10>(bank, lane, values, t);
      expect_moments<20>(bank, lane, values, t);
      expect_moments<60>(bank, lane, values, t);
      expect_moments<120>(bank, lane, values, t);
      expect_moments<240>(bank, lane, values, t);
    }
  }
}

TEST(MomentBank, EqualValuesHaveNoDeviationHoweverLarge) {
  MomentBank<1> bank;
  for (std::size_t t = 0; t < 300; ++t) bank.push({1e30});
  for (std::size_t t = 0; t < 241; ++t) bank.push({0.1});
  EXPECT_EQ(bank.sums<240>().mean[0], 0.1);
  EXPECT_EQ(bank.sums<240>().squares[0], 0.0);
  EXPECT_EQ(bank.sums<240>().cubes[0], 0.0);
  EXPECT_EQ(bank.sums<240>().fourths[0], 0.0);
}

template <std::size_t kSpan>
void expect_pair(const PairBank<2>& bank, const Column& x, const Column& y, std::size_t t) {
  const auto& sums = bank.sums<kSpan>();
  const long double xx = cross_of_window(x, 2, y, 0, t, kSpan);
  const long double yy = cross_of_window(x, 0, y, 2, t, kSpan);
  expect_close(sums.xx[1], xx, xx, "xx", t);
  expect_close(sums.yy[1], yy, yy, "yy", t);
  expect_close(sums.xy[1], cross_of_window(x, 1, y, 1, t, kSpan), std::sqrt(xx * yy), "xy", t);
  expect_close(sums.mean_x[1], mean_of_window(x, t, kSpan), std::sqrt(xx), "mean of x", t);
  expect_close(sums.mean_y[1], mean_of_window(y, t, kSpan), std::sqrt(yy), "mean of y", t);
}

TEST(PairBank, JoinedWindowsEqualPlainSums) {
  std::cout << "seed " << kSeed << "\n";
  const Column x = column(3.0, 1.0, 3);
  const Column y = column(-5.0, 2.0, 4);
  PairBank<2> bank;
  for (std::size_t t = 0; t < kCount; ++t) {
    bank.push({1e12 * x[t], x[t]}, {7.0, y[t]});
    if (t < 60) continue;
    expect_pair<5>(bank, x, y, t);
    expect_pair<10>(bank, x, y, t);
    expect_pair<20>(bank, x, y, t);
    expect_pair<60>(bank, x, y, t);
    const long double sum_50 = 50 * mean_of_window(y, t, 50);
    expect_close(bank.sum_y_50(1), sum_50, 100, "sum of 50", t);
    EXPECT_EQ(bank.sums<60>().yy[0], 0.0) << "a constant";
    EXPECT_EQ(bank.correlation<60>(0, 0.0, 0.0), 0.0);
  }
}

TEST(PairBank, CorrelationOfALineWithItselfIsOne) {
  PairBank<2> bank;
  for (int i = 0; i < 80; ++i) {
    const double x = i;
    bank.push({x, x}, {x, 3.0 - 2.0 * x});
  }
  EXPECT_DOUBLE_EQ(bank.correlation<20>(0, 0.0, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(bank.correlation<60>(1, 0.0, 0.0), -1.0);
  EXPECT_EQ(bank.correlation<20>(0, 100.0, 0.0), 0.0) << "below its floor";
}

TEST(RunningSumBank, SlopeAndSpreadAreThoseOfTheRunningSum) {
  std::cout << "seed " << kSeed << "\n";
  const Column x = column(0.5, 3.0, 5);
  Column path = {x[0]};
  Column index = {0.0};
  RunningSumBank<2> bank;
  bank.push({0.0, x[0]});
  for (std::size_t t = 1; t < kCount; ++t) {
    path.push_back(path.back() + x[t]);
    index.push_back(static_cast<double>(t));
    bank.push({0.0, x[t]});
    if (t < 60) continue;
    const long double cross = cross_of_window(index, 1, path, 1, t, 20);
    const long double squares = cross_of_window(path, 2, path, 0, t, 60);
    expect_close(bank.slope_20(1), cross / (20.0L * 399 / 12), 1000, "slope", t);
    expect_close(bank.sums_60().squares[1], squares, 1000 * squares, "squares", t);
    const double above = bank.sums_60().total[1] - bank.sums_60().mean[1];
    expect_close(above, path[t] - mean_of_window(path, t, 60), 1000, "end above the mean", t);
    EXPECT_EQ(bank.slope_20(0), 0.0);
  }
}

template <std::size_t kSpan>
void expect_extremes(const PriceExtremes& prices, const Column& x, std::size_t t) {
  const auto end = x.begin() + static_cast<std::ptrdiff_t>(t + 1);
  const auto begin = end - static_cast<std::ptrdiff_t>(kSpan);
  ASSERT_EQ(prices.highest<kSpan>(), *std::max_element(begin, end)) << t;
  ASSERT_EQ(prices.lowest<kSpan>(), *std::min_element(begin, end) - 1.0) << t;
}

TEST(PriceExtremes, AreThoseOfTheWindow) {
  std::cout << "seed " << kSeed << "\n";
  const Column x = column(1'000.0, 5.0, 6);
  PriceExtremes prices;
  for (std::size_t t = 0; t < kCount; ++t) {
    prices.push(x[t], x[t] - 1.0);
    if (t < 60) continue;
    expect_extremes<5>(prices, x, t);
    expect_extremes<14>(prices, x, t);
    expect_extremes<20>(prices, x, t);
    expect_extremes<26>(prices, x, t);
    expect_extremes<55>(prices, x, t);
  }
}

TEST(CloseMeans, AreThoseOfTheWindow) {
  std::cout << "seed " << kSeed << "\n";
  const Column x = column(1'000.0, 5.0, 7);
  CloseMeans closes;
  for (std::size_t t = 0; t < kCount; ++t) {
    closes.push(x[t]);
    if (t < 200) continue;
    const auto means = closes.means();
    for (std::size_t i = 0; i < means.size(); ++i)
      expect_close(means[i], mean_of_window(x, t, CloseMeans::kSpans[i]), 1'000, "mean", t);
  }
}

TEST(VectorLog, IsWithinTwoUnitsOfTheLastPlace) {
  std::cout << "seed " << kSeed << "\n";
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> exponent(-300.0, 300.0);
  std::normal_distribution<double> near_one(0.0, 1e-3);
  for (std::size_t i = 0; i < 200'000; ++i) {
    const double x = i % 2 == 0 ? std::pow(10.0, exponent(random)) : 1.0 + near_one(random);
    const long double want = std::log(static_cast<long double>(x));
    const long double unit = std::numeric_limits<double>::epsilon() * std::abs(want);
    ASSERT_LE(std::abs(log_of(x) - want), 2 * unit) << x;
  }
}

TEST(VectorLog, IsExactWhereItCanBe) {
  EXPECT_EQ(log_of(1.0), 0.0);
  EXPECT_EQ(log_of(2.0), std::log(2.0));
  EXPECT_EQ(log_of(1.0 + 0x1p-52), std::log1p(0x1p-52));
  std::vector<double> values = {1.0, 10.0, 0.1};
  take_logs(values.data(), values.size());
  EXPECT_EQ(values[0], 0.0);
  EXPECT_DOUBLE_EQ(values[1], -values[2]);
}
}  // namespace
}  // namespace drey::trainer
