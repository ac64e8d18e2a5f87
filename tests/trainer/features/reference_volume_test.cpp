// reference_volume_test.cpp: features 129 to 152 against their definitions; the cumulative ones
// (OBV, A/D, NVI, PVI) are really accumulated from the first bar here.
// SPDX-License-Identifier: MIT
#include <map>
#include <string>

#include "trainer/features/naive.hpp"

namespace drey::trainer::naive {
namespace {
class VolumeReference : public ReferenceTest {
 protected:
  [[nodiscard]] long double usual(std::size_t t, std::size_t span = 20) const {
    return mean(window(market_.volume, t, span));
  }
  [[nodiscard]] Column cumulative(const std::function<long double(std::size_t)>& step) const {
    Column result;
    long double total = 0;
    for (std::size_t t = 0; t < kBars; ++t) result.push_back(total += step(t));
    return result;
  }
  [[nodiscard]] Column accumulation() const {
    const Market& m = market_;
    return cumulative([&](std::size_t t) {
      const long double range = m.high[t] - m.low[t];
      return range == 0 ? 0 : (2 * m.close[t] - m.low[t] - m.high[t]) / range * m.volume[t];
    });
  }
  [[nodiscard]] long double vwap(std::size_t first, std::size_t t) const {
    long double traded = 0;
    long double volume = 0;
    for (std::size_t i = first; i <= t; ++i) {
      traded += market_.typical[i] * market_.volume[i];
      volume += market_.volume[i];
    }
    return traded / volume;
  }
};

TEST_F(VolumeReference, VolumeAgainstItsPast) {
  for (const std::size_t span : {20, 60, 240})
    expect_feature("vol_z_" + std::to_string(span), [&](std::size_t t) {
      const Column values = window(market_.log_volume, t, span);
      return (values.back() - mean(values)) / deviation(values);
    });
  for (const std::size_t span : {5, 20, 60})
    expect_feature("vol_rel_" + std::to_string(span), [&](std::size_t t) {
      return std::log((market_.volume[t] + 1) / (usual(t, span) + 1));
    });
}

TEST_F(VolumeReference, OnBalanceVolume) {
  const Column obv = cumulative([&](std::size_t t) {
    const long double change = market_.change[t];
    return change > 0 ? market_.volume[t] : (change < 0 ? -market_.volume[t] : 0);
  });
  expect_feature("obv_slope_20",
                 [&](std::size_t t) { return slope(window(obv, t, 20)) / usual(t); });
  expect_feature("obv_z_60", [&](std::size_t t) {
    const Column values = window(obv, t, 60);
    return (values.back() - mean(values)) / deviation(values);
  });
}

TEST_F(VolumeReference, AccumulationAndItsOscillator) {
  const Column line = accumulation();
  expect_feature("ad_slope_20",
                 [&](std::size_t t) { return slope(window(line, t, 20)) / usual(t); });
  Column fast = line;
  Column slow = line;
  for (std::size_t t = 1; t < kBars; ++t) {
    fast[t] = 0.5L * line[t] + 0.5L * fast[t - 1];
    slow[t] = 2.0L / 11 * line[t] + 9.0L / 11 * slow[t - 1];
  }
  expect_feature("adosc", [&](std::size_t t) { return (fast[t] - slow[t]) / usual(t); });
  expect_feature("cmf_20", [&](std::size_t t) {
    return (line[t] - line[t - 20]) / sum(window(market_.volume, t, 20));
  });
}

TEST_F(VolumeReference, MoneyFlowIndex) {
  const Market& m = market_;
  expect_feature("mfi_14", [&](std::size_t t) {
    long double up = 0;
    long double down = 0;
    for (std::size_t i = t - 13; i <= t; ++i) {
      if (m.typical[i] > m.typical[i - 1] + 1e-12L) up += m.typical[i] * m.volume[i];
      if (m.typical[i] < m.typical[i - 1] - 1e-12L) down += m.typical[i] * m.volume[i];
    }
    return (100 - 100 / (1 + up / down)) / 50 - 1;
  });
}

TEST_F(VolumeReference, VolumeWeightedPrice) {
  const Column& close = market_.close;
  for (const std::size_t span : {20, 60})
    expect_feature("vwap_dist_" + std::to_string(span),
                   [&](std::size_t t) { return std::log(close[t] / vwap(t + 1 - span, t)); });
  expect_feature("vwap_slope_20",
                 [&](std::size_t t) { return std::log(vwap(t - 19, t) / vwap(t - 24, t - 5)); });
  // The generator's sessions are 390 bars.
  expect_feature("vwap_dist_sess",
                 [&](std::size_t t) { return std::log(close[t] / vwap(t - t % 390, t)); });
}

TEST_F(VolumeReference, EaseOfMovementAndForce) {
  const Market& m = market_;
  const Column atr = wilder(m.true_range, 14);
  expect_feature("eom_14", [&](std::size_t t) {
    long double total = 0;
    for (std::size_t i = t - 13; i <= t; ++i) {
      const long double moved = (m.high[i] + m.low[i] - m.high[i - 1] - m.low[i - 1]) / 2 / atr[i];
      const long double share = (m.volume[i] + 1) / (usual(i) + 1);
      total += moved * (m.high[i] - m.low[i]) / atr[i] / std::max(share, 0.05L);
    }
    return total / 14;
  });
  Column force(kBars, 0);
  for (std::size_t t = 1; t < kBars; ++t) force[t] = m.r[t] * m.volume[t];
  const Column line = ema(force, 13, 1);
  expect_feature("force_13", [&](std::size_t t) { return line[t] / usual(t); });
}

TEST_F(VolumeReference, VolumeIndicesAndCorrelation) {
  const Market& m = market_;
  Column negative(kBars, 1000);
  Column positive(kBars, 1000);
  for (std::size_t t = 1; t < kBars; ++t) {
    const long double growth = m.close[t] / m.close[t - 1];
    negative[t] = negative[t - 1] * (m.volume[t] < m.volume[t - 1] ? growth : 1);
    positive[t] = positive[t - 1] * (m.volume[t] > m.volume[t - 1] ? growth : 1);
  }
  expect_feature("nvi_ret_20",
                 [&](std::size_t t) { return std::log(negative[t] / negative[t - 20]); });
  expect_feature("pvi_ret_20",
                 [&](std::size_t t) { return std::log(positive[t] / positive[t - 20]); });
  for (const std::size_t span : {20, 60})
    expect_feature("ret_vol_corr_" + std::to_string(span), [&](std::size_t t) {
      return correlation(window(m.r, t, span), window(m.log_volume, t, span));
    });
  expect_feature("updown_vol_20", [&](std::size_t t) {
    long double up = 0;
    long double down = 0;
    for (std::size_t i = t - 19; i <= t; ++i)
      (m.r[i] > 0 ? up : down) += m.r[i] != 0 ? m.volume[i] : 0;
    return (up - down) / (up + down);
  });
}

TEST_F(VolumeReference, VolumeForTheTimeOfDay) {
  std::map<std::int64_t, Column> seen;
  Column excess;
  for (std::size_t t = 0; t < kBars; ++t) {
    Column& past = seen[market_.time_ns[t] % kDayNs];
    excess.push_back(past.empty() ? 0 : market_.log_volume[t] - mean(past));
    past.push_back(market_.log_volume[t]);
  }
  expect_feature("rel_vol_tod", [&](std::size_t t) { return excess[t]; });
}
}  // namespace
}  // namespace drey::trainer::naive
