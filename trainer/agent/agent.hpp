// agent.hpp: the DQN agent: acts, remembers, learns. Knows nothing of the world but the table of
// observations that its rows name.
// Invariants: no heap call after construction; everything that decides the future (weights,
// moments, replay, random states, step counts) is reachable from here, so that a checkpoint can
// hold it. Source: Mnih et al. 2015, Algorithm 1.
// Read next: learner.hpp, replay_buffer.hpp, play.hpp, README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/learner.hpp"
#include "trainer/agent/replay_buffer.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/random.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace drey::trainer {
/// Epsilon falls on a straight line from `start` to `end` over `steps` steps, then stays.
struct EpsilonSchedule {
  float start = 1.0f;
  float end = 0.05f;
  std::uint64_t steps = 10000;  ///< environment steps

  [[nodiscard]] float at(std::uint64_t step) const {
    if (step >= steps) return end;
    const double part = static_cast<double>(step) / static_cast<double>(steps);
    return static_cast<float>(static_cast<double>(start) +
                              part * (static_cast<double>(end) - static_cast<double>(start)));
  }
};

struct AgentSettings {
  LearnerSettings learner;
  EpsilonSchedule epsilon;
  std::size_t replay_capacity = 100000;  ///< transitions
  std::uint64_t learning_starts = 1000;  ///< environment steps before the first gradient step
  std::uint64_t train_frequency = 1;     ///< environment steps per gradient step
  std::uint64_t seed = 1;
};

/// Threads: one at a time.
class Agent {
 public:
  explicit Agent(const AgentSettings& settings)
      : settings_(settings),
        learner_(settings.learner, Random(settings.seed, RandomPurpose::kWeights)),
        replay_(settings.replay_capacity),
        exploration_(settings.seed, RandomPurpose::kExploration),
        sampling_(settings.seed, RandomPurpose::kReplay),
        batch_(settings.learner.batch_size) {}

  /// Epsilon-greedy: sometimes any action, else the best known. Requires: `observation` on a cache
  /// line.
  Action act(const float* observation) {
    if (exploration_.unit() < epsilon()) {
      return static_cast<Action>(
          exploration_.below(static_cast<std::uint32_t>(learner_.action_count())));
    }
    return learner_.best_action(observation);
  }

  void remember(const Transition& transition) {
    replay_.add(transition);
    ++environment_steps_;
  }

  /// Whether a gradient step is due after the step just remembered.
  [[nodiscard]] bool learning_is_due() const {
    return environment_steps_ >= settings_.learning_starts &&
           environment_steps_ % settings_.train_frequency == 0;
  }

  /// One gradient step on a random batch of what was remembered; the rows are in `table`.
  LossReport learn(const ObservationTable& table) {
    replay_.sample(sampling_, batch_.span());
    ++gradient_steps_;
    return learner_.learn(batch_.span(), {}, table);
  }

  [[nodiscard]] const AgentSettings& settings() const { return settings_; }
  [[nodiscard]] float epsilon() const { return settings_.epsilon.at(environment_steps_); }
  [[nodiscard]] std::uint64_t environment_steps() const { return environment_steps_; }
  [[nodiscard]] std::uint64_t gradient_steps() const { return gradient_steps_; }
  [[nodiscard]] Learner& learner() { return learner_; }
  [[nodiscard]] ReplayBuffer& replay() { return replay_; }
  [[nodiscard]] Random& exploration() { return exploration_; }
  [[nodiscard]] Random& sampling() { return sampling_; }

  void restore_counts(std::uint64_t environment_steps, std::uint64_t gradient_steps) {
    environment_steps_ = environment_steps;
    gradient_steps_ = gradient_steps;
  }

 private:
  AgentSettings settings_;
  Learner learner_;
  ReplayBuffer replay_;
  Random exploration_;
  Random sampling_;
  AlignedArray<Transition> batch_;
  std::uint64_t environment_steps_ = 0;
  std::uint64_t gradient_steps_ = 0;
};
}  // namespace drey::trainer
