// n_step_test.cpp: what a return over n steps is made of, above all where episodes end; and that the
// rows which the replay names still show what they did, however often ring and replay have wrapped.
// Method: a world whose observations tell step and episode, so each stored transition can be judged
// from its rows alone.
// SPDX-License-Identifier: MIT
#include "trainer/agent/n_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "counting_world.hpp"
#include "trainer/agent/agent.hpp"
#include "trainer/agent/play.hpp"

namespace drey::trainer {
namespace {
constexpr StepResult kGoesOn{1, 0, false, false};

std::vector<Transition> stored_by(StepWindow& window, const Experience& experience) {
  std::vector<Transition> stored;
  window.add(experience, [&](const Transition& transition) { stored.push_back(transition); });
  return stored;
}

TEST(StepWindow, OfOneStepStoresEachAsItIs) {
  StepWindow window(1, 0.9);
  const std::vector<Transition> stored = stored_by(window, {7, 1, 0.25, {8, 0, true, false}});
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0].observation, 7U);
  EXPECT_EQ(stored[0].next_observation, 8U);
  EXPECT_EQ(stored[0].reward, 0.25F);
  EXPECT_EQ(stored[0].action, 1);
  EXPECT_TRUE(stored[0].terminated);
  EXPECT_EQ(stored[0].steps, 1);
}

TEST(StepWindow, DiscountsEachRewardToTheFirstStep) {
  StepWindow window(3, 0.5);
  EXPECT_TRUE(stored_by(window, {0, 0, 1, kGoesOn}).empty());
  EXPECT_TRUE(stored_by(window, {1, 1, 2, kGoesOn}).empty());
  const std::vector<Transition> stored = stored_by(window, {2, 0, 4, {3, 0, false, false}});
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0].observation, 0U);
  EXPECT_EQ(stored[0].next_observation, 3U);
  EXPECT_EQ(stored[0].reward, 1 + 0.5F * 2 + 0.25F * 4);
  EXPECT_EQ(stored[0].steps, 3);
  EXPECT_EQ(window.pending().size(), 2U);
}

TEST(StepWindow, EndsWithTheEpisodeAndTellsTerminationFromTruncation) {
  for (const bool terminated : {true, false}) {
    StepWindow window(3, 0.5);
    stored_by(window, {0, 0, 1, kGoesOn});
    const std::vector<Transition> stored =
        stored_by(window, {1, 1, 2, {9, 0, terminated, !terminated}});
    ASSERT_EQ(stored.size(), 2U);
    EXPECT_EQ(stored[0].reward, 2.0F);
    EXPECT_EQ(stored[0].steps, 2);
    EXPECT_EQ(stored[1].reward, 2.0F);
    EXPECT_EQ(stored[1].steps, 1);
    for (const Transition& transition : stored) {
      EXPECT_EQ(transition.next_observation, 9U);
      EXPECT_EQ(transition.terminated, terminated);
    }
    EXPECT_TRUE(window.pending().empty());
  }
}

TEST(StepWindow, IsRestoredFromWhatWaits) {
  StepWindow window(4, 0.9);
  StepWindow other(4, 0.9);
  for (ObservationRow row = 0; row < 3; ++row) {
    stored_by(window, {row, 0, 1.0 + static_cast<double>(row), kGoesOn});
  }
  other.restore(window.pending());
  const Experience last{3, 1, 0.5, {4, 0, false, true}};
  const std::vector<Transition> expected = stored_by(window, last);
  const std::vector<Transition> found = stored_by(other, last);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t index = 0; index < found.size(); ++index) {
    EXPECT_EQ(found[index].reward, expected[index].reward);
    EXPECT_EQ(found[index].observation, expected[index].observation);
  }
}

/// What the transition must be, told by the observations its rows show now.
void expect_consistent(const Transition& transition, const ObservationTable& table, double gamma,
                       std::size_t step_count, int steps_max) {
  const float* const from = table.row(transition.observation);
  const float* const to = table.row(transition.next_observation);
  ASSERT_EQ(from[0], to[0]) << "a transition from one episode into another";
  ASSERT_EQ(to[1] - from[1], static_cast<float>(transition.steps));
  const bool is_over = to[1] == static_cast<float>(steps_max);
  EXPECT_TRUE(is_over || transition.steps == step_count);
  EXPECT_EQ(transition.terminated, is_over && std::fmod(from[0], 2.0F) != 0);
  double reward = 0;
  for (int step = static_cast<int>(to[1]) - 1; step >= static_cast<int>(from[1]); --step) {
    reward = step + gamma * reward;
  }
  EXPECT_FLOAT_EQ(transition.reward, static_cast<float>(reward));
}

TEST(Replay, ShowsTheStepsThatWereMadeHoweverOftenItWraps) {
  constexpr int kStepsMax = 5;
  for (const std::size_t world_count : {1, 3}) {
    for (const std::size_t step_count : {1, 2, 4, 7}) {
      AgentSettings settings;
      settings.learner.widths = {2, 4, 2};
      settings.learner.gamma = 0.5F;
      settings.replay_capacity = 13;
      settings.learning_starts = 1000000;
      settings.step_count = step_count;
      settings.world_count = world_count;
      Agent agent(settings);
      ObservationRing ring(2, settings.replay_capacity, world_count, step_count);
      VectorEnvironment<CountingWorld> worlds(
          std::vector<CountingWorld>(world_count, CountingWorld(ring, kStepsMax)), 1);
      worlds.start();
      RoundBuffers buffers(world_count);
      RoundTotals totals;
      for (int round = 0; round < 200; ++round) {
        play_round(agent, worlds, 1, buffers, totals);
        for (const Transition& transition : agent.replay().stored()) {
          expect_consistent(transition, ring.table(), 0.5, step_count, kStepsMax);
        }
      }
      EXPECT_EQ(agent.replay().size(), settings.replay_capacity);
    }
  }
}
}  // namespace
}  // namespace drey::trainer
