// action_history.hpp: what the agent did in its last steps: how often each action, and how mixed.
// A policy that has collapsed to one action shows here first.
// Invariants: size() <= window(); the counts are those of the actions kept; a ring never calls the
// heap, whatever the window. Read next: run_monitor.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/environments/environment.hpp"

#include <drey/base/assert.hpp>
#include <drey/pools/ring_buffer.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <vector>

namespace drey::trainer {
inline constexpr std::size_t kActionWindowMax = 1000;  ///< actions
inline constexpr std::size_t kActionsMax = 256;        ///< values of an Action

/// The last actions, oldest first.
template <class History>
concept ActionWindow = requires(History history, const History constant, Action action) {
  history.push(action);
  { constant.size() } -> std::same_as<std::size_t>;
  { constant[0] } -> std::same_as<Action>;
  { constant.count_of(action) } -> std::same_as<std::size_t>;
  { constant.bytes() } -> std::same_as<std::size_t>;
};

/// In a ring; counted as they come and go. Threads: one at a time.
class RingHistory {
 public:
  /// A window of 0 keeps nothing. Requires: window <= kActionWindowMax.
  explicit RingHistory(std::size_t window) : window_(window) {
    DREY_ASSERT(window <= kActionWindowMax);
  }

  void push(Action action) {
    if (window_ == 0) return;
    if (ring_.size() == window_) {
      --counts_[ring_.oldest()];
      ring_.drop_oldest();
    }
    ring_.push(action);
    ++counts_[action];
  }

  [[nodiscard]] std::size_t window() const { return window_; }
  [[nodiscard]] std::size_t size() const { return ring_.size(); }
  [[nodiscard]] Action operator[](std::size_t index) const { return ring_[index]; }
  [[nodiscard]] std::size_t count_of(Action action) const { return counts_[action]; }
  [[nodiscard]] std::size_t bytes() const { return sizeof(*this); }

 private:
  std::size_t window_;
  std::array<std::uint16_t, kActionsMax> counts_{};
  RingBuffer<Action, kActionWindowMax> ring_;
};
static_assert(ActionWindow<RingHistory>);
static_assert(kActionWindowMax <= UINT16_MAX);

/// The wasteful form: the vector grows by one and loses its first, so that all others move; counting
/// looks at each. For the race of the seven fixes.
class ErasingHistory {
 public:
  explicit ErasingHistory(std::size_t window) : window_(window) {}

  void push(Action action) {
    actions_.push_back(action);
    if (actions_.size() > window_) actions_.erase(actions_.begin());
  }

  [[nodiscard]] std::size_t window() const { return window_; }
  [[nodiscard]] std::size_t size() const { return actions_.size(); }
  [[nodiscard]] Action operator[](std::size_t index) const { return actions_[index]; }
  [[nodiscard]] std::size_t count_of(Action action) const {
    return static_cast<std::size_t>(std::count(actions_.begin(), actions_.end(), action));
  }
  [[nodiscard]] std::size_t bytes() const { return sizeof(*this) + actions_.capacity(); }

 private:
  std::size_t window_;
  std::vector<Action> actions_;
};
static_assert(ActionWindow<ErasingHistory>);

/// 0 when all were the same action, 1 when each of `action_count` was as frequent; 0 of none.
/// Source: Shannon, "A Mathematical Theory of Communication", 1948, section 6, over its maximum.
template <ActionWindow History>
double action_entropy(const History& history, std::size_t action_count) {
  if (history.size() == 0 || action_count < 2) return 0.0;
  double entropy = 0;
  for (std::size_t action = 0; action < action_count; ++action) {
    const double share = static_cast<double>(history.count_of(static_cast<Action>(action))) /
                         static_cast<double>(history.size());
    if (share > 0) entropy -= share * std::log(share);
  }
  return entropy / std::log(static_cast<double>(action_count));
}
}  // namespace drey::trainer
