// learner_test.cpp: one gradient step as the agent calls it: batches, weights, targets' updates.
// Method: two learners of one seed that are told the same in two ways must end with the same bytes;
// what a step reports is worked out again from the networks' own values.
// SPDX-License-Identifier: MIT
#include "trainer/agent/cpu_learner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/seed.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kWidth = 5;
constexpr std::size_t kStride = 16;
constexpr std::size_t kRows = 40;
constexpr std::size_t kBatch = 7;
constexpr std::size_t kActions = 3;

LearnerSettings small_settings() {
  LearnerSettings settings;
  settings.widths = {kWidth, 20, 7, kActions};
  settings.batch_size = kBatch;
  settings.gamma = 0.9F;
  settings.adam.learning_rate = 1e-2F;
  return settings;
}

/// A table of observations, and transitions among them.
class LearnerTest : public testing::Test {
 protected:
  LearnerTest() : random_(test::test_seed(1), RandomPurpose::kTest), values_(kRows * kStride) {
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kWidth; ++column) {
        values_[row * kStride + column] = random_.between(-1, 1);
      }
    }
  }

  [[nodiscard]] ObservationTable table() const { return {values_.data(), kRows, kWidth, kStride}; }

  std::vector<Transition> batch() {
    std::vector<Transition> drawn(kBatch);
    for (Transition& transition : drawn) {
      transition = {random_.below(kRows),   random_.below(kRows),
                    random_.between(-2, 2), static_cast<Action>(random_.below(kActions)),
                    random_.below(4) == 0,  static_cast<std::uint8_t>(1 + random_.below(5))};
    }
    return drawn;
  }

  static CpuLearner learner_of(const LearnerSettings& settings) {
    return CpuLearner(settings, Random(3, RandomPurpose::kWeights));
  }

  Random random_;
  AlignedArray<float> values_;
};

std::vector<float> copy_of(const AlignedArray<float>& block) {
  return {block.span().begin(), block.span().end()};
}

TEST_F(LearnerTest, RowsAndAssembledObservationsGiveTheSameBytes) {
  CpuLearner by_rows = learner_of(small_settings());
  CpuLearner assembled = learner_of(small_settings());
  for (int step = 0; step < 20; ++step) {
    const std::vector<Transition> drawn = batch();
    std::vector<float> weights(kBatch);
    for (float& weight : weights) weight = random_.between(0.1F, 1);
    const LossReport first = by_rows.learn(drawn, weights, table());

    std::vector<float> rewards;
    std::vector<float> discounts;
    std::vector<Action> actions;
    const Columns<float> inputs = assembled.inputs();
    for (std::size_t index = 0; index < kBatch; ++index) {
      const Transition& transition = drawn[index];
      std::copy_n(table().row(transition.observation), kWidth,
                  inputs.values + index * inputs.stride);
      std::copy_n(table().row(transition.next_observation), kWidth,
                  inputs.values + (kBatch + index) * inputs.stride);
      rewards.push_back(transition.reward);
      discounts.push_back(
          transition.terminated
              ? 0.0F
              : static_cast<float>(std::pow(static_cast<double>(0.9F), transition.steps)));
      actions.push_back(transition.action);
    }
    const LossReport second = assembled.learn_assembled({rewards, discounts, weights, actions});
    ASSERT_EQ(first.loss, second.loss);
    ASSERT_EQ(first.gradient_norm, second.gradient_norm);
  }
  EXPECT_EQ(copy_of(by_rows.network()), copy_of(assembled.network()));
  EXPECT_EQ(copy_of(by_rows.target()), copy_of(assembled.target()));
}

TEST_F(LearnerTest, NoWeightsAreWeightsOfOne) {
  CpuLearner without = learner_of(small_settings());
  CpuLearner with = learner_of(small_settings());
  const std::vector<float> ones(kBatch, 1.0F);
  for (int step = 0; step < 5; ++step) {
    const std::vector<Transition> drawn = batch();
    without.learn(drawn, {}, table());
    with.learn(drawn, ones, table());
  }
  EXPECT_EQ(copy_of(without.network()), copy_of(with.network()));
}

TEST_F(LearnerTest, ATransitionOfWeightZeroTeachesNothing) {
  const std::vector<Transition> drawn = batch();
  std::vector<Transition> other = drawn;
  other.back().reward += 100;
  std::vector<float> weights(kBatch, 1.0F);
  weights.back() = 0;
  LearnerSettings settings = small_settings();
  settings.loss = Loss::kMse;  // Huber's gradient would not tell one large error from another
  CpuLearner first = learner_of(settings);
  CpuLearner second = learner_of(settings);
  first.learn(drawn, weights, table());
  second.learn(other, weights, table());
  EXPECT_EQ(copy_of(first.network()), copy_of(second.network()));
  second.learn(other, {}, table());
  first.learn(drawn, {}, table());
  EXPECT_NE(copy_of(first.network()), copy_of(second.network()));
}

/// What the last step's errors must have been, from the networks before it.
std::vector<float> errors_by_hand(CpuLearner& before, CpuLearner& target_before,
                                  const std::vector<Transition>& drawn,
                                  const ObservationTable& table, bool double_dqn) {
  std::vector<float> errors;
  for (const Transition& transition : drawn) {
    const float value = before.values_of(table.row(transition.observation))[transition.action];
    CpuLearner& chooser = double_dqn ? before : target_before;
    const Action best = chooser.best_action(table.row(transition.next_observation));
    const float beyond = target_before.values_of(table.row(transition.next_observation))[best];
    const float discount = transition.terminated ? 0.0F : std::pow(0.9F, transition.steps);
    errors.push_back(value - (transition.reward + discount * beyond));
  }
  return errors;
}

