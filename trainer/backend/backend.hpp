// backend.hpp: where a learner's numbers live and who works on them, as a concept: the CPU's is
// cpu_backend.hpp, a device's answers the same calls. The learner knows nothing else of either.
// A step is: gather() or inputs() and inputs_changed(), forward(), compute_loss(), backward(),
// update(). Blocks that the host may see (weights, target, gradient, moments) are host arrays; a
// device keeps its own, copies to the host when it is asked, and back before the next call of the
// step once it was asked for a block to change. On the CPU both are one array and nothing is copied.
// Invariants: after construction no call takes memory from the heap; equal calls give equal bits.
// Read next: cpu_backend.hpp, agent/basic_learner.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

#include "trainer/agent/bellman.hpp"
#include "trainer/agent/transition.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/adam.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/isa.hpp"
#include "trainer/numeric/network.hpp"

namespace drey::trainer {
enum class Precision : std::uint8_t {
  kFloat,  ///< f32 throughout
  kBrain   ///< bf16 operands, f32 sums, weights and moments
};

/// What a backend is made for.
struct BackendPlan {
  NetworkShape shape;
  std::size_t batch_size;
  Precision precision;
  std::optional<Isa> isa;  ///< of the CPU's kernels; none: chosen_isa()
  int device;              ///< number of the device, of a backend on one
  AdamSettings adam;
};

/// What the update of a step does to the target network.
struct TargetStep {
  bool is_due;
  float part;  ///< of the way to the network; 1 copies it
};

template <class B>
concept Backend = std::constructible_from<B, const BackendPlan&> &&
    requires(B backend, const B constant, std::span<const Transition> batch,
             const ObservationTable& table, const BatchTerms& terms, Loss loss,
             const TargetStep& step, const float* observation, Columns<const float> observations,
             std::size_t count, Activations<float>& activations) {
  // Blocks, current, and free to be changed until the next other call.
  { backend.network() } -> std::same_as<AlignedArray<float>&>;
  { constant.network() } -> std::same_as<const AlignedArray<float>&>;
  { backend.target() } -> std::same_as<AlignedArray<float>&>;
  { backend.gradient() } -> std::same_as<AlignedArray<float>&>;
  { backend.adam() } -> std::same_as<Adam&>;
  // What the step itself asks of Adam, which must not bring the moments to the host.
  { constant.step_count() } -> std::same_as<std::uint64_t>;
  { backend.set_learning_rate(float{}) } -> std::same_as<void>;
  // The batch: rows of a table, or columns that the host fills. Shape: (inputs, 2 batch).
  { backend.gather(batch, table) } -> std::same_as<void>;
  { backend.inputs() } -> std::same_as<Columns<float>>;
  { backend.inputs_changed() } -> std::same_as<void>;
  // Network on the observations, and on the next ones where `bool`; target on the next ones.
  { backend.forward(bool{}) } -> std::same_as<void>;
  { backend.compute_loss(loss, terms) } -> std::same_as<LossReport>;
  { constant.errors() } -> std::same_as<std::span<const float>>;
  { backend.backward() } -> std::same_as<void>;
  // Clips the gradient and moves weights and target. Returns: the norm before clipping.
  { backend.update(step) } -> std::same_as<float>;
  // The network's outputs on one observation; valid until the next call.
  { backend.values_of(observation) } -> std::same_as<std::span<const float>>;
  // The same of `count` columns, in float whatever the precision, left in activations.outputs().
  { constant.values_of_many(observations, count, activations) } -> std::same_as<void>;
  // Bytes of what a batch needs beside the blocks.
  { constant.batch_bytes() } -> std::same_as<std::size_t>;
};

/// A backend that has forward(), compute_loss(), backward() and update() in one, for less.
template <class B>
concept WholeStepBackend = Backend<B> &&
    requires(B backend, const BatchTerms& terms, Loss loss, const TargetStep& step) {
  { backend.whole_step(bool{}, loss, terms, step) } -> std::same_as<LossReport>;
};
}  // namespace drey::trainer
