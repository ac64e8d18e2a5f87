// training_state.hpp: how far a run has come, beyond what the agent and the worlds know themselves.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "trainer/agent/play.hpp"

namespace drey::trainer {
struct TrainingState {
  std::uint64_t passes_done = 0;
  std::uint64_t pass_steps = 0;   ///< environment steps of the pass under way
  RoundTotals pass;               ///< of the pass under way; all zero between two
  std::uint64_t evaluations = 0;  ///< so far
  std::uint64_t evaluations_since_best = 0;
  double best_return = 0;  ///< of them all; without meaning before the first
};

/// The mean of a sum over the pass's gradient steps; 0 when there was none.
[[nodiscard]] inline double mean_of(double sum, const RoundTotals& pass) {
  const std::uint64_t count = pass.learning.gradient_steps;
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}
}  // namespace drey::trainer
