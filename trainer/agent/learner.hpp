// learner.hpp: the network, its target network, and one gradient step.
// Invariants: all memory is taken at construction; learn() and the act functions make no heap call;
// the same settings, seed and batches give the same weights bit for bit.
// Read next: learner.cpp, bellman.hpp, network.hpp, adam.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/bellman.hpp"
#include "trainer/agent/replay_buffer.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/adam.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/network.hpp"
#include "trainer/numeric/random.hpp"

#include <span>
#include <vector>

namespace drey::trainer {
struct LearnerSettings {
  std::vector<std::size_t> widths;  ///< observation, hidden..., actions
  std::size_t batch_size = 128;     ///< transitions per gradient step
  float gamma = 0.99f;              ///< value of a reward one step later
  bool double_dqn = true;           ///< the network, not its target, chooses the next action
  AdamSettings adam;
};

/// Threads: one at a time.
class Learner {
 public:
  /// Draws the first weights from `random`: He's uniform for hidden layers.
  /// Source: He et al., "Delving Deep into Rectifiers", 2015, equation 10.
  Learner(const LearnerSettings& settings, Random random);

  /// One gradient step on `batch`, whose rows are in `table`.
  /// Requires: batch.size() == settings.batch_size; table.width == widths.front().
  LossReport learn(std::span<const Transition> batch, const ObservationTable& table);

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
  [[nodiscard]] Adam& adam() { return adam_; }
  [[nodiscard]] std::size_t action_count() const { return shape_.outputs(); }

 private:
  void gather(std::span<const Transition> batch, const ObservationTable& table);

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
};
}  // namespace drey::trainer
