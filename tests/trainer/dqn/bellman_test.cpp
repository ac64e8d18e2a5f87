// bellman_test.cpp: targets and loss on cases small enough to work out by hand.
// SPDX-License-Identifier: MIT
#include "trainer/agent/bellman.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace drey::trainer {
namespace {
// Three actions on a stride of four. The network prefers action 1, then 2; its target would rather
// take 0, then 1.
constexpr std::array<float, 8> kNetworkValues = {1, 5, 2, 99, 0, 1, 3, 99};
constexpr std::array<float, 8> kTargetValues = {8, 4, 6, 99, 2, 7, -1, 99};

/// Two transitions, the first with gamma 0.5, the second with it or terminated.
struct TwoTerms {
  explicit TwoTerms(bool second_terminated) : discounts{0.5F, second_terminated ? 0.0F : 0.5F} {}

  [[nodiscard]] BatchTerms view() const { return {rewards, discounts, weights, actions}; }

  std::array<float, 2> rewards = {0.5F, -2.0F};
  std::array<float, 2> discounts;
  std::vector<float> weights;
  std::array<Action, 2> actions = {0, 2};
};

std::array<float, 2> targets_of(const std::array<float, 8>& chooser, bool second_terminated) {
  std::array<float, 2> targets{};
  bellman_targets(TwoTerms(second_terminated).view(), 3, {chooser.data(), 4},
                  {kTargetValues.data(), 4}, targets);
  return targets;
}

TEST(Bellman, DoubleDqnValuesTheNetworksChoiceByTheTargetNetwork) {
  const std::array<float, 2> targets = targets_of(kNetworkValues, false);
  EXPECT_EQ(targets[0], 0.5F + 0.5F * 4);
  EXPECT_EQ(targets[1], -2.0F + 0.5F * -1);
}

TEST(Bellman, DqnTakesTheLargestValueOfTheTargetNetwork) {
  const std::array<float, 2> targets = targets_of(kTargetValues, false);
  EXPECT_EQ(targets[0], 0.5F + 0.5F * 8);
  EXPECT_EQ(targets[1], -2.0F + 0.5F * 7);
}

TEST(Bellman, TerminationLeavesTheRewardAlone) {
  EXPECT_EQ(targets_of(kNetworkValues, true)[1], -2.0F);
}

TEST(Bellman, NothingOfBeyondAnEndComesThroughNotEvenANan) {
  std::array<float, 8> beyond = kTargetValues;
  beyond.fill(std::nanf(""));
  std::array<float, 2> targets{};
  bellman_targets(TwoTerms(true).view(), 3, {kNetworkValues.data(), 4}, {beyond.data(), 4},
                  targets);
  EXPECT_EQ(targets[1], -2.0F);
}

TEST(Bellman, GreedyActionTakesTheFirstAmongEquals) {
  constexpr std::array<float, 4> kValues = {1, 3, 3, 9};
  EXPECT_EQ(greedy_action(kValues.data(), 3), 1);
  EXPECT_EQ(greedy_action(kValues.data(), 1), 0);
}

constexpr std::array<float, 8> kValues = {2, 0, 0, 0, 0, 0, -3, 0};
constexpr std::array<float, 2> kTargets = {1.5F, 0};  // errors +0.5 and -3

struct LossResult {
  LossReport report;
  std::array<float, 8> deltas;
  std::array<float, 2> errors;
};

LossResult loss_of(Loss loss, const std::vector<float>& weights) {
  TwoTerms terms(false);
  terms.weights = weights;
  LossResult result{};
  result.deltas.fill(7);
  result.report = compute_loss(loss, terms.view(), {kValues.data(), 4}, kTargets,
                               {result.deltas.data(), 4}, result.errors);
  return result;
}

TEST(Loss, HuberIsQuadraticThenLinear) {
  const LossResult result = loss_of(Loss::kHuber, {});
  EXPECT_DOUBLE_EQ(result.report.loss, (0.5 * 0.25 + 2.5) / 2);
  EXPECT_DOUBLE_EQ(result.report.value, (2.0 - 3.0) / 2);
  const std::array<float, 8> expected = {0.25F, 0, 0, 0, 0, 0, -0.5F, 0};
  EXPECT_EQ(result.deltas, expected);
  EXPECT_EQ(result.errors, (std::array<float, 2>{0.5F, -3.0F}));
}

TEST(Loss, MseIsTheSquareOfTheErrorEverywhere) {
  const LossResult result = loss_of(Loss::kMse, {});
  EXPECT_DOUBLE_EQ(result.report.loss, (0.25 + 9.0) / 2);
  const std::array<float, 8> expected = {0.5F, 0, 0, 0, 0, 0, -3.0F, 0};
  EXPECT_EQ(result.deltas, expected);
  EXPECT_EQ(result.errors, (std::array<float, 2>{0.5F, -3.0F}));
}

TEST(Loss, WeightsScaleLossAndGradientButNotTheErrors) {
  const LossResult huber = loss_of(Loss::kHuber, {1.0F, 0.5F});
  EXPECT_DOUBLE_EQ(huber.report.loss, (0.5 * 0.25 + 0.5 * 2.5) / 2);
  EXPECT_EQ(huber.deltas, (std::array<float, 8>{0.25F, 0, 0, 0, 0, 0, -0.25F, 0}));
  const LossResult mse = loss_of(Loss::kMse, {0.5F, 0.0F});
  EXPECT_DOUBLE_EQ(mse.report.loss, (0.5 * 0.25) / 2);
  EXPECT_EQ(mse.deltas, (std::array<float, 8>{0.25F, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(mse.errors, huber.errors);
  EXPECT_EQ(huber.errors, (std::array<float, 2>{0.5F, -3.0F}));
}
}  // namespace
}  // namespace drey::trainer
