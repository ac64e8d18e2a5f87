// basic_learner.hpp: one step of DQN for any backend, in the order of the algorithm in README.md.
// Only those who bring a backend of their own include it; all others: learner.hpp.
// Read next: backend/backend.hpp, cpu_learner.hpp, device/device_learner.cpp.
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

/// Threads: one at a time.
template <Backend B>
class BasicLearner final : public Learner {
 public:
  /// Fails: as the backend's construction does. Draws the first weights from `random`: He's uniform
  /// for hidden layers.
  /// Source: He et al., "Delving Deep into Rectifiers", 2015, equation 10.
  BasicLearner(const LearnerSettings& settings, Random random);

  LossReport learn(std::span<const Transition> batch, std::span<const float> weights,
                   const ObservationTable& table) override;
  [[nodiscard]] Columns<float> inputs() override { return backend_.inputs(); }
  LossReport learn_assembled(const BatchTerms& terms) override;
  LossReport compute_gradient(const BatchTerms& terms) override;
  float apply_gradient() override;
  [[nodiscard]] std::span<const float> td_errors() const override { return backend_.errors(); }
  void set_learning_rate(float rate) override { backend_.set_learning_rate(rate); }
  [[nodiscard]] std::span<const float> values_of(const float* observation) override {
    return backend_.values_of(observation);
  }
  void values_of_many(Columns<const float> observations, std::size_t count,
                      Activations<float>& activations) const override {
    backend_.values_of_many(observations, count, activations);
  }
  [[nodiscard]] Action best_action(const float* observation) override {
    return greedy_action(values_of(observation).data(), action_count());
  }
  [[nodiscard]] AlignedArray<float>& network() override { return backend_.network(); }
  [[nodiscard]] const AlignedArray<float>& network() const override { return backend_.network(); }
  [[nodiscard]] AlignedArray<float>& target() override { return backend_.target(); }
  [[nodiscard]] AlignedArray<float>& gradient() override { return backend_.gradient(); }
  [[nodiscard]] Adam& adam() override { return backend_.adam(); }
  [[nodiscard]] std::uint64_t step_count() const override { return backend_.step_count(); }
  [[nodiscard]] std::size_t batch_bytes() const override {
    return backend_.batch_bytes() + rewards_.size() * (2 * sizeof(float) + sizeof(Action));
  }

  [[nodiscard]] B& backend() { return backend_; }

 private:
  BatchTerms terms_of(std::span<const Transition> batch, std::span<const float> weights);
  LossReport compute_gathered(const BatchTerms& terms);
  /// What the step now due does to the target network.
  [[nodiscard]] TargetStep target_step();

  B backend_;
  AlignedArray<float> gamma_powers_;  ///< gamma^0, gamma^1, ...: of all that `steps` can hold
  AlignedArray<float> rewards_;
  AlignedArray<float> discounts_;
  AlignedArray<Action> actions_;
};

template <Backend B>
BasicLearner<B>::BasicLearner(const LearnerSettings& settings, Random random)
    : Learner(settings),
      backend_(BackendPlan{shape(), settings.batch_size, settings.precision, settings.isa,
                           settings.device, settings.adam}),
      gamma_powers_(kTransitionStepsMax + 1),
      rewards_(settings.batch_size),
      discounts_(settings.batch_size),
      actions_(settings.batch_size) {
  DREY_ASSERT(settings.target_interval > 0);
  for (std::size_t steps = 0; steps <= kTransitionStepsMax; ++steps) {
    gamma_powers_[steps] = static_cast<float>(
        std::pow(static_cast<double>(settings.gamma), static_cast<double>(steps)));
  }
  draw_weights(shape(), random, backend_.network().data());
  std::memcpy(backend_.target().data(), backend_.network().data(),
              shape().block_size() * sizeof(float));
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
  const bool is_due = (backend_.step_count() + 1) % settings().target_interval == 0;
  return {is_due, settings().target_update == TargetUpdate::kHard ? 1.0f : settings().tau};
}

template <Backend B>
LossReport BasicLearner<B>::learn(std::span<const Transition> batch, std::span<const float> weights,
                                  const ObservationTable& table) {
  DREY_ASSERT(batch.size() == settings().batch_size && table.width == shape().inputs());
  backend_.gather(batch, table);
  if constexpr (WholeStepBackend<B>) {
    return backend_.whole_step(settings().double_dqn, settings().loss, terms_of(batch, weights),
                               target_step());
  }
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
  DREY_ASSERT(terms.rewards.size() == settings().batch_size);
  backend_.forward(settings().double_dqn);
  const LossReport report = backend_.compute_loss(settings().loss, terms);
  backend_.backward();
  return report;
}

template <Backend B>
float BasicLearner<B>::apply_gradient() {
  return backend_.update(target_step());
}
}  // namespace drey::trainer
