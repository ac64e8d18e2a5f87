// run_monitor.hpp: what a run looked like: rewards, losses, and what the agent did lately.
// Invariant: nothing here decides anything, so either form leaves the weights as they are.
// Read next: running_statistics.hpp, action_history.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/action_history.hpp"
#include "trainer/agent/kept_samples.hpp"
#include "trainer/agent/memory_forms.hpp"
#include "trainer/agent/running_statistics.hpp"

#include <cstdint>
#include <variant>

namespace drey::trainer {
static_assert(SeriesAccount<RunningStatistics>);

/// Count, mean and deviation, in whichever form it is kept.
struct SeriesSummary {
  std::uint64_t count = 0;
  std::uint64_t refused_count = 0;
  double mean = 0;
  double deviation = 0;
};

/// Threads: one at a time.
class RunMonitor {
 public:
  /// Requires: window <= kActionWindowMax.
  RunMonitor(MonitorForm form, HistoryForm history, std::size_t window)
      : actions_(std::in_place_type<RingHistory>, window),
        rewards_(series(form)),
        losses_(series(form)) {
    if (history == HistoryForm::kErase) actions_.emplace<ErasingHistory>(window);
  }

  void add_step(Action action, double reward) {
    std::visit([&](auto& actions) { actions.push(action); }, actions_);
    std::visit([&](auto& rewards) { rewards.add(reward); }, rewards_);
  }
  void add_loss(double loss) {
    std::visit([&](auto& losses) { losses.add(loss); }, losses_);
  }

  [[nodiscard]] SeriesSummary rewards() const { return summary(rewards_); }
  [[nodiscard]] SeriesSummary losses() const { return summary(losses_); }
  /// Of the last actions. Requires: action_count >= 1.
  [[nodiscard]] double entropy(std::size_t action_count) const {
    return std::visit([&](const auto& actions) { return action_entropy(actions, action_count); },
                      actions_);
  }
  [[nodiscard]] std::size_t recent_count(Action action) const {
    return std::visit([&](const auto& actions) { return actions.count_of(action); }, actions_);
  }
  [[nodiscard]] std::size_t bytes() const {
    const auto bytes_of = [](const auto& part) { return part.bytes(); };
    return std::visit(bytes_of, actions_) + std::visit(bytes_of, rewards_) +
           std::visit(bytes_of, losses_);
  }

 private:
  using Series = std::variant<RunningStatistics, KeptSamples>;

  static Series series(MonitorForm form) {
    if (form == MonitorForm::kWelford) return RunningStatistics();
    return KeptSamples();
  }
  static SeriesSummary summary(const Series& series) {
    return std::visit(
        [](const auto& account) {
          return SeriesSummary{account.count(), account.refused_count(), account.mean(),
                               std::sqrt(account.variance())};
        },
        series);
  }

  std::variant<RingHistory, ErasingHistory> actions_;
  Series rewards_;
  Series losses_;
};
}  // namespace drey::trainer
