// n_step.hpp: steps of one world on their way into the replay, as returns over n steps.
//   reward = r_t + gamma r_(t+1) + ... over `steps` steps, next = the observation after the last
// Invariants: every step enters the replay once, in order; a return never reaches beyond the end of
// its episode: at a termination nothing is added for what comes after, at a truncation the value of
// the old episode's last observation is, discounted by the steps that were really made.
// Source: Sutton & Barto, "Reinforcement Learning", 2nd edition, equation 7.1.
// Read next: transition.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/transition.hpp"

#include <drey/base/assert.hpp>

#include <array>
#include <span>

namespace drey::trainer {
/// A step that waits for those after it.
struct PendingStep {
  ObservationRow observation;
  Action action;
  double reward;  ///< scaled
};

/// One step of one world, as the agent is told of it.
struct Experience {
  ObservationRow observation;
  Action action;
  double reward;      ///< scaled
  StepResult result;  ///< its own reward is not looked at
};

/// Threads: one at a time. No heap call.
class StepWindow {
 public:
  static constexpr std::size_t kStepsMax = 64;

  /// Requires: 1 <= step_count <= kStepsMax.
  StepWindow(std::size_t step_count, double gamma) : step_count_(step_count), gamma_(gamma) {
    DREY_ASSERT(step_count >= 1 && step_count <= kStepsMax);
  }

  /// Adds a step and calls store(const Transition&) for each that is complete: none or one within
  /// an episode, all that wait at its end.
  template <class Store>
  void add(const Experience& experience, Store store) {
    pending_[count_++] = {experience.observation, experience.action, experience.reward};
    if (experience.result.ended()) {
      for (std::size_t first = 0; first < count_; ++first) store(transition(first, experience));
      count_ = 0;
    } else if (count_ == step_count_) {
      store(transition(0, experience));
      for (std::size_t index = 1; index < count_; ++index) pending_[index - 1] = pending_[index];
      --count_;
    }
  }

  /// What waits, oldest first: what a checkpoint stores.
  [[nodiscard]] std::span<const PendingStep> pending() const {
    return std::span(pending_).first(count_);
  }
  /// Takes over what pending() returned. Requires: fewer than step_count steps.
  void restore(std::span<const PendingStep> pending) {
    DREY_ASSERT(pending.size() < step_count_);
    count_ = 0;
    for (const PendingStep& step : pending) pending_[count_++] = step;
  }
  [[nodiscard]] std::size_t step_count() const { return step_count_; }

 private:
  /// The return from `first` on over all that wait, the last of which is `last`.
  [[nodiscard]] Transition transition(std::size_t first, const Experience& last) const {
    double reward = 0;
    for (std::size_t index = count_; index-- > first;) {
      reward = pending_[index].reward + gamma_ * reward;
    }
    return {pending_[first].observation, last.result.observation,
            static_cast<float>(reward),  pending_[first].action,
            last.result.terminated,      static_cast<std::uint8_t>(count_ - first)};
  }

  std::size_t step_count_;
  double gamma_;
  std::size_t count_ = 0;
  std::array<PendingStep, kStepsMax> pending_{};
};
}  // namespace drey::trainer
