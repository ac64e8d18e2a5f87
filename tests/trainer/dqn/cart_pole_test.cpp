// cart_pole_test.cpp: the physics by hand, and the ring that keeps its observations.
// SPDX-License-Identifier: MIT
#include "trainer/environments/cart_pole.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace drey::trainer {
namespace {
TEST(CartPole, PushFromRestFollowsTheEquations) {
  ObservationRing world_ring(CartPole::kObservationWidth, 10);
  CartPole world(world_ring);
  world.reset(1);
  world.set_motion({0, 0, 0, 0});
  world.step(1);
  // push / mass = 10 / 1.1; spin' = -(10/1.1) / (0.5 (4/3 - 0.1/1.1)); velocity' = 10/1.1 + ...
  const double push = 10 / 1.1;
  const double spin_change = -push / (0.5 * (4.0 / 3.0 - 0.1 / 1.1));
  EXPECT_DOUBLE_EQ(world.motion()[0], 0.0);  // positions move by the velocity before the push
  EXPECT_NEAR(world.motion()[1], 0.02 * (push - 0.05 * spin_change / 1.1), 1e-12);
  EXPECT_DOUBLE_EQ(world.motion()[2], 0.0);
  EXPECT_NEAR(world.motion()[3], 0.02 * spin_change, 1e-12);
}

TEST(CartPole, LeftMirrorsRight) {
  ObservationRing left_ring(CartPole::kObservationWidth, 10);
  CartPole left(left_ring);
  ObservationRing right_ring(CartPole::kObservationWidth, 10);
  CartPole right(right_ring);
  left.set_motion({0.1, -0.2, 0.05, 0.3});
  right.set_motion({-0.1, 0.2, -0.05, -0.3});
  left.step(0);
  right.step(1);
  for (std::size_t index = 0; index < 4; ++index) {
    EXPECT_DOUBLE_EQ(left.motion().at(index), -right.motion().at(index));
  }
}

TEST(CartPole, TerminatesBeyondTwelveDegreesOrTheTrack) {
  ObservationRing world_ring(CartPole::kObservationWidth, 10);
  CartPole world(world_ring);
  world.reset(1);
  world.set_motion({0, 0, 0.2094, 0});  // twelve degrees are 0.20944
  EXPECT_FALSE(world.step(1).terminated);
  world.set_motion({0, 0, 0.2094, 0.1});
  EXPECT_TRUE(world.step(1).terminated);
  world.set_motion({2.39, 1, 0, 0});
  EXPECT_TRUE(world.step(1).terminated);
}

TEST(CartPole, TruncatesAfterFiveHundredSteps) {
  ObservationRing world_ring(CartPole::kObservationWidth, 10);
  CartPole world(world_ring);
  world.reset(1);
  for (int step = 1; step <= 500; ++step) {
    world.set_motion({0, 0, 0, 0});
    const StepResult result = world.step(static_cast<Action>(step % 2));
    EXPECT_EQ(result.truncated, step == 500);
    EXPECT_FALSE(result.terminated);
    EXPECT_EQ(result.reward, 1.0);
  }
}

TEST(ObservationRing, KeepsEveryRowThatAFullReplayMayName) {
  // The worst case: every episode is one step long, so each transition has two rows of its own.
  constexpr std::size_t kCapacity = 5;
  ObservationRing ring(2, kCapacity);
  std::vector<std::pair<ObservationRow, float>> named;  // the last kCapacity transitions' rows
  for (int episode = 0; episode < 100; ++episode) {
    for (int part = 0; part < 2; ++part) {
      const auto value = static_cast<float>(2 * episode + part);
      const std::array<float, 2> observation = {value, -value};
      named.emplace_back(ring.add(observation), value);
    }
    // The next episode's first row exists before its transition pushes out the oldest one.
    if (named.size() > 2 * (kCapacity + 1)) named.erase(named.begin(), named.begin() + 2);
    for (const auto& [row, value] : named) {
      EXPECT_EQ(ring.table().row(row)[0], value);
      EXPECT_EQ(ring.table().row(row)[1], -value);
    }
  }
}
}  // namespace
}  // namespace drey::trainer
