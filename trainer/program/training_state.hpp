// training_state.hpp: how far a run has come, beyond what the agent and the world know themselves.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "trainer/agent/play.hpp"

namespace drey::trainer {
/// Sums over the steps of one pass.
struct PassTotals {
  double reward = 0;
  double loss = 0;
  double value = 0;
  std::uint64_t learned = 0;  ///< gradient steps

  void add(const PlayReport& step) {
    reward += step.result.reward;
    if (!step.learned) return;
    loss += step.loss.loss;
    value += step.loss.value;
    ++learned;
  }
  [[nodiscard]] double loss_mean() const { return mean(loss); }
  [[nodiscard]] double value_mean() const { return mean(value); }

 private:
  [[nodiscard]] double mean(double sum) const {
    return learned == 0 ? 0.0 : sum / static_cast<double>(learned);
  }
};

struct TrainingState {
  std::uint64_t passes_done = 0;
  PassTotals pass;  ///< of the pass under way; all zero between two
};
}  // namespace drey::trainer
