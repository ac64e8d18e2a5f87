// evaluation.cpp: see evaluation.hpp. No heap call.
// SPDX-License-Identifier: MIT
#include "trainer/agent/evaluation.hpp"

#include <algorithm>
#include <cmath>

namespace drey::trainer {
namespace {
/// Sums over the rewards of one pass.
class Ledger {
 public:
  void add(double reward, bool traded) {
    ++steps_;
    trades_ += traded ? 1 : 0;
    total_ += reward;
    peak_ = std::max(peak_, total_);
    drawdown_ = std::max(drawdown_, peak_ - total_);
    // Welford's update: differences of large sums would lose small deviations.
    const double difference = reward - mean_;
    mean_ += difference / static_cast<double>(steps_);
    squares_ += difference * (reward - mean_);
  }

  [[nodiscard]] Performance result(double bars_per_year) const {
    Performance performance;
    performance.net_return = std::expm1(total_);
    performance.drawdown_max = -std::expm1(-drawdown_);
    performance.trades = trades_;
    performance.steps = steps_;
    const double variance = steps_ > 1 ? squares_ / static_cast<double>(steps_ - 1) : 0.0;
    if (variance > 0) {
      performance.sharpe = mean_ / std::sqrt(variance) * std::sqrt(bars_per_year);
    }
    return performance;
  }

 private:
  std::uint64_t steps_ = 0;
  std::uint64_t trades_ = 0;
  double total_ = 0;  // log return so far
  double peak_ = 0;
  double drawdown_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

template <class Policy>
Performance play_pass(Trading& world, double bars_per_year, Policy policy) {
  Ledger ledger;
  ObservationRow observation = world.reset();
  for (bool ended = false; !ended;) {
    const int position_before = world.position();
    const StepResult result = world.step(policy(observation));
    ledger.add(result.reward, world.position() != position_before);
    observation = result.observation;
    ended = result.ended();
  }
  return ledger.result(bars_per_year);
}
}  // namespace

Evaluation evaluate(GreedyPolicy& policy, Trading& world, double bars_per_year) {
  Evaluation evaluation;
  const ObservationTable table = world.observations();
  evaluation.agent = play_pass(
      world, bars_per_year, [&](ObservationRow row) { return policy.best_action(table.row(row)); });
  evaluation.buy_and_hold = play_pass(world, bars_per_year, [](ObservationRow) { return kBuy; });
  evaluation.flat = play_pass(world, bars_per_year, [](ObservationRow) { return kHold; });
  return evaluation;
}
}  // namespace drey::trainer
