// bellman_test.cpp: targets and loss on cases small enough to work out by hand.
// SPDX-License-Identifier: MIT
#include "trainer/agent/bellman.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace drey::trainer {
namespace {
// Three actions on a stride of four. The network prefers action 1, then 2; its target would rather
// take 0, then 1.
constexpr std::array<float, 8> kNetworkValues = {1, 5, 2, 99, 0, 1, 3, 99};
constexpr std::array<float, 8> kTargetValues = {8, 4, 6, 99, 2, 7, -1, 99};

std::vector<Transition> two_transitions(bool second_terminated) {
  return {{0, 1, 0.5F, 0, false}, {1, 2, -2.0F, 2, second_terminated}};
}

std::array<float, 2> targets_of(const std::array<float, 8>& chooser, bool second_terminated) {
  std::array<float, 2> targets{};
  bellman_targets(two_transitions(second_terminated), 3, 0.5F, {chooser.data(), 4},
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

TEST(Bellman, GreedyActionTakesTheFirstAmongEquals) {
  constexpr std::array<float, 4> kValues = {1, 3, 3, 9};
  EXPECT_EQ(greedy_action(kValues.data(), 3), 1);
  EXPECT_EQ(greedy_action(kValues.data(), 1), 0);
}

TEST(Bellman, HuberLossIsQuadraticThenLinear) {
  constexpr std::array<float, 8> kValues = {2, 0, 0, 0, 0, 0, -3, 0};
  const std::array<float, 2> targets = {1.5F, 0};  // errors +0.5 and -3
  std::array<float, 8> deltas;
  deltas.fill(7);
  const LossReport report =
      huber_loss(two_transitions(false), {kValues.data(), 4}, targets, {deltas.data(), 4});
  EXPECT_DOUBLE_EQ(report.loss, (0.5 * 0.25 + 2.5) / 2);
  EXPECT_DOUBLE_EQ(report.value, (2.0 - 3.0) / 2);
  const std::array<float, 8> expected = {0.25F, 0, 0, 0, 0, 0, -0.5F, 0};
  EXPECT_EQ(deltas, expected);
}
}  // namespace
}  // namespace drey::trainer