TEST_F(LearnerTest, ErrorsAreValuesLessTheirTargetsForEveryKindOfNetwork) {
  for (const bool double_dqn : {false, true}) {
    for (const bool dueling : {false, true}) {
      LearnerSettings settings = small_settings();
      settings.double_dqn = double_dqn;
      settings.dueling = dueling;
      CpuLearner learner = learner_of(settings);
      for (int step = 0; step < 30; ++step) learner.learn(batch(), {}, table());
      CpuLearner before = learner_of(settings);
      std::ranges::copy(learner.network().span(), before.network().data());
      CpuLearner target_before = learner_of(settings);
      std::ranges::copy(learner.target().span(), target_before.network().data());
      const std::vector<Transition> drawn = batch();
      learner.learn(drawn, {}, table());
      const std::vector<float> expected =
          errors_by_hand(before, target_before, drawn, table(), double_dqn);
      ASSERT_EQ(learner.td_errors().size(), kBatch);
      for (std::size_t index = 0; index < kBatch; ++index) {
        EXPECT_NEAR(learner.td_errors()[index], expected[index], 1e-5F);
      }
    }
  }
}

TEST_F(LearnerTest, TwoHalvesOfAStepAreTheStepAndTheGradientBetweenThemCounts) {
  CpuLearner whole = learner_of(small_settings());
  CpuLearner halves = learner_of(small_settings());
  CpuLearner stopped = learner_of(small_settings());
  const std::vector<float> rewards(kBatch, 1.0F);
  const std::vector<float> discounts(kBatch, 0.5F);
  const std::vector<Action> actions(kBatch, 1);
  const BatchTerms terms = {rewards, discounts, {}, actions};
  for (CpuLearner* const learner : {&whole, &halves, &stopped}) {
    const Columns<float> inputs = learner->inputs();
    for (std::size_t column = 0; column < 2 * kBatch; ++column) {
      std::copy_n(table().row(static_cast<ObservationRow>(column)), kWidth,
                  inputs.values + column * inputs.stride);
    }
  }
  const std::vector<float> first = copy_of(whole.network());
  const LossReport report = whole.learn_assembled(terms);
  EXPECT_EQ(halves.compute_gradient(terms).loss, report.loss);
  EXPECT_EQ(copy_of(halves.network()), first);
  EXPECT_EQ(static_cast<double>(halves.apply_gradient()), report.gradient_norm);
  EXPECT_EQ(copy_of(halves.network()), copy_of(whole.network()));
  stopped.compute_gradient(terms);
  for (float& slope : stopped.gradient().span()) slope = 0;
  EXPECT_EQ(stopped.apply_gradient(), 0.0F);
  EXPECT_EQ(copy_of(stopped.network()), first);
}

TEST_F(LearnerTest, HardUpdatesCopyTheNetworkAtEveryIntervalAndOnlyThen) {
  LearnerSettings settings = small_settings();
  settings.target_update = TargetUpdate::kHard;
  settings.target_interval = 3;
  CpuLearner learner = learner_of(settings);
  std::vector<float> target = copy_of(learner.target());
  for (int step = 1; step <= 9; ++step) {
    learner.learn(batch(), {}, table());
    if (step % 3 == 0) {
      EXPECT_NE(copy_of(learner.target()), target);
      target = copy_of(learner.network());
    }
    EXPECT_EQ(copy_of(learner.target()), target) << "step " << step;
  }
}

TEST_F(LearnerTest, SoftUpdatesGoTauOfTheWayAtEveryInterval) {
  LearnerSettings settings = small_settings();
  settings.tau = 0.25F;
  settings.target_interval = 2;
  CpuLearner learner = learner_of(settings);
  const std::vector<float> first = copy_of(learner.target());
  learner.learn(batch(), {}, table());
  EXPECT_EQ(copy_of(learner.target()), first);
  learner.learn(batch(), {}, table());
  for (std::size_t place = 0; place < first.size(); ++place) {
    EXPECT_NEAR(learner.target()[place], 0.75F * first[place] + 0.25F * learner.network()[place],
                1e-6F);
  }
}

TEST_F(LearnerTest, LearnsTheRewardsOfOneStepGames) {
  for (const Loss loss : {Loss::kHuber, Loss::kMse}) {
    for (const bool dueling : {false, true}) {
      LearnerSettings settings = small_settings();
      settings.loss = loss;
      settings.dueling = dueling;
      CpuLearner learner = learner_of(settings);
      std::vector<Transition> games = batch();
      for (std::size_t index = 0; index < kBatch; ++index) {
        games[index].terminated = true;
        games[index].observation = static_cast<ObservationRow>(index);  // no two that disagree
      }
      const double before = learner.learn(games, {}, table()).loss;
      double after = before;
      for (int step = 0; step < 400; ++step) after = learner.learn(games, {}, table()).loss;
      EXPECT_LT(after, 1e-2 * before);
    }
  }
}

TEST_F(LearnerTest, ALearningRateOfZeroStopsTheNetwork) {
  CpuLearner learner = learner_of(small_settings());
  learner.learn(batch(), {}, table());
  const std::vector<float> before = copy_of(learner.network());
  learner.set_learning_rate(0);
  learner.learn(batch(), {}, table());
  EXPECT_EQ(copy_of(learner.network()), before);
  learner.set_learning_rate(1e-3F);
  learner.learn(batch(), {}, table());
  EXPECT_NE(copy_of(learner.network()), before);
}
}  // namespace
}  // namespace drey::trainer
