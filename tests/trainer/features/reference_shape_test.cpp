// reference_shape_test.cpp: features 0 to 55 (bar, returns, moments) against their definitions.
// SPDX-License-Identifier: MIT
#include <string>

#include "trainer/features/naive.hpp"

namespace drey::trainer::naive {
namespace {
class ShapeReference : public ReferenceTest {};

TEST_F(ShapeReference, BarAgainstTheLastClose) {
  const Market& m = market_;
  expect_feature("o_c1", [&](std::size_t t) { return std::log(m.open[t] / m.close[t - 1]); });
  expect_feature("h_c1", [&](std::size_t t) { return std::log(m.high[t] / m.close[t - 1]); });
  expect_feature("l_c1", [&](std::size_t t) { return std::log(m.low[t] / m.close[t - 1]); });
  expect_feature("c_c1", [&](std::size_t t) { return m.r[t]; });
  expect_feature("v_v1", [&](std::size_t t) { return m.log_volume[t] - m.log_volume[t - 1]; });
  expect_feature("typ_ret",
                 [&](std::size_t t) { return std::log(m.typical[t] / m.typical[t - 1]); });
}

TEST_F(ShapeReference, BodyAndWicksAreSharesOfTheRange) {
  const Market& m = market_;
  const auto share = [&](std::size_t t, long double part) {
    const long double range = m.high[t] - m.low[t];
    return range == 0 ? 0 : part / range;
  };
  expect_feature("body", [&](std::size_t t) { return share(t, m.close[t] - m.open[t]); });
  expect_feature("upper_wick", [&](std::size_t t) {
    return share(t, m.high[t] - std::max(m.open[t], m.close[t]));
  });
  expect_feature("lower_wick", [&](std::size_t t) {
    return share(t, std::min(m.open[t], m.close[t]) - m.low[t]);
  });
  expect_feature("clv",
                 [&](std::size_t t) { return share(t, 2 * m.close[t] - m.low[t] - m.high[t]); });
  expect_feature("range_pct", [&](std::size_t t) { return (m.high[t] - m.low[t]) / m.close[t]; });
}

TEST_F(ShapeReference, TimeGapIsTheLogOfTheStepInBars) {
  expect_feature("time_gap", [&](std::size_t t) {
    const long double step_ns =
        static_cast<long double>(market_.time_ns[t] - market_.time_ns[t - 1]);
    return std::log1p(step_ns / static_cast<long double>(kMinuteNs) - 1);
  });
}

TEST_F(ShapeReference, LaggedAndCumulativeReturns) {
  const Market& m = market_;
  for (std::size_t lag = 1; lag <= 10; ++lag)
    expect_feature("ret_lag" + std::to_string(lag), [&](std::size_t t) { return m.r[t - lag]; });
  for (const std::size_t span : {2, 3, 5, 10, 15, 20, 30, 60, 120, 240})
    expect_feature("cumret_" + std::to_string(span),
                   [&](std::size_t t) { return std::log(m.close[t] / m.close[t - span]); });
}

TEST_F(ShapeReference, MomentsOfReturns) {
  for (const std::size_t span : {5, 10, 20, 60, 120, 240}) {
    const std::string suffix = "_" + std::to_string(span);
    const auto values = [&](std::size_t t) { return window(market_.r, t, span); };
    expect_feature("ret_mean" + suffix, [&](std::size_t t) { return mean(values(t)); });
    expect_feature("ret_std" + suffix, [&](std::size_t t) { return deviation(values(t)); });
    expect_feature("ret_skew" + suffix, [&](std::size_t t) {
      return central(values(t), 3) / std::pow(deviation(values(t)), 3.0L);
    });
    expect_feature("ret_kurt" + suffix, [&](std::size_t t) {
      return central(values(t), 4) / std::pow(central(values(t), 2), 2.0L) - 3;
    });
  }
}
}  // namespace
}  // namespace drey::trainer::naive
