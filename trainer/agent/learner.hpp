// learner.hpp: the network, its target network, and one gradient step.
// Invariants: all memory is taken at construction; learn() and the act functions make no heap call;
// the same settings, seed and batches give the same weights bit for bit, whether the learner
// gathers a batch's rows or finds its observations assembled.
// Read next: learner.cpp, bellman.hpp, network.hpp, adam.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/bellman.hpp"
#include "trainer/agent/transition.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/adam.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/network.hpp"
#include "trainer/numeric/random.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace drey::trainer {
enum class TargetUpdate : std::uint8_t {
  kSoft,  ///< the target network goes `tau` of the way
  kHard   ///< it becomes a copy
};

struct LearnerSettings {
  std::vector<std::size_t> widths;  ///< observation, hidden..., actions
  std::size_t batch_size = 128;     ///< transitions per gradient step
  float gamma = 0.99f;              ///< value of a reward one step later
  bool double_dqn = true;           ///< the network, not its target, chooses the next action
  bool dueling = false;             ///< value and advantages in streams of their own
  Loss loss = Loss::kHuber;
  TargetUpdate target_update = TargetUpdate::kSoft;
  float tau = 0.001f;                 ///< only of soft updates
  std::uint64_t target_interval = 1;  ///< gradient steps from one update to the next
  AdamSettings adam;
};

/// Threads: one at a time.
class Learner {
 public:
  /// Draws the first weights from `random`: He's uniform for hidden layers.
  /// Source: He et al., "Delving Deep into Rectifiers", 2015, equation 10.
  Learner(const LearnerSettings& settings, Random random);

  /// One gradient step on `batch`, whose rows are in `table`. Empty `weights` are all 1.
  /// Requires: batch.size() == settings.batch_size; table.width == widths.front().
  LossReport learn(std::span<const Transition> batch, std::span<const float> weights,
                   const ObservationTable& table);

  /// Where the observations of a batch lie: in the first batch_size columns, the next observations
  /// in as many behind them. Shape: (widths.front(), 2 batch). Whoever holds observations of his
  /// own fills it; the rows of the padding must stay zero.
  [[nodiscard]] Columns<float> inputs() { return {inputs_.data(), input_stride_}; }

  /// One gradient step on what inputs() holds: compute_gradient(), then apply_gradient().
  /// Requires: terms of settings.batch_size values.
  LossReport learn_assembled(const BatchTerms& terms);

  /// The first half of a step: loss and gradient() of what inputs() holds; no weight changes.
  LossReport compute_gradient(const BatchTerms& terms);

  /// The second half: clips gradient(), moves the weights and, where it is due, the target network.
  /// Returns: the gradient's norm before clipping.
  float apply_gradient();

  /// value - target of each transition of the last gradient step. Shape: (batch,). Valid until the
  /// next one.
  [[nodiscard]] std::span<const float> td_errors() const { return errors_.span(); }

  void set_learning_rate(float learning_rate) { adam_.set_learning_rate(learning_rate); }

  /// The values of all actions. Shape: (action count,). Valid until the next call of a member.
  /// Requires: `observation` on a cache line.
  [[nodiscard]] std::span<const float> values_of(const float* observation);

  /// The action of the largest value.
  [[nodiscard]] Action best_action(const float* observation);

  [[nodiscard]] const LearnerSettings& settings() const { return settings_; }
  [[nodiscard]] const NetworkShape& shape() const { return shape_; }
  [[nodiscard]] AlignedArray<float>& network() { return network_; }
  [[nodiscard]] const AlignedArray<float>& network() const { return network_; }
  [[nodiscard]] AlignedArray<float>& target() { return target_; }
  /// Of the last compute_gradient(): what several processes average between the halves of a step.
  [[nodiscard]] AlignedArray<float>& gradient() { return gradient_; }
  [[nodiscard]] Adam& adam() { return adam_; }
  [[nodiscard]] std::size_t action_count() const { return shape_.outputs(); }

 private:
  void gather(std::span<const Transition> batch, const ObservationTable& table);
  BatchTerms terms_of(std::span<const Transition> batch, std::span<const float> weights);
  /// What the step now due does to the target network.
  [[nodiscard]] TargetBlend blend_now();

  LearnerSettings settings_;
  NetworkShape shape_;
  std::size_t input_stride_;  ///< floats from one gathered observation to the next
  AlignedArray<float> network_;
  AlignedArray<float> target_;
  AlignedArray<float> gradient_;
  Adam adam_;
  AlignedArray<float> inputs_;      ///< (stride, 2 batch): observations, then next observations
  Activations<float> activations_;  ///< of the network on inputs_
  Activations<float> beyond_;       ///< of the target network on the next observations
  Activations<float> deltas_;
  Activations<float> single_;  ///< of the network on the one observation to act on
  AlignedArray<float> targets_;
  AlignedArray<float> errors_;
  AlignedArray<float> gamma_powers_;  ///< gamma^0, gamma^1, ...: of all that `steps` can hold
  AlignedArray<float> rewards_;
  AlignedArray<float> discounts_;
  AlignedArray<Action> actions_;
};
}  // namespace drey::trainer
