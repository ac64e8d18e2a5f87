// learner.hpp: the network, its target network, and one gradient step, as an agent sees them.
// Invariants: all memory is taken at construction; learn() and the act functions make no heap call;
// the same settings, seed and batches give the same weights bit for bit, whether the learner
// gathers a batch's rows or finds its observations assembled. Where the numbers live and who works
// on them is the backend's business: a virtual call for a step or a pass, none within.
// Read next: basic_learner.hpp (written once for all backends), bellman.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/bellman.hpp"
#include "trainer/agent/greedy_policy.hpp"
#include "trainer/agent/transition.hpp"
#include "trainer/backend/backend.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/adam.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/network.hpp"
#include "trainer/numeric/random.hpp"

#include <cstdint>
#include <functional>
#include <memory>
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
  int device = 0;          ///< number of the device, of a learner on one
  AdamSettings adam;
};

/// Threads: one at a time. Blocks that network(), target() and adam() refer to may be changed until
/// the next call of a member, not later: a device has its own copies.
class Learner : public GreedyPolicy {
 public:
  virtual ~Learner() = default;

  /// One gradient step on `batch`, whose rows are in `table`. Empty `weights` are all 1.
  /// Requires: batch.size() == settings().batch_size; table.width == shape().inputs().
  virtual LossReport learn(std::span<const Transition> batch, std::span<const float> weights,
                           const ObservationTable& table) = 0;

  /// Where the observations of a batch lie: in the first batch_size columns, the next observations
  /// in as many behind them. Shape: (shape().inputs(), 2 batch). Whoever holds observations of his
  /// own fills it; the rows of the padding must stay zero.
  [[nodiscard]] virtual Columns<float> inputs() = 0;

  /// One gradient step on what inputs() holds: compute_gradient(), then apply_gradient().
  /// Requires: terms of settings().batch_size values.
  virtual LossReport learn_assembled(const BatchTerms& terms) = 0;

  /// The first half of a step: loss and gradient() of what inputs() holds; no weight changes.
  virtual LossReport compute_gradient(const BatchTerms& terms) = 0;

  /// The second half: clips gradient(), moves the weights and, where it is due, the target network.
  /// Returns: the gradient's norm before clipping.
  virtual float apply_gradient() = 0;

  /// value - target of each transition of the last gradient step. Shape: (batch,). Valid until the
  /// next one.
  [[nodiscard]] virtual std::span<const float> td_errors() const = 0;

  virtual void set_learning_rate(float learning_rate) = 0;

  /// The values of all actions. Shape: (action count,). Valid until the next call of a member.
  /// Requires: `observation` on a cache line.
  [[nodiscard]] virtual std::span<const float> values_of(const float* observation) = 0;

  /// The same of `count` observations at once, left in activations.outputs(). On the CPU safe beside
  /// other calls of this function, each with activations of its own.
  /// Shape: observations (shape().inputs(), count). Requires: a stride that is a multiple of 16.
  virtual void values_of_many(Columns<const float> observations, std::size_t count,
                              Activations<float>& activations) const = 0;

  [[nodiscard]] virtual AlignedArray<float>& network() = 0;
  [[nodiscard]] virtual const AlignedArray<float>& network() const = 0;
  [[nodiscard]] virtual AlignedArray<float>& target() = 0;
  /// Of the last compute_gradient(): what several processes average between the halves of a step.
  [[nodiscard]] virtual AlignedArray<float>& gradient() = 0;
  [[nodiscard]] virtual Adam& adam() = 0;
  /// Gradient steps of all times; for less than adam() costs on a device.
  [[nodiscard]] virtual std::uint64_t step_count() const = 0;
  /// Bytes of what a batch needs: inputs, activations, their gradients, terms.
  [[nodiscard]] virtual std::size_t batch_bytes() const = 0;

  [[nodiscard]] const LearnerSettings& settings() const { return settings_; }
  [[nodiscard]] const NetworkShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t action_count() const { return shape_.outputs(); }

 protected:
  explicit Learner(const LearnerSettings& settings)
      : settings_(settings),
        shape_(settings.widths, settings.dueling ? Head::kDueling : Head::kPlain) {}
  Learner(const Learner&) = default;
  Learner(Learner&&) = default;
  Learner& operator=(const Learner&) = default;
  Learner& operator=(Learner&&) = default;

 private:
  LearnerSettings settings_;
  NetworkShape shape_;
};

/// Makes a learner on some backend. Fails: as that backend does.
using MakeLearner = std::function<std::unique_ptr<Learner>(const LearnerSettings&, Random)>;

/// Of this machine's processor. Fails: ConfigError, as CpuBackend's construction.
[[nodiscard]] std::unique_ptr<Learner> make_cpu_learner(const LearnerSettings& settings,
                                                        Random random);
}  // namespace drey::trainer
