// learner.cpp: one step of DQN, in the order of the algorithm in README.md.
// Read next: network.cpp, bellman.cpp, adam.cpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/learner.hpp"

#include <drey/base/assert.hpp>

#include <cmath>
#include <cstring>

namespace drey::trainer {
namespace {
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
      shape_(settings.widths),
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
      targets_(settings.batch_size) {
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

LossReport Learner::learn(std::span<const Transition> batch, const ObservationTable& table) {
  const std::size_t size = batch.size();
  DREY_ASSERT(size == settings_.batch_size && table.width == shape_.inputs());
  gather(batch, table);
  const Columns<const float> observations{inputs_.data(), input_stride_};
  const Columns<const float> next{inputs_.data() + size * input_stride_, input_stride_};

  // Double DQN asks the network about the next observations too: as one product twice as wide.
  forward(shape_, network_.data(), observations, settings_.double_dqn ? 2 * size : size,
          activations_);
  forward(shape_, target_.data(), next, size, beyond_);

  const Columns<const float> valuer = columns_from(beyond_.outputs(), 0);
  const Columns<const float> chooser =
      settings_.double_dqn ? columns_from(activations_.outputs(), size) : valuer;
  bellman_targets(batch, action_count(), settings_.gamma, chooser, valuer, targets_.span());

  LossReport report = huber_loss(batch, columns_from(activations_.outputs(), 0), targets_.span(),
                                 deltas_.outputs());
  backward(shape_, network_.data(), observations, size, activations_, deltas_, gradient_.data());
  report.gradient_norm =
      static_cast<double>(adam_.step(network_.data(), gradient_.data(), target_.data()));
  return report;
}

std::span<const float> Learner::values_of(const float* observation) {
  forward(shape_, network_.data(), Columns<const float>{observation, input_stride_}, 1, single_);
  return {single_.outputs().values, action_count()};
}

Action Learner::best_action(const float* observation) {
  return greedy_action(values_of(observation).data(), action_count());
}
}  // namespace drey::trainer
