// prioritised_sampler.hpp: draws more often what the network was more wrong about.
//   priority of a slot p = (|error| + 1e-6)^alpha;  probability p / sum;
//   weight (size * probability)^-beta, divided by the largest of the batch.
// Invariants: a slot that was filled has a priority > 0, so each can be drawn; new transitions get
// the largest priority so far; what is not a number counts as the largest, and none is beyond
// kErrorMax. Source: Schaul et al., "Prioritized Experience Replay", 2016, section 3.3, algorithm 1.
// Read next: sum_tree.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/sum_tree.hpp"
#include "trainer/numeric/random.hpp"

#include <span>

namespace drey::trainer {
/// Threads: one at a time. No heap call after construction.
class PrioritisedSampler {
 public:
  static constexpr double kErrorMin = 1e-6;  ///< added to every error
  static constexpr double kErrorMax = 1e6;

  /// For a store of `capacity` slots. Requires: 0 <= alpha <= 1.
  PrioritisedSampler(std::size_t capacity, double alpha) : tree_(capacity), alpha_(alpha) {}

  /// A transition was stored in `slot`. Cost: log2(capacity).
  void stored(std::size_t slot) { tree_.set(slot, priority_max_); }

  /// Draws slots with replacement, one from each of slots.size() equal parts of the sum, and their
  /// weights. Requires: one slot was stored at least; `size` were.
  void sample(Random& random, double beta, std::size_t size, std::span<std::uint32_t> slots,
              std::span<float> weights) const {
    const double part = tree_.total() / static_cast<double>(slots.size());
    double weight_max = 0;
    for (std::size_t index = 0; index < slots.size(); ++index) {
      slots[index] = tree_.find((static_cast<double>(index) + random.unit_double()) * part);
      weight_max = std::max(weight_max, weight_of(slots[index], beta, size));
    }
    for (std::size_t index = 0; index < slots.size(); ++index) {
      weights[index] = static_cast<float>(weight_of(slots[index], beta, size) / weight_max);
    }
  }

  /// What the network was wrong by about the transitions in `slots`; of a slot that is there twice
  /// the last error counts.
  void update(std::span<const std::uint32_t> slots, std::span<const float> errors) {
    DREY_ASSERT(slots.size() == errors.size());
    for (std::size_t index = 0; index < slots.size(); ++index) {
      const double priority = priority_of(errors[index]);
      priority_max_ = std::max(priority_max_, priority);
      tree_.set(slots[index], priority);
    }
  }

  [[nodiscard]] const SumTree& tree() const { return tree_; }
  [[nodiscard]] double priority_max() const { return priority_max_; }

  /// Takes over leaves and priority_max() of a sampler of the same capacity.
  /// Requires: finite and greater than 0, all of them.
  void restore(std::span<const double> priorities, double priority_max) {
    for (std::size_t slot = 0; slot < priorities.size(); ++slot) tree_.set(slot, priorities[slot]);
    priority_max_ = priority_max;
  }

 private:
  [[nodiscard]] double priority_of(float error) const {
    const double size = std::fabs(static_cast<double>(error));
    const double bounded = size <= kErrorMax ? size : kErrorMax;  // NaN is not below anything
    return std::pow(bounded + kErrorMin, alpha_);
  }

  [[nodiscard]] double weight_of(std::uint32_t slot, double beta, std::size_t size) const {
    return std::pow(static_cast<double>(size) * tree_.at(slot) / tree_.total(), -beta);
  }

  SumTree tree_;
  double alpha_;
  double priority_max_ = 1;
};
}  // namespace drey::trainer
