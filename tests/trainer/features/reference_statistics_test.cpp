// reference_statistics_test.cpp: features 179 to 190 against their definitions.
// SPDX-License-Identifier: MIT
#include <array>
#include <map>
#include <numeric>
#include <string>

#include "trainer/features/naive.hpp"

namespace drey::trainer::naive {
namespace {
class StatisticsReference : public ReferenceTest {};

TEST_F(StatisticsReference, Autocorrelation) {
  Column size;
  for (const long double r : market_.r) size.push_back(std::abs(r));
  for (const std::size_t lag : {1, 2, 5, 10})
    expect_feature("acf" + std::to_string(lag) + "_60", [&](std::size_t t) {
      return correlation(window(market_.r, t, 60), window(market_.r, t, 60, lag));
    });
  for (const std::size_t lag : {1, 5})
    expect_feature("absacf" + std::to_string(lag) + "_60", [&](std::size_t t) {
      return correlation(window(size, t, 60), window(size, t, 60, lag));
    });
}

TEST_F(StatisticsReference, HurstExponent) {
  expect_feature("hurst_120", [&](std::size_t t) {
    const Column values = window(market_.r, t, 120);
    Column x;
    Column y;
    for (const std::size_t block : {15, 30, 60, 120}) {
      Column ranges;
      for (std::size_t start = 0; start < 120; start += block) {
        const Column part = window(values, start + block - 1, block);
        Column path = {0};
        for (const long double value : part) path.push_back(path.back() + value - mean(part));
        ranges.push_back((highest(path) - lowest(path)) / deviation(part));
      }
      x.push_back(std::log(static_cast<long double>(block)));
      y.push_back(std::log(mean(ranges)));
    }
    return covariance(x, y) / central(x, 2) - 0.5L;
  });
}

TEST_F(StatisticsReference, VarianceRatio) {
  const Column& close = market_.close;
  for (const std::size_t lag : {2, 5, 10})
    expect_feature("vr" + std::to_string(lag) + "_120", [&](std::size_t t) {
      Column sums;
      for (std::size_t i = t - 119; i <= t; ++i)
        sums.push_back(std::log(close[i] / close[i - lag]));
      return central(sums, 2) /
                 (static_cast<long double>(lag) * central(window(market_.r, t, 120), 2)) -
             1;
    });
}

TEST_F(StatisticsReference, PermutationEntropy) {
  expect_feature("perm_entropy_60", [&](std::size_t t) {
    const Column values = window(market_.r, t, 60);
    std::map<std::array<int, 3>, long double> counts;
    for (std::size_t i = 0; i + 3 <= values.size(); ++i) {
      std::array<int, 3> order = {0, 1, 2};
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return values[i + static_cast<std::size_t>(a)] < values[i + static_cast<std::size_t>(b)];
      });
      counts[order] += 1;
    }
    long double entropy = 0;
    for (const auto& [order, count] : counts) entropy -= count / 58 * std::log(count / 58);
    return entropy / std::log(6.0L);
  });
}

TEST_F(StatisticsReference, HalfLifeOfReversion) {
  expect_feature(
      "ar1_halflife_60",
      [&](std::size_t t) {
        const Column now = window(market_.close, t, 60);
        const Column before = window(market_.close, t, 60, 1);
        const long double b = covariance(now, before) / central(before, 2);
        if (b <= 0) return 0.0L;
        if (b >= 1) return 1.0L;
        return std::tanh(std::log(0.5L) / std::log(b) / 60);
      },
      1e-5);
}
}  // namespace
}  // namespace drey::trainer::naive
