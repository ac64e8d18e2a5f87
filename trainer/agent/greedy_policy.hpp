// greedy_policy.hpp: whatever chooses an action for an observation and does not explore.
// Read next: learner.hpp, council.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/environments/environment.hpp"

namespace drey::trainer {
/// Threads: one at a time.
class GreedyPolicy {
 public:
  /// Requires: `observation` on a cache line. Cost: no heap call.
  [[nodiscard]] virtual Action best_action(const float* observation) = 0;

 protected:
  ~GreedyPolicy() = default;
};
}  // namespace drey::trainer
