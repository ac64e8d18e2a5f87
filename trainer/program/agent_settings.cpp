// agent_settings.cpp: hyperparameters, as options have them, to settings, as the agent has them:
// horizons in epochs become environment steps.
// SPDX-License-Identifier: MIT
#include "trainer/agent/state_stores.hpp"
#include "trainer/program/command_line.hpp"
#include "trainer/program/device_options.hpp"
#include "trainer/program/session.hpp"

namespace drey::trainer {
namespace {
std::uint64_t plan_steps(const Problem& problem, std::uint64_t epochs, double part = 1.0) {
  return static_cast<std::uint64_t>(part * static_cast<double>(epochs) *
                                    static_cast<double>(problem.steps_per_pass()));
}

LearnerSettings learner_settings(const Hyperparameters& hyper, const Problem& problem) {
  LearnerSettings settings;
  settings.widths = {problem.observation_width()};
  settings.widths.insert(settings.widths.end(), hyper.hidden.begin(), hyper.hidden.end());
  settings.widths.push_back(problem.action_count());
  settings.batch_size = hyper.batch;
  settings.gamma = static_cast<float>(hyper.gamma);
  settings.double_dqn = hyper.double_dqn;
  settings.dueling = hyper.dueling;
  settings.loss = hyper.loss;
  settings.precision = hyper.precision;
  settings.target_update = hyper.target_update;
  settings.tau = static_cast<float>(hyper.tau);
  settings.target_interval = hyper.target_update == TargetUpdate::kHard ? hyper.target_interval : 1;
  settings.adam.learning_rate = static_cast<float>(hyper.learning_rate);
  settings.adam.norm_max = static_cast<float>(hyper.grad_clip);
  return settings;
}

void check_memory_options(const Config& config, const Problem& problem, const Communicator* ranks) {
  if (config.run.memory.replay == ReplayForm::kPool) {
    if (problem.observation_width() != PoolStates::kWidth) {
      refuse_option("--replay",
                    "index, shared or copy for observations of " +
                        text_of(std::uint64_t{problem.observation_width()}) + " values",
                    "pool, which holds " + text_of(std::uint64_t{PoolStates::kWidth}));
    }
    if (config.hyper.buffer > PoolStates::kCapacityMax) {
      refuse_option("--buffer",
                    "at most " + text_of(std::uint64_t{PoolStates::kCapacityMax}) +
                        " transitions with --replay pool",
                    text_of(config.hyper.buffer));
    }
  }
  const std::uint64_t rank_count = ranks == nullptr ? 1 : ranks->size();
  if (config.hyper.agents == 1 && config.hyper.batch % rank_count != 0) {
    refuse_option("--batch", "a multiple of the " + text_of(rank_count) + " ranks",
                  text_of(config.hyper.batch));
  }
  check_reduction(config, rank_count);
}
}  // namespace

AgentSettings agent_settings(const Hyperparameters& hyper, const Problem& problem) {
  AgentSettings settings;
  settings.learner = learner_settings(hyper, problem);
  settings.epsilon = {
      static_cast<float>(hyper.epsilon_start), static_cast<float>(hyper.epsilon_end),
      plan_steps(problem, hyper.epsilon_horizon, hyper.epsilon_fraction), hyper.epsilon_shape};
  settings.learning_rate = {
      static_cast<float>(hyper.learning_rate), static_cast<float>(hyper.learning_rate_end),
      plan_steps(problem, hyper.learning_rate_horizon), hyper.learning_rate_shape};
  settings.priorities = {hyper.prioritised,
                         static_cast<float>(hyper.priority_alpha),
                         {static_cast<float>(hyper.priority_beta), 1.0f,
                          plan_steps(problem, hyper.priority_horizon), ScheduleShape::kLinear}};
  settings.replay_capacity = hyper.buffer;
  settings.learning_starts = hyper.learning_starts;
  settings.train_frequency = hyper.train_frequency;
  settings.gradient_steps = hyper.gradient_steps;
  settings.step_count = hyper.step_count;
  settings.world_count = hyper.environments;
  settings.member_count = hyper.agents;
  settings.agreement = hyper.agreement;
  settings.seed = hyper.seed;
  return settings;
}

AgentSettings agent_settings(const Config& config, const Problem& problem, Communicator* ranks) {
  check_memory_options(config, problem, ranks);
  AgentSettings settings = agent_settings(config.hyper, problem);
  const MemoryOptions& memory = config.run.memory;
  settings.memory.replay = memory.replay;
  settings.memory.batches = memory.batches;
  settings.memory.polyak = memory.polyak;
  settings.memory.agent_replay = memory.agent_replay;
  settings.memory.monitor = memory.monitor;
  settings.memory.history = memory.history;
  settings.memory.thread_count = config.run.threads;
  settings.memory.ranks = ranks;
  choose_device(config.run, settings);
  return settings;
}
}  // namespace drey::trainer
