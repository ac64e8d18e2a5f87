// cpu_backend.hpp: the backend of one thread of this machine, by the kernels of its instruction
// set, in float or in bfloat16.
// Invariants: those of backend.hpp; kBrain's rounded weights are those of the float weights.
// Read next: cpu_backend.cpp, numeric/kernel_network.hpp, numeric/brain_network.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "trainer/backend/backend.hpp"

namespace drey::trainer {
struct Kernels;
struct BrainParts;

/// Movable. Threads: one at a time.
class CpuBackend {
 public:
  /// Fails: ConfigError when DREY_ISA cannot be followed, or for kBrain without its instructions.
  explicit CpuBackend(const BackendPlan& plan);
  ~CpuBackend();
  CpuBackend(CpuBackend&&) noexcept;
  CpuBackend& operator=(CpuBackend&&) noexcept;

  [[nodiscard]] AlignedArray<float>& network();
  [[nodiscard]] const AlignedArray<float>& network() const { return network_; }
  [[nodiscard]] AlignedArray<float>& target();
  [[nodiscard]] AlignedArray<float>& gradient() { return gradient_; }
  [[nodiscard]] Adam& adam() { return adam_; }
  [[nodiscard]] std::uint64_t step_count() const { return adam_.step_count(); }
  void set_learning_rate(float rate) { adam_.set_learning_rate(rate); }

  /// kBrain: what `batch` names must stay until forward() is done, which reads the rows.
  void gather(std::span<const Transition> batch, const ObservationTable& table);
  [[nodiscard]] Columns<float> inputs() { return {inputs_.data(), input_stride_}; }
  void inputs_changed();

  void forward(bool is_double);
  LossReport compute_loss(Loss loss, const BatchTerms& terms);
  [[nodiscard]] std::span<const float> errors() const { return errors_.span(); }
  void backward();
  float update(const TargetStep& step);
  [[nodiscard]] std::span<const float> values_of(const float* observation);

  void values_of_many(Columns<const float> observations, std::size_t count,
                      Activations<float>& activations) const;

  /// Inputs, activations, their gradients, targets; without the rounded copies of kBrain.
  [[nodiscard]] std::size_t batch_bytes() const {
    return (inputs_.size() + targets_.size() + errors_.size()) * sizeof(float) +
           activations_.bytes() + beyond_.bytes() + deltas_.bytes() + single_.bytes();
  }

  /// The instruction set of the products.
  [[nodiscard]] Isa isa() const { return isa_; }

 private:
  void refresh_rounded();
  void round_inputs(bool are_next);
  [[nodiscard]] Columns<float> outputs();
  [[nodiscard]] Columns<float> target_outputs();
  [[nodiscard]] Columns<float> output_deltas();

  NetworkShape shape_;
  std::size_t batch_;
  Isa isa_;
  const Kernels* kernels_;
  std::size_t input_stride_;  ///< floats from one gathered observation to the next
  AlignedArray<float> network_;
  AlignedArray<float> target_;
  AlignedArray<float> gradient_;
  Adam adam_;
  AlignedArray<float> inputs_;      ///< (stride, 2 batch): observations, then next observations
  bool is_double_ = false;          ///< what the last forward() was asked for
  Activations<float> activations_;  ///< of the network on inputs_; kFloat only, as the next two
  Activations<float> beyond_;       ///< of the target network on the next observations
  Activations<float> deltas_;
  Activations<float> single_;  ///< of the network on the one observation to act on
  AlignedArray<float> transposed_;
  AlignedArray<float> targets_;
  AlignedArray<float> errors_;
  std::unique_ptr<BrainParts> brain_;  ///< null for kFloat
};
static_assert(Backend<CpuBackend>);
}  // namespace drey::trainer
