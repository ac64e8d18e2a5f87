// learner.cpp: one step of DQN, in the order of the algorithm in README.md.
// Read next: network.cpp, bellman.cpp, adam.cpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/learner.hpp"

#include <drey/base/assert.hpp>

#include <cmath>
#include <cstring>

namespace drey::trainer {
namespace {
constexpr std::size_t kStepsMax = 255;  // what Transition::steps can hold

void draw_weights(const NetworkShape& shape, Random random, float* block) {
  for (const LayerShape& layer : shape.layers()) {
    const bool is_last = &layer == &shape.layers().back();
    // He's bound keeps the variance through a ReLU; the last layer has none and starts small, so
    // that the first targets are rewards rather than noise of the untrained network.
    const auto inputs = static_cast<float>(layer.inputs);
    const float bound = is_last ? 0.1f / std::sqrt(inputs) : std::sqrt(6.0f / inputs);
    for (std::size_t output = 0; output < layer.outputs; ++output) {
      for (std::size_t input = 0; input < layer.inputs; ++input) {
        block[layer.weight(output, input)] = random.between(-bound, bound);
      }
    }
  }
}

Columns<const float> columns_from(Columns<float> columns, std::size_t first) {
  return {columns.values + first * columns.stride, columns.stride};
}
}  // namespace

Learner::Learner(const LearnerSettings& settings, Random random)
    : settings_(settings),
      shape_(settings.widths, settings.dueling ? Head::kDueling : Head::kPlain),
      input_stride_(padded_to_lanes(shape_.inputs())),
      network_(shape_.block_size()),
      target_(shape_.block_size()),
      gradient_(shape_.block_size()),
      adam_(settings.adam, shape_.block_size()),
      inputs_(input_stride_ * settings.batch_size * 2),
      activations_(shape_, settings.batch_size * 2),
      beyond_(shape_, settings.batch_size),
      deltas_(shape_, settings.batch_size),
      single_(shape_, 1),
      targets_(settings.batch_size),
      errors_(settings.batch_size),
      gamma_powers_(kStepsMax + 1),
      rewards_(settings.batch_size),
      discounts_(settings.batch_size),
      actions_(settings.batch_size) {
  DREY_ASSERT(settings.target_interval > 0);
  for (std::size_t steps = 0; steps <= kStepsMax; ++steps) {
    gamma_powers_[steps] = static_cast<float>(
        std::pow(static_cast<double>(settings.gamma), static_cast<double>(steps)));
  }
  draw_weights(shape_, random, network_.data());
  std::memcpy(target_.data(), network_.data(), network_.size() * sizeof(float));
}

void Learner::gather(std::span<const Transition> batch, const ObservationTable& table) {
  const std::size_t row_bytes = table.width * sizeof(float);
  float* observation = inputs_.data();
  float* next = inputs_.data() + batch.size() * input_stride_;
  for (const Transition& transition : batch) {
    std::memcpy(observation, table.row(transition.observation), row_bytes);
    std::memcpy(next, table.row(transition.next_observation), row_bytes);
    observation += input_stride_;
    next += input_stride_;
  }
}

BatchTerms Learner::terms_of(std::span<const Transition> batch, std::span<const float> weights) {
  for (std::size_t index = 0; index < batch.size(); ++index) {
    const Transition& transition = batch[index];
    DREY_ASSERT(transition.steps > 0);
    rewards_[index] = transition.reward;
    discounts_[index] = transition.terminated ? 0.0f : gamma_powers_[transition.steps];
    actions_[index] = transition.action;
  }
  return {rewards_.span(), discounts_.span(), weights, actions_.span()};
}

TargetBlend Learner::blend_now() {
  const bool is_due = (adam_.step_count() + 1) % settings_.target_interval == 0;
  if (!is_due) return {};
  return {target_.data(), settings_.target_update == TargetUpdate::kHard ? 1.0f : settings_.tau};
}

LossReport Learner::learn(std::span<const Transition> batch, std::span<const float> weights,
                          const ObservationTable& table) {
  DREY_ASSERT(batch.size() == settings_.batch_size && table.width == shape_.inputs());
  gather(batch, table);
  return learn_assembled(terms_of(batch, weights));
}

LossReport Learner::learn_assembled(const BatchTerms& terms) {
  LossReport report = compute_gradient(terms);
  report.gradient_norm = static_cast<double>(apply_gradient());
  return report;
}

LossReport Learner::compute_gradient(const BatchTerms& terms) {
  const std::size_t size = settings_.batch_size;
  DREY_ASSERT(terms.rewards.size() == size && terms.actions.size() == size);
  const Columns<const float> observations{inputs_.data(), input_stride_};
  const Columns<const float> next{inputs_.data() + size * input_stride_, input_stride_};

  // Double DQN asks the network about the next observations too: as one product twice as wide.
  forward(shape_, network_.data(), observations, settings_.double_dqn ? 2 * size : size,
          activations_);
  forward(shape_, target_.data(), next, size, beyond_);

  const Columns<const float> valuer = columns_from(beyond_.outputs(), 0);
  const Columns<const float> chooser =
      settings_.double_dqn ? columns_from(activations_.outputs(), size) : valuer;
  bellman_targets(terms, action_count(), chooser, valuer, targets_.span());

  const LossReport report =
      compute_loss(settings_.loss, terms, columns_from(activations_.outputs(), 0), targets_.span(),
                   deltas_.outputs(), errors_.span());
  backward(shape_, network_.data(), observations, size, activations_, deltas_, gradient_.data());
  return report;
}

float Learner::apply_gradient() {
  return adam_.step(network_.data(), gradient_.data(), blend_now());
}

std::size_t Learner::batch_bytes() const {
  return inputs_.size() * sizeof(float) + activations_.bytes() + beyond_.bytes() + deltas_.bytes() +
         single_.bytes() +
         targets_.size() * (4 * sizeof(float) + sizeof(Action));  // targets and four terms
}

std::span<const float> Learner::values_of(const float* observation) {
  forward(shape_, network_.data(), Columns<const float>{observation, input_stride_}, 1, single_);
  return {single_.outputs().values, action_count()};
}

Action Learner::best_action(const float* observation) {
  return greedy_action(values_of(observation).data(), action_count());
}
}  // namespace drey::trainer
