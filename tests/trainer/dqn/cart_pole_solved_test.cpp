// cart_pole_solved_test.cpp: the agent as a whole learns: CartPole-v1 counts as solved at an
// average return of 475 over 100 episodes.
// Method: at most 60,000 environment steps; every 2,500 the greedy policy is looked at, and once it
// seems good it must prove itself on 100 episodes that start from states never used before.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdio>

#include "support/seed.hpp"
#include "trainer/agent/agent.hpp"
#include "trainer/agent/play.hpp"
#include "trainer/environments/cart_pole.hpp"

namespace drey::trainer {
namespace {
constexpr int kStepsMax = 60000;
constexpr int kStepsPerLook = 2500;
constexpr double kSolvedReturn = 475;

AgentSettings settings_for(std::uint64_t seed) {
  AgentSettings settings;
  settings.learner.widths = {CartPole::kObservationWidth, 128, 64, CartPole::kActionCount};
  settings.learner.adam.learning_rate = 5e-4F;
  settings.learner.tau = 0.005F;
  settings.replay_capacity = 50000;
  settings.epsilon = {1.0F, 0.05F, 10000};
  settings.seed = seed;
  return settings;
}

/// Over episodes whose first states come from `seed`.
double average_return(Learner& learner, std::uint64_t seed, int episodes) {
  ObservationRing ring(CartPole::kObservationWidth, 1);
  CartPole world(ring);
  double sum = 0;
  for (int episode = 0; episode < episodes; ++episode) {
    sum += play_greedy_episode(learner, world,
                               episode_seed(seed, 0, static_cast<std::uint64_t>(episode)));
  }
  return sum / episodes;
}

TEST(CartPole, IsSolvedWithinSixtyThousandSteps) {
  const std::uint64_t seed = test::test_seed(1);
  const AgentSettings settings = settings_for(seed);
  // Rewards of 1 would make values of 100: scaled to 2, errors stay in the quadratic part of the
  // Huber loss, beyond which the few falls would be outvoted by the many steps that are none.
  constexpr double kRewardScale = 0.02;
  Agent agent(settings);
  ObservationRing ring(CartPole::kObservationWidth, settings.replay_capacity);
  CartPole world(ring);
  double proven = 0;
  std::uint64_t episode = 0;
  ObservationRow observation = world.reset(episode_seed(seed, 0, episode));
  int step = 0;
  while (step < kStepsMax && proven < kSolvedReturn) {
    const StepResult result = play_step(agent, world, observation, kRewardScale).result;
    observation =
        result.ended() ? world.reset(episode_seed(seed, 0, ++episode)) : result.observation;
    if (++step % kStepsPerLook == 0 && average_return(agent.learner(), seed + 1, 10) >= 490) {
      proven = average_return(agent.learner(), seed + 2, 100);
    }
  }
  std::printf("average return %.1f over 100 episodes after %d steps\n", proven, step);
  EXPECT_GE(proven, kSolvedReturn);
}
}  // namespace
}  // namespace drey::trainer
