// trading_test.cpp: rewards, fees and figures of five bars, worked out by hand.
// SPDX-License-Identifier: MIT
#include "trainer/environments/trading.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "trainer/agent/cpu_learner.hpp"
#include "trainer/agent/evaluation.hpp"
#include "trainer/data/error.hpp"
#include "trainer/environments/market.hpp"
#include "trainer/numeric/aligned_array.hpp"

namespace drey::trainer {
namespace {
constexpr std::array<double, 5> kCloses = {100, 110, 99, 99, 120};

std::vector<double> next_returns() {
  std::vector<double> returns;
  for (std::size_t bar = 0; bar + 1 < kCloses.size(); ++bar) {
    returns.push_back(std::log(kCloses[bar + 1] / kCloses[bar]));
  }
  returns.push_back(0);
  return returns;
}

/// Five rows of one feature: 0, 1, 2, 3, 4.
class FiveBars : public ::testing::Test {
 protected:
  FiveBars() : returns_(next_returns()), values_(std::size_t{5} * 16) {
    for (std::size_t row = 0; row < 5; ++row) values_[row * 16] = static_cast<float>(row);
  }
  Trading world(double fee) const { return world(fee, {0, 5}); }
  Trading world(double fee, RowRange rows) const {
    return Trading({values_.data(), 5, 1, 16}, returns_, rows, fee);
  }

  std::vector<double> returns_;
  AlignedArray<float> values_;
};

TEST_F(FiveBars, RewardIsThePositionTimesTheNextReturn) {
  Trading trading = world(0);
  EXPECT_EQ(trading.reset(), 0U);
  EXPECT_DOUBLE_EQ(trading.step(kBuy).reward, std::log(1.1));
  EXPECT_DOUBLE_EQ(trading.step(kSell).reward, -std::log(0.9));
  EXPECT_DOUBLE_EQ(trading.step(kBuy).reward, 0.0);
  EXPECT_DOUBLE_EQ(trading.step(kHold).reward, 0.0);
}

TEST_F(FiveBars, FeeIsPaidPerUnitOfChange) {
  Trading trading = world(0.01);
  trading.reset();
  EXPECT_DOUBLE_EQ(trading.step(kBuy).reward, std::log(1.1) - 0.01);  // 0 to +1
  EXPECT_DOUBLE_EQ(trading.step(kBuy).reward, std::log(0.9));         // stays
  EXPECT_DOUBLE_EQ(trading.step(kSell).reward, -0.0 - 0.02);          // +1 to -1
  EXPECT_DOUBLE_EQ(trading.step(kHold).reward, -0.01);                // -1 to 0
}

TEST_F(FiveBars, PassEndsByTruncationAtTheLastBar) {
  Trading trading = world(0);
  trading.reset();
  for (ObservationRow row = 1; row <= 4; ++row) {
    const StepResult result = trading.step(kBuy);
    EXPECT_EQ(result.observation, row);  // the row after truncation is the old pass's own
    EXPECT_EQ(result.truncated, row == 4);
    EXPECT_FALSE(result.terminated);
  }
  EXPECT_EQ(trading.reset(), 0U);
  EXPECT_EQ(trading.position(), 0);
}

TEST_F(FiveBars, RangeOfRowsNeverUsesABarBeyondIt) {
  Trading trading = world(0, {0, 3});
  trading.reset();
  EXPECT_FALSE(trading.step(kBuy).ended());
  const StepResult last = trading.step(kBuy);
  EXPECT_TRUE(last.truncated);
  EXPECT_DOUBLE_EQ(last.reward, returns_[1]);  // up to bar 2, the last of the range
}

/// A network of one feature whose bias alone decides.
CpuLearner always(Action action) {
  LearnerSettings settings;
  settings.widths = {1, 3};
  CpuLearner learner(settings, Random(1, RandomPurpose::kWeights));
  for (float& value : learner.network().span()) value = 0;
  learner.network()[learner.shape().layers()[0].bias_offset + action] = 1;
  return learner;
}

TEST_F(FiveBars, EvaluationAddsUp) {
  Trading trading = world(0.01);
  CpuLearner seller = always(kSell);
  const Evaluation evaluation = evaluate(seller, trading, 4);
  EXPECT_NEAR(evaluation.buy_and_hold.net_return, 1.2 * std::exp(-0.01) - 1, 1e-12);
  EXPECT_EQ(evaluation.buy_and_hold.trades, 1U);
  EXPECT_NEAR(evaluation.buy_and_hold.drawdown_max, 0.1, 1e-12);  // 110 to 99
  EXPECT_NEAR(evaluation.agent.net_return, std::exp(-0.01) / 1.2 - 1, 1e-12);
  EXPECT_EQ(evaluation.agent.steps, 4U);
  EXPECT_EQ(evaluation.flat.net_return, 0.0);
  EXPECT_EQ(evaluation.flat.trades, 0U);
  EXPECT_EQ(evaluation.flat.sharpe, 0.0);

  const std::array<double, 4> rewards = {std::log(1.1) - 0.01, std::log(0.9), 0.0,
                                         std::log(120.0 / 99.0)};
  double mean = 0;
  for (const double reward : rewards) mean += reward / 4;
  double variance = 0;
  for (const double reward : rewards) variance += (reward - mean) * (reward - mean) / 3;
  EXPECT_NEAR(evaluation.buy_and_hold.sharpe, mean / std::sqrt(variance) * 2, 1e-9);
}

TEST(Market, SplitsByTimeAndNormalisesByTrainingRowsAlone) {
  Market market = load_market("synthetic:1512:3", "", 0.25);
  EXPECT_EQ(market.training, (RowRange{0, 750}));
  EXPECT_EQ(market.validation, (RowRange{750, 1000}));
  normalise(market);
  Market longer = load_market("synthetic:3000:3", "", 0.01);
  longer.training = {0, 750};
  normalise(longer);
  EXPECT_EQ(market.normaliser.median(), longer.normaliser.median());
  EXPECT_EQ(market.normaliser.scale(), longer.normaliser.scale());
  for (std::size_t row = 0; row < 750; ++row) {
    EXPECT_TRUE(std::equal(market.features.row(row).begin(), market.features.row(row).end(),
                           longer.features.row(row).begin()));
    EXPECT_EQ(market.next_returns[row], longer.next_returns[row]);
  }
}

TEST(Market, RefusesTooFewBarsAndOddSyntheticNames) {
  EXPECT_THROW((void)load_market("synthetic:514:1", "", 0.2), DataError);
  for (const char* name : {"synthetic:", "synthetic:10", "synthetic:0:1", "synthetic:a:1",
                           "synthetic:1000:1x", "synthetic:-5:1", "synthetic:99999999999:1"}) {
    EXPECT_THROW((void)load_market(name, "", 0.2), ConfigError) << name;
  }
}
}  // namespace
}  // namespace drey::trainer
