// transition.hpp: one step as the replay remembers it, and a batch of them as the learner needs it.
// Invariant: a transition is 16 bytes: its observations are rows of the world's table.
// Read next: learner.hpp, replay_buffer.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/environments/environment.hpp"

#include <cstdint>
#include <span>

namespace drey::trainer {
struct Transition {
  ObservationRow observation;
  ObservationRow next_observation;  ///< `steps` steps later
  float reward;                     ///< scaled; of `steps` steps, each discounted to the first
  Action action;
  bool terminated;
  std::uint8_t steps = 1;  ///< that `reward` covers; at least 1
};
static_assert(sizeof(Transition) == 16);

/// What the learner must know of a batch beside its observations. Shape: (batch,) each.
struct BatchTerms {
  std::span<const float> rewards;
  std::span<const float> discounts;  ///< gamma^steps; 0 where the transition terminated
  std::span<const float> weights;    ///< of the losses (importance sampling); empty means all 1
  std::span<const Action> actions;
};
}  // namespace drey::trainer
