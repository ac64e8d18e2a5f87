// reference_regime_test.cpp: features 191 to 210 and 216 to 224 (calendar, CUSUM, transitions,
// adaptive) against their definitions.
// SPDX-License-Identifier: MIT
#include <array>
#include <numbers>

#include "trainer/features/naive.hpp"

namespace drey::trainer::naive {
namespace {
class RegimeReference : public ReferenceTest {
 protected:
  [[nodiscard]] Column volatility() const {
    Column variance(kBars, 0);
    for (std::size_t t = 1; t < kBars; ++t) {
      const long double square = market_.r[t] * market_.r[t];
      variance[t] = t == 1 ? square : 0.94L * variance[t - 1] + 0.06L * square;
    }
    for (long double& value : variance) value = std::sqrt(value);
    return variance;
  }
  // 0 trend, 1 range, 2 volatile; range before bar 240.
  [[nodiscard]] std::vector<std::size_t> regimes() const {
    std::vector<std::size_t> result(kBars, 1);
    for (std::size_t t = 240; t < kBars; ++t) {
      long double path = 0;
      for (std::size_t i = t - 19; i <= t; ++i) path += std::abs(market_.change[i]);
      const long double progress = std::abs(market_.close[t] - market_.close[t - 20]);
      const long double short_one = deviation(window(market_.r, t, 20));
      const long double long_one = deviation(window(market_.r, t, 240));
      if (short_one > 1.5L * long_one) {
        result[t] = 2;
      } else if (progress > 0.35L * path) {
        result[t] = 0;
      }
    }
    return result;
  }
};

TEST_F(RegimeReference, CalendarAngles) {
  const long double turn = 2 * std::numbers::pi_v<long double>;
  const auto minute = [&](std::size_t t) {
    const std::int64_t whole_minutes = market_.time_ns[t] % kDayNs / kMinuteNs;
    return static_cast<long double>(whole_minutes);
  };
  // 1970-01-01 was a Thursday; the series lies in January 2015.
  const auto weekday = [&](std::size_t t) {
    return static_cast<long double>((market_.time_ns[t] / kDayNs + 3) % 7);
  };
  expect_feature("sin_tod", [&](std::size_t t) { return std::sin(turn * minute(t) / 1440); });
  expect_feature("cos_tod", [&](std::size_t t) { return std::cos(turn * minute(t) / 1440); });
  expect_feature("sin_dow", [&](std::size_t t) { return std::sin(turn * weekday(t) / 7); });
  expect_feature("cos_dow", [&](std::size_t t) { return std::cos(turn * weekday(t) / 7); });
  expect_feature("sin_month", [&](std::size_t) { return std::sin(turn / 12); });
  expect_feature("cos_month", [&](std::size_t) { return std::cos(turn / 12); });
}

TEST_F(RegimeReference, PlaceInTheSession) {
  // From the second session on, the length of the first (390 minutes) is expected.
  expect_feature("since_open",
                 [&](std::size_t t) { return static_cast<long double>(t % 390) / 1440; });
  expect_feature("to_close",
                 [&](std::size_t t) { return static_cast<long double>(390 - t % 390) / 1440; });
  expect_feature("after_gap", [&](std::size_t t) { return t % 390 == 0 ? 1.0L : 0.0L; });
  // 14:30 to 21:00 UTC in January: all bars are within New York's regular hours.
  expect_feature("is_rth", [&](std::size_t) { return 1.0L; });
}

TEST_F(RegimeReference, CumulativeSums) {
  const Column sigma = volatility();
  struct State {
    long double up, down, alarm_up, alarm_down, since, total, variance_up, variance_down, direction;
  };
  std::vector<State> states;
  std::vector<int> alarms(kBars, 0);
  State s{};
  for (std::size_t t = 0; t < kBars; ++t) {
    if (t >= 20) {
      const long double z = std::clamp(market_.r[t] / sigma[t - 1], -10.0L, 10.0L);
      s.up = std::max(0.0L, (s.up > 5 ? 0 : s.up) + z - 0.5L);
      s.down = std::max(0.0L, (s.down > 5 ? 0 : s.down) - z - 0.5L);
      s.variance_up = std::clamp(s.variance_up + z * z - 1.5L, 0.0L, 10.0L);
      s.variance_down = std::clamp(s.variance_down + 0.5L - z * z, 0.0L, 10.0L);
      s.alarm_up = s.up > 5 ? 1 : 0.95L * s.alarm_up;
      s.alarm_down = s.down > 5 ? 1 : 0.95L * s.alarm_down;
      alarms[t] = s.up > 5 || s.down > 5 ? 1 : 0;
      s.since = alarms[t] != 0 ? 0 : s.since + 1;
      s.total = alarms[t] != 0 ? 0 : s.total + z;
      if (alarms[t] != 0) s.direction = s.up > 5 ? 1 : -1;
    }
    states.push_back(s);
  }
  ASSERT_GT(std::count(alarms.begin() + kWarmupBars, alarms.end(), 1), 2) << "a dull series";
  expect_feature("cusum_pos", [&](std::size_t t) { return states[t].up / 5; });
  expect_feature("cusum_neg", [&](std::size_t t) { return states[t].down / 5; });
  expect_feature(
      "cusum_alarm_pos", [&](std::size_t t) { return states[t].alarm_up; }, 2e-3);
  expect_feature(
      "cusum_alarm_neg", [&](std::size_t t) { return states[t].alarm_down; }, 2e-3);
  expect_feature("cusum_since", [&](std::size_t t) { return std::log(1 + states[t].since) / 10; });
  expect_feature("cusum_count_120", [&](std::size_t t) {
    return static_cast<long double>(
               std::count(alarms.begin() + static_cast<std::ptrdiff_t>(t - 119),
                          alarms.begin() + static_cast<std::ptrdiff_t>(t + 1), 1)) /
           10;
  });
  expect_feature("cusum_shift", [&](std::size_t t) {
    return states[t].since == 0 ? 0 : states[t].total / states[t].since;
  });
  expect_feature("cusum_var_pos", [&](std::size_t t) { return states[t].variance_up / 5; });
  expect_feature("cusum_var_neg", [&](std::size_t t) { return states[t].variance_down / 5; });
  expect_feature("cusum_dir", [&](std::size_t t) { return states[t].direction; });
}

TEST_F(RegimeReference, TransitionProbabilities) {
  const std::vector<std::size_t> regime = regimes();
  std::array<std::size_t, 3> seen{};
  for (std::size_t t = kWarmupBars; t < kBars; ++t) ++seen[regime[t]];
  for (const std::size_t count : seen) ASSERT_GT(count, 10u) << "a series without some regime";
  std::vector<std::array<long double, 3>> rows(kBars);
  for (std::size_t t = kWarmupBars; t < kBars; ++t) {
    std::array<long double, 3> counts{};
    for (std::size_t i = 241; i <= t; ++i) {
      if (regime[i - 1] == regime[t])
        counts[regime[i]] += std::pow(0.995L, static_cast<long double>(t - i));
    }
    const long double total = counts[0] + counts[1] + counts[2] + 1;
    for (std::size_t i = 0; i < 3; ++i) rows[t][i] = (counts[i] + 1.0L / 3) / total;
  }
  expect_feature("p_stay", [&](std::size_t t) { return rows[t][regime[t]]; });
  expect_feature("p_trend", [&](std::size_t t) { return rows[t][0]; });
  expect_feature("p_range", [&](std::size_t t) { return rows[t][1]; });
  expect_feature("p_volatile", [&](std::size_t t) { return rows[t][2]; });
  expect_feature("row_entropy", [&](std::size_t t) {
    long double entropy = 0;
    for (const long double p : rows[t]) entropy -= p * std::log(p);
    return entropy / std::log(3.0L);
  });
}

TEST_F(RegimeReference, Adaptive) {
  const std::vector<std::size_t> regime = regimes();
  const Column sigma = volatility();
  const Column atr = wilder(market_.true_range, 14);
  expect_feature("pos_mult", [&](std::size_t t) {
    return std::clamp(deviation(window(market_.r, t, 240)) / sigma[t], 0.2L, 2.0L);
  });
  expect_feature("atr_rank_240", [&](std::size_t t) {
    long double below = 0;
    for (std::size_t i = t - 239; i <= t; ++i) {
      const long double difference = atr[i] / market_.close[i] - atr[t] / market_.close[t];
      below += i == t ? 0.5L : (difference < 0 ? 1 : 0);
    }
    return below / 240;
  });
  expect_feature("regime_sharpe_120", [&](std::size_t t) {
    Column same;
    for (std::size_t i = t - 119; i <= t; ++i) {
      if (regime[i] == regime[t]) same.push_back(market_.r[i]);
    }
    return same.size() < 20 ? 0 : mean(same) / deviation(same);
  });
  expect_feature("regime_age", [&](std::size_t t) {
    long double age = 0;
    for (std::size_t i = t; i > 0 && regime[i] == regime[t]; --i) age += 1;
    return std::tanh(age / 120);
  });
}
}  // namespace
}  // namespace drey::trainer::naive
