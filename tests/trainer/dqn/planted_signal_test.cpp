// planted_signal_test.cpp: the trading agent finds a signal that is there, and only that.
// Method: 225 features of noise, one of which tells the sign of the next return in 80 % of rows.
// The agent must gain clearly more than nothing on rows it never saw, and most of what the signal
// gives.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/seed.hpp"
#include "trainer/agent/agent.hpp"
#include "trainer/agent/evaluation.hpp"
#include "trainer/agent/play.hpp"
#include "trainer/environments/trading.hpp"
#include "trainer/features/feature_matrix.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kRows = 13000;
constexpr std::size_t kTrainingEnd = 12000;
constexpr std::size_t kSignal = 100;  // which feature

struct PlantedMarket {
  explicit PlantedMarket(std::uint64_t seed) : features(kRows, 0), next_returns(kRows, 0.0) {
    Random random(seed, RandomPurpose::kTest);
    for (std::size_t row = 0; row < kRows; ++row) {
      for (float& value : features.row(row)) value = random.between(-1.7F, 1.7F);
      const double direction = random.below(2) == 0 ? -1.0 : 1.0;
      next_returns[row] = direction * static_cast<double>(random.between(0.002F, 0.018F));
      const bool tells_the_truth = random.below(10) < 8;
      features.row(row)[kSignal] = static_cast<float>(tells_the_truth ? direction : -direction);
    }
  }
  [[nodiscard]] ObservationTable table() const {
    return {features.data(), kRows, kFeatureDim, kFeatureStride};
  }

  FeatureMatrix features;
  std::vector<double> next_returns;
};

TEST(Agent, FindsAPlantedSignal) {
  const std::uint64_t seed = test::test_seed(1);
  const PlantedMarket market(seed);
  AgentSettings settings;
  settings.learner.widths = {kFeatureDim, 128, 64, Trading::kActionCount};
  settings.learner.gamma = 0;                   // what a bar brings depends on no other
  settings.learner.adam.learning_rate = 5e-5F;  // slow: noise is not learned by heart
  settings.train_frequency = 4;
  settings.epsilon = {1.0F, 0.1F, 8000};
  settings.seed = seed;
  Agent agent(settings);
  Trading world(market.table(), market.next_returns, {0, kTrainingEnd}, 0.0001);
  Trading unseen(market.table(), market.next_returns, {kTrainingEnd, kRows}, 0.0001);

  const double before = evaluate(agent.learner(), unseen, 252).agent.net_return;
  ObservationRow observation = world.reset();
  for (int step = 0; step < 12000; ++step) {
    const StepResult result = play_step(agent, world, observation, 100).result;
    observation = result.ended() ? world.reset() : result.observation;
  }
  const Evaluation evaluation = evaluate(agent.learner(), unseen, 252);

  double follower = 0;  // log return of doing what the signal says, free of fees
  for (std::size_t row = kTrainingEnd; row + 1 < kRows; ++row) {
    follower += static_cast<double>(market.features.row(row)[kSignal]) * market.next_returns[row];
  }
  const double gained = std::log1p(evaluation.agent.net_return);
  std::printf("log return: before %+.2f, agent %+.2f, the signal itself %+.2f\n",
              std::log1p(before), gained, follower);
  EXPECT_GT(gained, 0.8 * follower);
  EXPECT_GT(evaluation.agent.net_return, evaluation.buy_and_hold.net_return);
  EXPECT_GT(evaluation.agent.sharpe, 3.0);
}
}  // namespace
}  // namespace drey::trainer
