// agent.hpp: the DQN agent: acts, remembers, learns. Knows nothing of the world but the table of
// observations that its rows name.
// Invariants: no heap call after construction; everything that decides the future (weights,
// moments, replay, priorities, waiting steps, random states, step counts) is reachable from here,
// so that a checkpoint can hold it. Source: Mnih et al. 2015, Algorithm 1.
// Read next: learner.hpp, replay_buffer.hpp, n_step.hpp, prioritised_sampler.hpp, play.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/actor.hpp"
#include "trainer/agent/learner.hpp"
#include "trainer/agent/n_step.hpp"
#include "trainer/agent/prioritised_sampler.hpp"
#include "trainer/agent/replay_buffer.hpp"
#include "trainer/agent/schedule.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/random.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace drey::trainer {
/// Prioritised replay; without it all transitions are drawn equally often.
struct PrioritySettings {
  bool is_on = false;
  float alpha = 0.6f;                                         ///< how much errors count
  Schedule beta{0.4f, 1.0f, 100000, ScheduleShape::kLinear};  ///< how much weights make up for it
};

struct AgentSettings {
  LearnerSettings learner;
  Schedule epsilon;                       ///< share of random actions
  std::optional<Schedule> learning_rate;  ///< else the learner's own, always
  PrioritySettings priorities;
  std::size_t replay_capacity = 100000;  ///< transitions
  std::uint64_t learning_starts = 1000;  ///< environment steps before the first gradient step
  std::uint64_t train_frequency = 1;     ///< environment steps from one training to the next
  std::uint64_t gradient_steps = 1;      ///< of one training
  std::size_t step_count = 1;            ///< steps of a return, up to StepWindow::kStepsMax
  std::size_t world_count = 1;           ///< worlds that it acts in at once
  std::uint64_t seed = 1;
};

/// Threads: one at a time.
class Agent {
 public:
  explicit Agent(const AgentSettings& settings);

  /// Epsilon-greedy: sometimes any action, else the best known. Requires: `observation` on a cache
  /// line.
  Action act(const float* observation) {
    if (exploration_.unit() < epsilon()) {
      return static_cast<Action>(
          exploration_.below(static_cast<std::uint32_t>(learner_.action_count())));
    }
    return learner_.best_action(observation);
  }

  /// The same for as many worlds as the settings say, by one forward pass.
  void act(std::span<const ObservationRow> rows, const ObservationTable& table,
           std::span<Action> actions) {
    actor_.act(learner_, epsilon(), exploration_, rows, table, actions);
  }

  /// Stores a step of world number `world`, or what it completes.
  void remember(const Experience& experience, std::size_t world = 0) {
    windows_[world].add(experience, [this](const Transition& transition) {
      if (priorities_) priorities_->stored(replay_.head());
      replay_.add(transition);
    });
    ++environment_steps_;
  }

  /// Gradient steps that are due after `new_steps` steps were remembered.
  [[nodiscard]] std::uint64_t gradient_steps_due(std::uint64_t new_steps = 1) const {
    if (environment_steps_ < settings_.learning_starts || replay_.size() == 0) return 0;
    const std::uint64_t before =
        std::max(environment_steps_ - new_steps, settings_.learning_starts - 1);
    const std::uint64_t trainings =
        environment_steps_ / settings_.train_frequency - before / settings_.train_frequency;
    return trainings * settings_.gradient_steps;
  }

  /// One gradient step on a random batch of what was remembered; the rows are in `table`.
  LossReport learn(const ObservationTable& table);

  [[nodiscard]] const AgentSettings& settings() const { return settings_; }
  [[nodiscard]] float epsilon() const { return settings_.epsilon.at(environment_steps_); }
  [[nodiscard]] float learning_rate() const {
    return settings_.learning_rate ? settings_.learning_rate->at(environment_steps_)
                                   : settings_.learner.adam.learning_rate;
  }
  [[nodiscard]] std::uint64_t environment_steps() const { return environment_steps_; }
  [[nodiscard]] std::uint64_t gradient_steps() const { return gradient_steps_; }
  [[nodiscard]] Learner& learner() { return learner_; }
  [[nodiscard]] ReplayBuffer& replay() { return replay_; }
  /// Null without prioritised replay.
  [[nodiscard]] PrioritisedSampler* priorities() { return priorities_ ? &*priorities_ : nullptr; }
  /// Of each world, the steps that wait for those after them.
  [[nodiscard]] std::span<StepWindow> windows() { return windows_; }
  [[nodiscard]] Random& exploration() { return exploration_; }
  [[nodiscard]] Random& sampling() { return sampling_; }

  void restore_counts(std::uint64_t environment_steps, std::uint64_t gradient_steps) {
    environment_steps_ = environment_steps;
    gradient_steps_ = gradient_steps;
  }

 private:
  void draw_batch();

  AgentSettings settings_;
  Learner learner_;
  Actor actor_;
  ReplayBuffer replay_;
  std::optional<PrioritisedSampler> priorities_;
  std::vector<StepWindow> windows_;
  Random exploration_;
  Random sampling_;
  AlignedArray<Transition> batch_;
  AlignedArray<std::uint32_t> slots_;
  AlignedArray<float> weights_;
  std::uint64_t environment_steps_ = 0;
  std::uint64_t gradient_steps_ = 0;
};
}  // namespace drey::trainer
