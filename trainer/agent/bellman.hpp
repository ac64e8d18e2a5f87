// bellman.hpp: what the network is told to predict, and how wrong it is.
// Read next: learner.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/replay_buffer.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/network.hpp"

#include <span>

namespace drey::trainer {
/// Row of the largest of the first `action_count` values of a column; the first one among equals.
Action greedy_action(const float* values, std::size_t action_count);

/// targets[i] = reward + gamma * valuer[a*] with a* = argmax of chooser, both in column i, which is
/// about transition i's next observation; the reward alone where the transition terminated.
/// Double DQN: the network chooses and the target network values. DQN: the target network does
/// both. Shape: chooser, valuer (>= action_count, batch). Requires: equal sizes of batch and
/// targets. Source: van Hasselt et al., "Deep Reinforcement Learning with Double Q-learning", 2016,
/// equation 4; Mnih et al. 2015, Algorithm 1, for the other.
void bellman_targets(std::span<const Transition> batch, std::size_t action_count, float gamma,
                     Columns<const float> chooser, Columns<const float> valuer,
                     std::span<float> targets);

struct LossReport {
  double loss = 0;           ///< mean over the batch
  double value = 0;          ///< mean of the values of the actions taken
  double gradient_norm = 0;  ///< before clipping; set by Learner
};

/// Huber loss (threshold 1) between values[action] and the targets, and its mean's gradient by the
/// values. `deltas` is zero but at the actions taken. Shape: values, deltas (stride, batch).
/// Requires: deltas.stride == values.stride. Source: Huber, "Robust Estimation of a Location
/// Parameter", 1964; with threshold 1 it is the error clipping of Mnih et al. 2015, Methods.
LossReport huber_loss(std::span<const Transition> batch, Columns<const float> values,
                      std::span<const float> targets, Columns<float> deltas);
}  // namespace drey::trainer
