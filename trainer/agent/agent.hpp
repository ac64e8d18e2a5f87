// agent.hpp: the DQN agent: acts, remembers, learns; alone, or as an ensemble of members that agree.
// Knows nothing of the world but the table of observations that its rows name.
// Invariants: no heap call after construction, but in forms that are there to be raced; everything
// that decides the future (weights, moments, replay, priorities, waiting steps, random states, step
// counts) is reachable from here, so that a checkpoint can hold it. Source: Mnih et al. 2015,
// Algorithm 1. Read next: ensemble.hpp, member.hpp, n_step.hpp, council.hpp, play.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/actor.hpp"
#include "trainer/agent/ensemble.hpp"
#include "trainer/agent/greedy_policy.hpp"
#include "trainer/agent/n_step.hpp"
#include "trainer/agent/run_monitor.hpp"
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

/// Forms that all give the same weights: how memory is used, and by how many threads.
struct MemorySettings {
  ReplayForm replay = ReplayForm::kIndex;
  BatchForm batches = BatchForm::kReused;
  PolyakForm polyak = PolyakForm::kFused;
  AgentReplay agent_replay = AgentReplay::kShared;
  MonitorForm monitor = MonitorForm::kWelford;
  HistoryForm history = HistoryForm::kRing;
  std::size_t history_window = kActionWindowMax;  ///< actions
  std::size_t thread_count = 1;
  Communicator* ranks = nullptr;                       ///< null: this process alone
  MakeReduction make_reduction = make_mean_reduction;  ///< of a lone agent's gradients
};

struct AgentSettings {
  LearnerSettings learner;
  MakeLearner make_learner = make_cpu_learner;
  Schedule epsilon;                       ///< share of random actions
  std::optional<Schedule> learning_rate;  ///< else the learner's own, always
  PrioritySettings priorities;            ///< of the first member
  std::size_t replay_capacity = 100000;   ///< transitions
  std::uint64_t learning_starts = 1000;   ///< environment steps before the first gradient step
  std::uint64_t train_frequency = 1;      ///< environment steps from one training to the next
  std::uint64_t gradient_steps = 1;       ///< of one training, each member
  std::size_t step_count = 1;             ///< steps of a return, up to StepWindow::kStepsMax
  std::size_t world_count = 1;            ///< worlds that it acts in at once
  std::size_t member_count = 1;           ///< up to kMembersMax
  Agreement agreement = Agreement::kMean;
  MemorySettings memory;
  std::uint64_t seed = 1;
};

/// Threads: one at a time.
class Agent final : public GreedyPolicy {
 public:
  explicit Agent(const AgentSettings& settings);

  /// Epsilon-greedy: sometimes any action, else the best known. Requires: `observation` on a cache
  /// line.
  Action act(const float* observation) {
    if (exploration_.unit() < epsilon()) {
      return static_cast<Action>(
          exploration_.below(static_cast<std::uint32_t>(learner().action_count())));
    }
    return best_action(observation);
  }

  /// The same for as many worlds as the settings say, by one forward pass of each member.
  void act(std::span<const ObservationRow> rows, const ObservationTable& table,
           std::span<Action> actions) {
    actor_.act(ensemble_, epsilon(), exploration_, rows, table, actions);
  }

  [[nodiscard]] Action best_action(const float* observation) override;

  /// Stores a step of world number `world`, or what it completes; its rows are in `table`.
  void remember(const Experience& experience, const ObservationTable& table,
                std::size_t world = 0) {
    windows_[world].add(experience, [this, &table](const Transition& transition) {
      ensemble_.add(transition, table);
    });
    monitor_.add_step(experience.action, experience.reward);
    ++environment_steps_;
  }

  /// Gradient steps that each member is to make after `new_steps` steps were remembered.
  [[nodiscard]] std::uint64_t gradient_steps_due(std::uint64_t new_steps = 1) const {
    if (environment_steps_ < settings_.learning_starts || replay().size() == 0) return 0;
    const std::uint64_t before =
        std::max(environment_steps_ - new_steps, settings_.learning_starts - 1);
    const std::uint64_t trainings =
        environment_steps_ / settings_.train_frequency - before / settings_.train_frequency;
    return trainings * settings_.gradient_steps;
  }

  /// `step_count` gradient steps of each member on random batches of what was remembered; the rows
  /// are in `table`. Returns: sums over all of them.
  LearningTotals learn(const ObservationTable& table, std::uint64_t step_count = 1);

  [[nodiscard]] const AgentSettings& settings() const { return settings_; }
  [[nodiscard]] float epsilon() const { return settings_.epsilon.at(environment_steps_); }
  [[nodiscard]] float learning_rate() const {
    return settings_.learning_rate ? settings_.learning_rate->at(environment_steps_)
                                   : settings_.learner.adam.learning_rate;
  }
  [[nodiscard]] std::uint64_t environment_steps() const { return environment_steps_; }
  /// Of all members together.
  [[nodiscard]] std::uint64_t gradient_steps() const { return gradient_steps_; }
  [[nodiscard]] Ensemble& ensemble() { return ensemble_; }
  [[nodiscard]] const Ensemble& ensemble() const { return ensemble_; }
  /// The first member's.
  [[nodiscard]] Learner& learner() { return ensemble_.member(0).learner(); }
  [[nodiscard]] const ReplayBuffer& replay() const { return ensemble_.replay().buffer(); }
  /// Of each world, the steps that wait for those after them.
  [[nodiscard]] std::span<StepWindow> windows() { return windows_; }
  [[nodiscard]] Random& exploration() { return exploration_; }
  /// Of this process, not of the run: a checkpoint does not hold it.
  [[nodiscard]] const RunMonitor& monitor() const { return monitor_; }

  void restore_counts(std::uint64_t environment_steps, std::uint64_t gradient_steps) {
    environment_steps_ = environment_steps;
    gradient_steps_ = gradient_steps;
  }

 private:
  AgentSettings settings_;
  Ensemble ensemble_;
  Actor actor_;
  Council single_;  ///< on the one observation to act on
  std::vector<StepWindow> windows_;
  Random exploration_;
  RunMonitor monitor_;
  std::uint64_t environment_steps_ = 0;
  std::uint64_t gradient_steps_ = 0;
};
}  // namespace drey::trainer
