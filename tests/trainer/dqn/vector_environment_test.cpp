// vector_environment_test.cpp: one world stepped as a vector is the plain loop bit for bit; several
// are acted for by one forward pass as each would be alone; what an episode's last step shows.
// SPDX-License-Identifier: MIT
#include "trainer/environments/vector_environment.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "counting_world.hpp"
#include "trainer/agent/agent.hpp"
#include "trainer/agent/play.hpp"
#include "trainer/agent/schedule.hpp"
#include "trainer/environments/cart_pole.hpp"

namespace drey::trainer {
namespace {
AgentSettings small_settings() {
  AgentSettings settings;
  settings.learner.widths = {CartPole::kObservationWidth, 16, 16, CartPole::kActionCount};
  settings.learner.batch_size = 16;
  settings.replay_capacity = 300;
  settings.learning_starts = 40;
  settings.train_frequency = 3;
  settings.gradient_steps = 2;
  settings.epsilon = {0.9F, 0.1F, 500};
  return settings;
}

VectorEnvironment<CartPole> poles(ObservationRing& ring, std::size_t count) {
  return {std::vector<CartPole>(count, CartPole(ring)), 7};
}

TEST(VectorEnvironment, OfOneWorldIsThePlainLoopBitForBit) {
  constexpr int kSteps = 1500;
  Agent plain(small_settings());
  ObservationRing plain_ring(CartPole::kObservationWidth, 300);
  CartPole world(plain_ring);
  std::uint64_t episode = 0;
  double plain_reward = 0;
  ObservationRow observation = world.reset(episode_seed(7, 0, 0));
  for (int step = 0; step < kSteps; ++step) {
    const StepResult result = play_step(plain, world, observation, 0.1).result;
    plain_reward += result.reward;
    observation = result.ended() ? world.reset(episode_seed(7, 0, ++episode)) : result.observation;
  }

  Agent agent(small_settings());
  ObservationRing ring(CartPole::kObservationWidth, 300);
  VectorEnvironment<CartPole> worlds = poles(ring, 1);
  worlds.start();
  RoundBuffers buffers(1);
  RoundTotals totals;
  for (int step = 0; step < kSteps; ++step) play_round(agent, worlds, 0.1, buffers, totals);

  EXPECT_EQ(totals.reward, plain_reward);
  EXPECT_EQ(totals.episodes, episode);
  EXPECT_GT(episode, 10U);
  EXPECT_EQ(agent.gradient_steps(), plain.gradient_steps());
  EXPECT_GT(agent.gradient_steps(), 900U);
  for (std::size_t place = 0; place < agent.learner().network().size(); ++place) {
    ASSERT_EQ(agent.learner().network()[place], plain.learner().network()[place]) << place;
  }
}

TEST(VectorEnvironment, IsActedForAsEachWorldWouldBeAlone) {
  constexpr std::size_t kWorlds = 5;
  AgentSettings settings = small_settings();
  settings.world_count = kWorlds;
  settings.epsilon = {0, 0, 1};
  Agent agent(settings);
  ObservationRing ring(CartPole::kObservationWidth, 300, kWorlds);
  VectorEnvironment<CartPole> worlds = poles(ring, kWorlds);
  worlds.start();
  RoundBuffers buffers(kWorlds);
  RoundTotals totals;
  for (int round = 0; round < 100; ++round) {
    std::vector<Action> actions(kWorlds);
    agent.act(worlds.observations(), worlds.table(), actions);
    for (std::size_t world = 0; world < kWorlds; ++world) {
      EXPECT_EQ(actions[world],
                agent.learner().best_action(worlds.table().row(worlds.observations()[world])));
    }
    play_round(agent, worlds, 1, buffers, totals);
  }
  EXPECT_EQ(agent.environment_steps(), 100 * kWorlds);
  // Of the 500 steps those count that are multiples of 3 from the fortieth on; two steps each.
  EXPECT_EQ(agent.gradient_steps(), 2U * (500 / 3 - 39 / 3));
}

TEST(VectorEnvironment, ShowsTheEndOfAnEpisodeAndThenTheStartOfTheNext) {
  ObservationRing ring(2, 100, 2);
  VectorEnvironment<CountingWorld> worlds(std::vector<CountingWorld>(2, CountingWorld(ring, 2)), 3);
  worlds.start();
  const std::vector<Action> actions(2, 0);
  const float first_episode = worlds.table().row(worlds.observations()[1])[0];
  worlds.step(actions);
  const std::span<const StepResult> results = worlds.step(actions);
  EXPECT_TRUE(results[1].ended());
  const float* const last = worlds.table().row(results[1].observation);
  EXPECT_EQ(last[0], first_episode);
  EXPECT_EQ(last[1], 2.0F);
  const float* const shown = worlds.table().row(worlds.observations()[1]);
  EXPECT_NE(shown[0], first_episode);
  EXPECT_EQ(shown[1], 0.0F);
  EXPECT_EQ(worlds.ended_return(1), 1.0);  // rewards 0 and 1
  EXPECT_EQ(worlds.episode(1).number, 1U);
  EXPECT_EQ(worlds.episode(1).episode_return, 0.0);
}

TEST(EpisodeSeed, DiffersByRunWorldAndEpisode) {
  EXPECT_NE(episode_seed(1, 0, 0), episode_seed(2, 0, 0));
  EXPECT_NE(episode_seed(1, 0, 1), episode_seed(1, 1, 0));
  EXPECT_NE(episode_seed(1, 0, 0), episode_seed(1, 0, 1));
}

TEST(Schedule, GoesFromStartToEndAndStays) {
  for (const ScheduleShape shape : {ScheduleShape::kLinear, ScheduleShape::kCosine}) {
    const Schedule schedule{1.0F, 0.2F, 1000, shape};
    EXPECT_FLOAT_EQ(schedule.at(0), 1.0F);
    EXPECT_FLOAT_EQ(schedule.at(500), 0.6F);
    EXPECT_FLOAT_EQ(schedule.at(1000), 0.2F);
    EXPECT_FLOAT_EQ(schedule.at(5000), 0.2F);
  }
  const Schedule cosine{1.0F, 0.0F, 1000, ScheduleShape::kCosine};
  EXPECT_NEAR(cosine.at(250), 0.5 + std::sqrt(0.5) / 2, 1e-6);
  const Schedule constant{0.3F, 0.0F, 10, ScheduleShape::kConstant};
  EXPECT_EQ(constant.at(1000), 0.3F);
}
}  // namespace
}  // namespace drey::trainer
