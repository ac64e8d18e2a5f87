// group_transition.hpp: features 216 to 220: where the market goes from its present regime.
// Transitions are counted with a memory of 200 bars (decay 0.995 a bar); each row of counts starts
// from one third for each state, so its probabilities are defined and sum to 1.
// Read next: regime.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "trainer/features/bar_context.hpp"

namespace drey::trainer {
class TransitionGroup {
 public:
  static constexpr std::size_t kFirst = 216;
  static constexpr std::size_t kCount = 5;

  void push(const BarContext& context) {
    constexpr double kDecay = 0.995;
    const auto state = static_cast<std::size_t>(context.indicators.regime);
    // Before that the long deviation, hence the regime, means nothing.
    if (context.index > kFirstBar) {
      for (auto& row : counts_) {
        for (double& count : row) count *= kDecay;
      }
      counts_[state_][state] += 1.0;
    }
    state_ = state;
  }

  void write(const BarContext&, FeatureWriter& out) const {
    constexpr double kPrior = 1.0 / kRegimeCount;
    const auto& row = counts_[state_];
    const double total = row[0] + row[1] + row[2] + 1.0;
    std::array<double, kRegimeCount> probability{};
    for (std::size_t i = 0; i < kRegimeCount; ++i) probability[i] = (row[i] + kPrior) / total;
    std::array<double, 4> logs = {probability[0], probability[1], probability[2], 1.0};
    take_logs(logs.data(), logs.size());
    double entropy = 0.0;
    for (std::size_t i = 0; i < kRegimeCount; ++i) entropy -= probability[i] * logs[i];
    out.put(probability[state_]);
    for (const double p : probability) out.put(p);
    constexpr double kLn3 = 1.0986122886681098;
    out.put(entropy / kLn3);
  }

 private:
  static constexpr std::size_t kFirstBar = 240;
  std::array<std::array<double, kRegimeCount>, kRegimeCount> counts_{};  // [from][to]
  std::size_t state_ = static_cast<std::size_t>(Regime::kRange);
};
}  // namespace drey::trainer
