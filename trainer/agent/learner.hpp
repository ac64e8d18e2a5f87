// learner.hpp: the network, its target network, and one gradient step.
// Invariants: all memory is taken at construction; learn() and the act functions make no heap call;
// the same settings, seed and batches give the same weights bit for bit, whether the learner
// gathers a batch's rows or finds its observations assembled. Where the numbers live and who works
// on them is the backend's business: the learner is written once for all.
// Read next: basic_learner.hpp, bellman.hpp, backend/backend.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/bellman.hpp"
#include "trainer/agent/greedy_policy.hpp"
#include "trainer/agent/transition.hpp"
#include "trainer/backend/backend.hpp"
#include "trainer/backend/cpu_backend.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/adam.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/network.hpp"
#include "trainer/numeric/random.hpp"

#include <cstdint>
#include <optional>
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
  Precision precision = Precision::kFloat;
  std::optional<Isa> isa;  ///< instruction set of the CPU's kernels; none: chosen_isa()
  AdamSettings adam;
};

/// Threads: one at a time. Blocks that network(), target() and adam() refer to may be changed until
/// the next call of a member, not later: a device has its own copies.
template <Backend B>
class BasicLearner final : public GreedyPolicy {
 public:
  /// Fails: as the backend's construction does. Draws the first weights from `random`: He's uniform for hidden layers.
  /// Source: He et al., "Delving Deep into Rectifiers", 2015, equation 10.
  BasicLearner(const LearnerSettings& settings, Random random);

  /// One gradient step on `batch`, whose rows are in `table`. Empty `weights` are all 1.
  /// Requires: batch.size() == settings.batch_size; table.width == widths.front().
  LossReport learn(std::span<const Transition> batch, std::span<const float> weights,
                   const ObservationTable& table);

  /// Where the observations of a batch lie: in the first batch_size columns, the next observations
  /// in as many behind them. Shape: (widths.front(), 2 batch). Whoever holds observations of his
  /// own fills it; the rows of the padding must stay zero.
  [[nodiscard]] Columns<float> inputs() { return backend_.inputs(); }

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
  [[nodiscard]] std::span<const float> td_errors() const { return backend_.errors(); }

  void set_learning_rate(float learning_rate) { backend_.set_learning_rate(learning_rate); }

  /// The values of all actions. Shape: (action count,). Valid until the next call of a member.
  /// Requires: `observation` on a cache line.
  [[nodiscard]] std::span<const float> values_of(const float* observation);

  /// The same of `count` observations at once, left in activations.outputs(). Safe beside other
  /// calls of this function, each with activations of its own.
  /// Shape: observations (widths.front(), count). Requires: a stride that is a multiple of 16.
  void values_of_many(Columns<const float> observations, std::size_t count,
                      Activations<float>& activations) const {
    backend_.values_of_many(observations, count, activations);
  }

  /// The action of the largest value.
  [[nodiscard]] Action best_action(const float* observation) override;

  [[nodiscard]] const LearnerSettings& settings() const { return settings_; }
  [[nodiscard]] const NetworkShape& shape() const { return shape_; }
  [[nodiscard]] AlignedArray<float>& network() { return backend_.network(); }
  [[nodiscard]] const AlignedArray<float>& network() const { return backend_.network(); }
  [[nodiscard]] AlignedArray<float>& target() { return backend_.target(); }
  /// Of the last compute_gradient(): what several processes average between the halves of a step.
  [[nodiscard]] AlignedArray<float>& gradient() { return backend_.gradient(); }
  [[nodiscard]] Adam& adam() { return backend_.adam(); }
  /// Bytes of what a batch needs: inputs, activations, their gradients, terms.
  [[nodiscard]] std::size_t batch_bytes() const {
    return backend_.batch_bytes() + rewards_.size() * (2 * sizeof(float) + sizeof(Action));
  }
  [[nodiscard]] std::size_t action_count() const { return shape_.outputs(); }

  [[nodiscard]] B& backend() { return backend_; }

 private:
  BatchTerms terms_of(std::span<const Transition> batch, std::span<const float> weights);
  LossReport compute_gathered(const BatchTerms& terms);
  /// What the step now due does to the target network.
  [[nodiscard]] TargetStep target_step();

  LearnerSettings settings_;
  NetworkShape shape_;
  B backend_;
  AlignedArray<float> gamma_powers_;  ///< gamma^0, gamma^1, ...: of all that `steps` can hold
  AlignedArray<float> rewards_;
  AlignedArray<float> discounts_;
  AlignedArray<Action> actions_;
};

using Learner = BasicLearner<CpuBackend>;
extern template class BasicLearner<CpuBackend>;
}  // namespace drey::trainer
