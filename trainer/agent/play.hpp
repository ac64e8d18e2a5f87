// play.hpp: an agent in a world: the loop of Algorithm 1 of Mnih et al. 2015, one step at a time.
// Generic over the world and free of heap calls, so that one step is all that training repeats.
// Read next: agent.hpp, environment.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/agent.hpp"
#include "trainer/environments/environment.hpp"

namespace drey::trainer {
struct PlayReport {
  StepResult result;
  LossReport loss;  ///< of the gradient step, when one was due
  bool learned;
};

/// Acts once on `observation`, remembers, and learns when it is due. The reward remembered is
/// `reward_scale` times the world's.
template <Environment World>
PlayReport play_step(Agent& agent, World& world, ObservationRow observation, double reward_scale) {
  const Action action = agent.act(world.observations().row(observation));
  PlayReport report{world.step(action), {}, false};
  const StepResult& result = report.result;
  agent.remember({observation, result.observation, static_cast<float>(result.reward * reward_scale),
                  action, result.terminated});
  if (agent.learning_is_due()) {
    report.loss = agent.learn(world.observations());
    report.learned = true;
  }
  return report;
}

/// Return of one episode played greedily; the world is reset first, nothing is learned.
template <Environment World>
double play_greedy_episode(Learner& learner, World& world) {
  double total = 0;
  ObservationRow observation = world.reset();
  for (bool ended = false; !ended;) {
    const StepResult result =
        world.step(learner.best_action(world.observations().row(observation)));
    total += result.reward;
    observation = result.observation;
    ended = result.ended();
  }
  return total;
}
}  // namespace drey::trainer
