// agent.cpp: see agent.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/agent.hpp"

namespace drey::trainer {
namespace {
EnsembleSettings ensemble_settings(const AgentSettings& settings) {
  EnsembleSettings ensemble;
  MemberSettings& member = ensemble.member;
  member.learner = settings.learner;
  member.make_learner = settings.make_learner;
  member.strategy = settings.priorities.is_on ? DrawStrategy::kPrioritised : DrawStrategy::kUniform;
  member.alpha = static_cast<double>(settings.priorities.alpha);
  member.replay_capacity = settings.replay_capacity;
  member.batches = settings.memory.batches;
  member.polyak = settings.memory.polyak;
  member.seed = settings.seed;
  member.make_reduction = settings.memory.make_reduction;
  ensemble.count = settings.member_count;
  ensemble.thread_count = settings.memory.thread_count;
  ensemble.shares_replay = settings.memory.agent_replay == AgentReplay::kShared;
  ensemble.replay = settings.memory.replay;
  ensemble.ranks = settings.memory.ranks;
  return ensemble;
}
}  // namespace

Agent::Agent(const AgentSettings& settings)
    : settings_(settings),
      ensemble_(ensemble_settings(settings)),
      actor_(learner().shape(), settings.agreement, settings.world_count),
      single_(learner().shape(), settings.agreement, 1),
      windows_(settings.world_count,
               StepWindow(settings.step_count, static_cast<double>(settings.learner.gamma))),
      exploration_(settings.seed, RandomPurpose::kExploration),
      monitor_(settings.memory.monitor, settings.memory.history, settings.memory.history_window) {}

Action Agent::best_action(const float* observation) {
  Action action = 0;
  const Columns<const float> column{observation, padded_to_lanes(learner().shape().inputs())};
  single_.choose(ensemble_, column, {&action, 1});
  return action;
}

LearningTotals Agent::learn(const ObservationTable& table, std::uint64_t step_count) {
  const LearningTotals totals = ensemble_.learn(
      table, {learning_rate(), settings_.priorities.beta.at(environment_steps_)}, step_count);
  gradient_steps_ += totals.gradient_steps;
  if (totals.gradient_steps != 0) {
    monitor_.add_loss(totals.loss / static_cast<double>(totals.gradient_steps));
  }
  return totals;
}
}  // namespace drey::trainer
