// evaluation.hpp: what a policy earns on bars it did not learn from, against two that need no
// agent.
// Read next: environments/trading.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/agent/greedy_policy.hpp"
#include "trainer/environments/trading.hpp"

namespace drey::trainer {
/// One pass over some rows. Fees are paid in all of them.
struct Performance {
  double net_return = 0;     ///< exp(sum of rewards) - 1: 0.1 is ten percent gained
  double sharpe = 0;         ///< mean / deviation of the rewards, by the year; 0 if they are equal
  double drawdown_max = 0;   ///< largest loss from a peak: 0.2 is twenty percent lost
  std::uint64_t trades = 0;  ///< bars before which the position changed
  std::uint64_t steps = 0;   ///< bars held
};

struct Evaluation {
  Performance agent;  ///< always the action of the largest value
  Performance buy_and_hold;
  Performance flat;
};

/// Plays the three policies over all of `world`. Units: bars_per_year scales the Sharpe ratios.
Evaluation evaluate(GreedyPolicy& policy, Trading& world, double bars_per_year);

/// What one has gained after each bar: 0.1 is ten percent. Shape: (bars held + 1,), the first is 0.
struct EquityCurves {
  std::vector<double> agent;
  std::vector<double> buy_and_hold;
};

/// Plays both policies over all of `world`, as evaluate() does. Cost: heap calls.
[[nodiscard]] EquityCurves equity_curves(GreedyPolicy& policy, Trading& world);
}  // namespace drey::trainer
