// reference_microstructure_test.cpp: features 153 to 168 against their definitions.
// SPDX-License-Identifier: MIT
#include <numbers>
#include <string>

#include "trainer/features/naive.hpp"

namespace drey::trainer::naive {
namespace {
class MicrostructureReference : public ReferenceTest {
 protected:
  [[nodiscard]] long double sign(std::size_t t) const {
    return market_.r[t] > 0 ? 1 : (market_.r[t] < 0 ? -1 : 0);
  }
  [[nodiscard]] long double corwin_schultz(std::size_t t) const {
    const Market& m = market_;
    long double high = m.high[t];
    long double low = m.low[t];
    if (m.close[t - 1] < low) {
      high -= low - m.close[t - 1];
      low = m.close[t - 1];
    } else if (m.close[t - 1] > high) {
      low += m.close[t - 1] - high;
      high = m.close[t - 1];
    }
    const long double beta = std::pow(std::log(high / low), 2.0L) +
                             std::pow(std::log(m.high[t - 1] / m.low[t - 1]), 2.0L);
    const long double gamma =
        std::pow(std::log(std::max(high, m.high[t - 1]) / std::min(low, m.low[t - 1])), 2.0L);
    const long double d = 3 - 2 * std::sqrt(2.0L);
    const long double alpha = (std::sqrt(2 * beta) - std::sqrt(beta)) / d - std::sqrt(gamma / d);
    return std::max(0.0L, 2 * (std::exp(alpha) - 1) / (1 + std::exp(alpha)));
  }
};

TEST_F(MicrostructureReference, RollSpread) {
  for (const std::size_t span : {20, 60})
    expect_feature("roll_spread_" + std::to_string(span), [&](std::size_t t) {
      const long double cov =
          covariance(window(market_.change, t, span), window(market_.change, t, span, 1));
      return 2 * std::sqrt(std::max(0.0L, -cov)) / market_.close[t];
    });
}

TEST_F(MicrostructureReference, CorwinSchultzSpread) {
  expect_feature("corwin_schultz", [&](std::size_t t) { return corwin_schultz(t); });
  expect_feature("corwin_schultz_20", [&](std::size_t t) {
    long double total = 0;
    for (std::size_t i = t - 19; i <= t; ++i) total += corwin_schultz(i);
    return total / 20;
  });
}

TEST_F(MicrostructureReference, AmihudIlliquidity) {
  for (const std::size_t span : {20, 60})
    expect_feature("amihud_" + std::to_string(span), [&](std::size_t t) {
      long double total = 0;
      for (std::size_t i = t + 1 - span; i <= t; ++i)
        total += std::abs(market_.r[i]) / (market_.close[i] * market_.volume[i]);
      return std::log1p(1e6L * total / static_cast<long double>(span));
    });
}

TEST_F(MicrostructureReference, KyleLambda) {
  Column root;
  for (std::size_t t = 0; t < kBars; ++t) root.push_back(sign(t) * std::sqrt(market_.volume[t]));
  for (const std::size_t span : {20, 60}) {
    const std::string name = "kyle_lambda_" + std::to_string(span);
    const std::size_t index = feature_index(name);
    for (std::size_t t = kWarmupBars; t < kBars; ++t) {
      const Column x = window(root, t, span);
      const double want =
          static_cast<double>(covariance(x, window(market_.r, t, span)) / central(x, 2));
      const double have = matrix.row(t - kWarmupBars)[index];
      ASSERT_NEAR(have, want, 2e-6 * std::abs(want)) << name << " of bar " << t;
    }
  }
}

TEST_F(MicrostructureReference, TickImbalance) {
  for (const std::size_t span : {5, 20, 60})
    expect_feature("tick_imb_" + std::to_string(span), [&](std::size_t t) {
      long double balance = 0;
      for (std::size_t i = t + 1 - span; i <= t; ++i) balance += sign(i) * market_.volume[i];
      return balance / sum(window(market_.volume, t, span));
    });
}

TEST_F(MicrostructureReference, VolumeSynchronisedInformedTrading) {
  // Phi by its integral's closed form, so that it is not the erf of the program.
  const auto phi = [](long double z) { return 0.5L * std::erfc(-z / std::sqrt(2.0L)); };
  Column imbalance(kBars, 0);
  for (std::size_t t = 40; t < kBars; ++t) {
    const long double sigma = deviation(window(market_.r, t, 20));
    const long double buys = market_.volume[t] * phi(market_.r[t] / sigma);
    imbalance[t] = std::abs(buys - (market_.volume[t] - buys));
  }
  for (const std::size_t span : {20, 50})
    expect_feature("vpin_" + std::to_string(span), [&](std::size_t t) {
      return sum(window(imbalance, t, span)) / sum(window(market_.volume, t, span));
    });
}

TEST_F(MicrostructureReference, EfficiencySignsAndRuns) {
  const Market& m = market_;
  expect_feature("efficiency_20", [&](std::size_t t) {
    long double path = 0;
    for (std::size_t i = t - 19; i <= t; ++i) path += std::abs(m.close[i] - m.close[i - 1]);
    return std::abs(m.close[t] - m.close[t - 20]) / path;
  });
  Column signs;
  for (std::size_t t = 0; t < kBars; ++t) signs.push_back(sign(t));
  expect_feature("sign_autocorr_20", [&](std::size_t t) {
    return correlation(window(signs, t, 20), window(signs, t, 20, 1));
  });
  expect_feature("run_length", [&](std::size_t t) {
    long double run = 0;
    for (std::size_t i = t; signs[t] != 0 && signs[i] == signs[t]; --i) run += signs[t];
    return run / 20;
  });
}
}  // namespace
}  // namespace drey::trainer::naive
