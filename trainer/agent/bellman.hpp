// bellman.hpp: what the network is told to predict, and how wrong it is.
// Read next: learner.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/transition.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/network.hpp"

#include <cstdint>
#include <span>

namespace drey::trainer {
enum class Loss : std::uint8_t {
  kHuber,  ///< 0.5 e^2 up to |e| = 1, then |e| - 0.5
  kMse     ///< e^2
};

/// Row of the largest of the first `action_count` values of a column; the first one among equals.
Action greedy_action(const float* values, std::size_t action_count);

/// targets[i] = reward + discount * valuer[a*] with a* = argmax of chooser, both in column i, which
/// is about transition i's next observation. The discount is 0 where the transition terminated.
/// Double DQN: the network chooses and the target network values. DQN: the target network does
/// both. Shape: chooser, valuer (>= action_count, batch). Requires: equal sizes of terms and
/// targets. Source: van Hasselt et al., "Deep Reinforcement Learning with Double Q-learning", 2016,
/// equation 4; Mnih et al. 2015, Algorithm 1, for the other.
void bellman_targets(const BatchTerms& terms, std::size_t action_count,
                     Columns<const float> chooser, Columns<const float> valuer,
                     std::span<float> targets);

struct LossReport {
  double loss = 0;           ///< mean over the batch, each with its weight
  double value = 0;          ///< mean of the values of the actions taken
  double gradient_norm = 0;  ///< before clipping; set by Learner
};

/// Loss between values[action] and the targets, each times its weight, and its mean's gradient by
/// the values. `deltas` is zero but at the actions taken; errors[i] = values[action] - targets[i].
/// Shape: values, deltas (stride, batch); errors (batch,).
/// Requires: deltas.stride == values.stride. Source: Huber, "Robust Estimation of a Location
/// Parameter", 1964; with threshold 1 it is the error clipping of Mnih et al. 2015, Methods. The
/// weights are those of Schaul et al., "Prioritized Experience Replay", 2016, section 3.4.
LossReport compute_loss(Loss loss, const BatchTerms& terms, Columns<const float> values,
                        std::span<const float> targets, Columns<float> deltas,
                        std::span<float> errors);
}  // namespace drey::trainer
