// play.hpp: an agent in a world: the loop of Algorithm 1 of Mnih et al. 2015, one step at a time,
// or one step of several worlds at a time.
// Generic over the world and free of heap calls, so that one round is all that training repeats.
// Read next: agent.hpp, environments/environment.hpp, environments/vector_environment.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/agent.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/environments/vector_environment.hpp"

namespace drey::trainer {
/// Does the gradient steps that are due after `new_steps` environment steps.
inline LearningTotals learn_due(Agent& agent, const ObservationTable& table,
                                std::uint64_t new_steps) {
  const std::uint64_t due = agent.gradient_steps_due(new_steps);
  return due == 0 ? LearningTotals() : agent.learn(table, due);
}

struct PlayReport {
  StepResult result;
  LearningTotals learning;
};

/// Acts once on `observation`, remembers, and learns when it is due. The reward remembered is
/// `reward_scale` times the world's.
template <Environment World>
PlayReport play_step(Agent& agent, World& world, ObservationRow observation, double reward_scale) {
  const Action action = agent.act(world.observations().row(observation));
  const StepResult result = world.step(action);
  agent.remember({observation, action, result.reward * reward_scale, result}, world.observations());
  return {result, learn_due(agent, world.observations(), 1)};
}

/// Sums over a round or more of several worlds.
struct RoundTotals {
  double reward = 0;
  std::uint64_t episodes = 0;  ///< that ended
  double episode_return = 0;   ///< of those
  LearningTotals learning;
};

/// What a round needs beside agent and worlds. Shape: (world count,) each.
struct RoundBuffers {
  explicit RoundBuffers(std::size_t world_count) : rows(world_count), actions(world_count) {}

  std::vector<ObservationRow> rows;
  std::vector<Action> actions;
};

/// One step of every world, then the gradient steps that are due; adds to `totals`.
/// Requires: worlds and buffers for the agent's number of worlds.
template <Environment World>
void play_round(Agent& agent, VectorEnvironment<World>& worlds, double reward_scale,
                RoundBuffers& buffers, RoundTotals& totals) {
  const std::span<const ObservationRow> shown = worlds.observations();
  std::copy(shown.begin(), shown.end(), buffers.rows.begin());  // step() shows others
  agent.act(buffers.rows, worlds.table(), buffers.actions);
  const std::span<const StepResult> results = worlds.step(buffers.actions);
  for (std::size_t index = 0; index < worlds.size(); ++index) {
    const StepResult& result = results[index];
    agent.remember(
        {buffers.rows[index], buffers.actions[index], result.reward * reward_scale, result},
        worlds.table(), index);
    totals.reward += result.reward;
    if (!result.ended()) continue;
    ++totals.episodes;
    totals.episode_return += worlds.ended_return(index);
  }
  totals.learning.add(learn_due(agent, worlds.table(), worlds.size()));
}

/// Return of one episode played greedily; the world is reset first, nothing is learned.
template <Environment World>
double play_greedy_episode(GreedyPolicy& policy, World& world, std::uint64_t seed) {
  double total = 0;
  ObservationRow observation = world.reset(seed);
  for (bool ended = false; !ended;) {
    const StepResult result = world.step(policy.best_action(world.observations().row(observation)));
    total += result.reward;
    observation = result.observation;
    ended = result.ended();
  }
  return total;
}
}  // namespace drey::trainer
