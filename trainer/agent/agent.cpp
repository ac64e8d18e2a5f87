// agent.cpp: see agent.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/agent.hpp"

namespace drey::trainer {
Agent::Agent(const AgentSettings& settings)
    : settings_(settings),
      learner_(settings.learner, Random(settings.seed, RandomPurpose::kWeights)),
      actor_(learner_.shape(), settings.world_count),
      replay_(settings.replay_capacity),
      windows_(settings.world_count,
               StepWindow(settings.step_count, static_cast<double>(settings.learner.gamma))),
      exploration_(settings.seed, RandomPurpose::kExploration),
      sampling_(settings.seed, RandomPurpose::kReplay),
      batch_(settings.learner.batch_size),
      slots_(settings.learner.batch_size),
      weights_(settings.learner.batch_size) {
  if (settings.priorities.is_on) {
    priorities_.emplace(settings.replay_capacity, static_cast<double>(settings.priorities.alpha));
  }
}

/// Fills batch_, and with priorities weights_.
void Agent::draw_batch() {
  if (!priorities_) {
    replay_.sample(sampling_, batch_.span());
    return;
  }
  const float beta = settings_.priorities.beta.at(environment_steps_);
  priorities_->sample(sampling_, static_cast<double>(beta), replay_.size(), slots_.span(),
                      weights_.span());
  for (std::size_t index = 0; index < batch_.size(); ++index) {
    batch_[index] = replay_.stored()[slots_[index]];
  }
}

LossReport Agent::learn(const ObservationTable& table) {
  draw_batch();
  ++gradient_steps_;
  learner_.set_learning_rate(learning_rate());
  const std::span<const float> weights =
      priorities_ ? std::span<const float>(weights_.span()) : std::span<const float>();
  const LossReport report = learner_.learn(batch_.span(), weights, table);
  if (priorities_) priorities_->update(slots_.span(), learner_.td_errors());
  return report;
}
}  // namespace drey::trainer
