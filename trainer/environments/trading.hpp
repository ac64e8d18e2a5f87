// trading.hpp: hold a position in one instrument from bar to bar.
// Before each bar the agent chooses sell, hold or buy and so has the position -1, 0 or +1 during
// it:
//   reward = position * log(next close / this close) - fee * |position - position before|
// Invariants: causal (the observation is the feature row of the bar just closed, the return is the
// next bar's); nothing the agent does moves the market; a pass ends when there is no next bar, by
// truncation, since the market goes on.
// Read next: market.hpp, agent/play.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include <drey/base/assert.hpp>

#include "trainer/environments/environment.hpp"

namespace drey::trainer {
inline constexpr Action kSell = 0;
inline constexpr Action kHold = 1;
inline constexpr Action kBuy = 2;

/// Rows [first, end) of a market.
struct RowRange {
  std::size_t first;
  std::size_t end;

  [[nodiscard]] std::size_t size() const { return end - first; }
  bool operator==(const RowRange&) const = default;
};

/// Threads: one at a time.
class Trading {
 public:
  static constexpr std::size_t kActionCount = 3;
  static constexpr std::size_t kStateSize = 2;  ///< row, position

  /// `next_returns[row]` is the log return from that row's bar to the next one.
  /// Requires: rows.size() >= 2; rows within both arrays, which outlive this.
  /// Units: fee is a fraction of the traded value per unit of position.
  Trading(const ObservationTable& table, std::span<const double> next_returns, RowRange rows,
          double fee)
      : table_(table), next_returns_(next_returns), rows_(rows), fee_(fee) {
    DREY_ASSERT(rows.size() >= 2 && rows.end <= table.rows && rows.end <= next_returns.size());
  }

  /// Back to the first row, without a position. Nothing here is random.
  ObservationRow reset(std::uint64_t /*seed*/ = 0) {
    row_ = rows_.first;
    position_ = 0;
    return static_cast<ObservationRow>(row_);
  }

  /// Requires: action < 3; the pass has not ended.
  StepResult step(Action action) {
    DREY_ASSERT(action < kActionCount && row_ + 1 < rows_.end);
    const int wanted = static_cast<int>(action) - static_cast<int>(kHold);
    const double paid = fee_ * std::abs(wanted - position_);
    const double reward = wanted * next_returns_[row_] - paid;
    position_ = wanted;
    ++row_;
    return {static_cast<ObservationRow>(row_), reward, false, row_ + 1 == rows_.end};
  }

  [[nodiscard]] ObservationTable observations() const { return table_; }
  [[nodiscard]] RowRange rows() const { return rows_; }
  [[nodiscard]] std::size_t steps_per_pass() const { return rows_.size() - 1; }
  [[nodiscard]] std::size_t row() const { return row_; }
  [[nodiscard]] int position() const { return position_; }  ///< -1, 0 or +1

  [[nodiscard]] std::array<double, kStateSize> state() const {
    return {static_cast<double>(row_), static_cast<double>(position_)};
  }
  /// A row with a next one within rows(), and a position from -1 to 1.
  bool restore(const std::array<double, kStateSize>& state) {
    const auto [row, position] = state;
    const bool is_row = row >= static_cast<double>(rows_.first) &&
                        row + 1 < static_cast<double>(rows_.end) && std::floor(row) == row;
    if (!is_row || (position != -1 && position != 0 && position != 1)) return false;
    row_ = static_cast<std::size_t>(row);
    position_ = static_cast<int>(position);
    return true;
  }

 private:
  ObservationTable table_;
  std::span<const double> next_returns_;
  RowRange rows_;
  double fee_;
  std::size_t row_ = 0;
  int position_ = 0;
};
static_assert(ResumableEnvironment<Trading>);
}  // namespace drey::trainer
