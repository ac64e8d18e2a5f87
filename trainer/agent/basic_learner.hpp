// basic_learner.hpp: one step of DQN for any backend, in the order of the algorithm in README.md.
// Only those who bring a backend of their own include it; all others: learner.hpp.
// Read next: backend/backend.hpp, backend/cpu_backend.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/learner.hpp"

#include <drey/base/assert.hpp>

#include <cmath>
#include <cstring>

namespace drey::trainer {
inline constexpr std::size_t kTransitionStepsMax = 255;  ///< what Transition::steps can hold

/// He's uniform for hidden layers, small for the last one; biases stay as they are.
void draw_weights(const NetworkShape& shape, Random random, float* block);

template <Backend B>
BasicLearner<B>::BasicLearner(const LearnerSettings& settings, Random random)
    : settings_(settings),
      shape_(settings.widths, settings.dueling ? Head::kDueling : Head::kPlain),
      backend_(BackendPlan{shape_, settings.batch_size, settings.precision, settings.isa,
                           settings.adam}),
      gamma_powers_(kTransitionStepsMax + 1),
      rewards_(settings.batch_size),
      discounts_(settings.batch_size),
      actions_(settings.batch_size) {
  DREY_ASSERT(settings.target_interval > 0);
  for (std::size_t steps = 0; steps <= kTransitionStepsMax; ++steps) {
    gamma_powers_[steps] = static_cast<float>(
        std::pow(static_cast<double>(settings.gamma), static_cast<double>(steps)));
  }
  draw_weights(shape_, random, backend_.network().data());
  std::memcpy(backend_.target().data(), backend_.network().data(),
              shape_.block_size() * sizeof(float));
}

template <Backend B>
BatchTerms BasicLearner<B>::terms_of(std::span<const Transition> batch,
                                     std::span<const float> weights) {
  for (std::size_t index = 0; index < batch.size(); ++index) {
    const Transition& transition = batch[index];
    DREY_ASSERT(transition.steps > 0);
    rewards_[index] = transition.reward;
    discounts_[index] = transition.terminated ? 0.0f : gamma_powers_[transition.steps];
    actions_[index] = transition.action;
  }
  return {rewards_.span(), discounts_.span(), weights, actions_.span()};
}

template <Backend B>
TargetStep BasicLearner<B>::target_step() {
  const bool is_due = (backend_.adam().step_count() + 1) % settings_.target_interval == 0;
  return {is_due, settings_.target_update == TargetUpdate::kHard ? 1.0f : settings_.tau};
}

template <Backend B>
LossReport BasicLearner<B>::learn(std::span<const Transition> batch, std::span<const float> weights,
                                  const ObservationTable& table) {
  DREY_ASSERT(batch.size() == settings_.batch_size && table.width == shape_.inputs());
  backend_.gather(batch, table);
  LossReport report = compute_gathered(terms_of(batch, weights));
  report.gradient_norm = static_cast<double>(apply_gradient());
  return report;
}

template <Backend B>
LossReport BasicLearner<B>::learn_assembled(const BatchTerms& terms) {
  LossReport report = compute_gradient(terms);
  report.gradient_norm = static_cast<double>(apply_gradient());
  return report;
}

template <Backend B>
LossReport BasicLearner<B>::compute_gradient(const BatchTerms& terms) {
  backend_.inputs_changed();
  return compute_gathered(terms);
}

template <Backend B>
LossReport BasicLearner<B>::compute_gathered(const BatchTerms& terms) {
  DREY_ASSERT(terms.rewards.size() == settings_.batch_size);
  backend_.forward(settings_.double_dqn);
  const LossReport report = backend_.compute_loss(settings_.loss, terms);
  backend_.backward();
  return report;
}

template <Backend B>
float BasicLearner<B>::apply_gradient() {
  return backend_.update(target_step());
}

template <Backend B>
std::span<const float> BasicLearner<B>::values_of(const float* observation) {
  return backend_.values_of(observation);
}

template <Backend B>
Action BasicLearner<B>::best_action(const float* observation) {
  return greedy_action(values_of(observation).data(), action_count());
}
}  // namespace drey::trainer
