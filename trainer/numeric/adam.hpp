// adam.hpp: one pass over all parameters: clip, Adam, and the target network's soft update.
// The three are one loop because each alone would stream the same 150 KB through the cache again.
// Sources: Kingma & Ba, "Adam", 2015, Algorithm 1; Pascanu et al., "On the difficulty of training
// recurrent neural networks", 2013, Algorithm 1 (clipping); Lillicrap et al., "Continuous control
// with deep reinforcement learning", 2016, Algorithm 1 (soft update).
// Read next: kernels/adam_loops.hpp, network.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/kernels/kernels.hpp"

#include <cstddef>
#include <cstdint>

namespace drey::trainer {

struct AdamSettings {
  float learning_rate = 1e-4f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float norm_max = 10.0f;  ///< gradients longer than this are scaled down to it
};

/// A second block that follows the parameters.
struct TargetBlend {
  float* target = nullptr;  ///< null: left alone
  float part = 0;           ///< of the way it goes towards the parameters; 1 copies them
};

/// What the moments of a step are multiplied by: the bias corrections of Algorithm 1.
struct AdamFactors {
  float rate;        ///< learning rate / (1 - beta1^t)
  float root_scale;  ///< 1 / sqrt(1 - beta2^t)
};

/// The moments of one block of parameters. Threads: one at a time.
class Adam {
 public:
  /// `kernels` must outlive it.
  Adam(const AdamSettings& settings, std::size_t block_size,
       const Kernels& kernels = portable_kernels)
      : settings_(settings),
        kernels_(&kernels),
        first_moment_(block_size),
        second_moment_(block_size) {}

  /// Moves `parameters` against `gradient`, then the blend's target towards the new `parameters`.
  /// Requires: distinct blocks, each on a cache line, of the size given at construction, a multiple
  /// of 16. Returns: the gradient's norm before clipping. Cost: no heap call.
  float step(float* parameters, const float* gradient, const TargetBlend& blend);

  /// Of the step that comes next, for whoever takes it elsewhere.
  [[nodiscard]] AdamFactors next_factors() const;

  /// step() for a caller that has something to do with each part while it is in the first-level
  /// cache: begin_step(), then sweep() over parts that cover the block once. Requires of sweep():
  /// values `first` to `first` + `size`, both multiples of 16. Returns: as step().
  float begin_step(float* parameters, const float* gradient, const TargetBlend& blend);
  void sweep(std::size_t first, std::size_t size) const;

  void set_learning_rate(float learning_rate) { settings_.learning_rate = learning_rate; }

  [[nodiscard]] const AdamSettings& settings() const { return settings_; }
  [[nodiscard]] std::uint64_t step_count() const { return step_count_; }
  [[nodiscard]] AlignedArray<float>& first_moment() { return first_moment_; }
  [[nodiscard]] AlignedArray<float>& second_moment() { return second_moment_; }
  void restore_step_count(std::uint64_t step_count) { step_count_ = step_count; }

 private:
  AdamSettings settings_;
  const Kernels* kernels_;
  AlignedArray<float> first_moment_;
  AlignedArray<float> second_moment_;
  std::uint64_t step_count_ = 0;
  AdamSweep begun_ = {};
};
}  // namespace drey::trainer
