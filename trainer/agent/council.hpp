// council.hpp: the action that the members of an ensemble agree on, for one observation or several.
//   mean   the largest of the members' mean values
//   vote   the action that most members would take; of several, the one of the larger mean value
// Source of the vote: Wiering, van Hasselt, "Ensemble Algorithms in Reinforcement Learning", 2008,
// section III.B (majority voting); the mean is their section III.D without the exponential.
// Invariant: one member's council is that member, bit for bit.
// Read next: ensemble.hpp, actor.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/ensemble.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/network.hpp"

#include <cstdint>
#include <span>

namespace drey::trainer {
/// Threads: one at a time. No heap call after construction.
class Council {
 public:
  /// For up to `batch_max` observations at once.
  Council(const NetworkShape& shape, Agreement agreement, std::size_t batch_max)
      : agreement_(agreement),
        activations_(shape, batch_max),
        sums_(shape.outputs() * batch_max),
        votes_(shape.outputs() * batch_max) {}

  /// actions[i] is for column i of `observations`. Requires: actions.size() <= batch_max.
  void choose(const Ensemble& ensemble, Columns<const float> observations,
              std::span<Action> actions);

 private:
  void add_member(const Learner& learner, Columns<const float> observations, std::size_t count);
  [[nodiscard]] Action decide(std::size_t index, std::size_t action_count) const;

  Agreement agreement_;
  Activations<float> activations_;
  AlignedArray<float> sums_;  ///< of the members' values. Shape: (action count, batch)
  AlignedArray<std::uint8_t> votes_;
};
}  // namespace drey::trainer
