// agent_settings.cpp: hyperparameters, as options have them, to settings, as the agent has them:
// horizons in epochs become environment steps.
// SPDX-License-Identifier: MIT
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
  settings.target_update = hyper.target_update;
  settings.tau = static_cast<float>(hyper.tau);
  settings.target_interval = hyper.target_update == TargetUpdate::kHard ? hyper.target_interval : 1;
  settings.adam.learning_rate = static_cast<float>(hyper.learning_rate);
  settings.adam.norm_max = static_cast<float>(hyper.grad_clip);
  return settings;
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
  settings.seed = hyper.seed;
  return settings;
}
}  // namespace drey::trainer
