// group_returns.hpp: features 12 to 31: log returns of earlier bars, and over longer spans.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "trainer/features/bar_context.hpp"

namespace drey::trainer {
class ReturnsGroup {
 public:
  static constexpr std::size_t kFirst = 12;
  static constexpr std::size_t kLagCount = 10;
  static constexpr std::array<std::size_t, 10> kSpans = {2, 3, 5, 10, 15, 20, 30, 60, 120, 240};
  static constexpr std::size_t kCount = kLagCount + kSpans.size();

  void push(const BarContext&) {}

  void write(const BarContext& context, FeatureWriter& out) const {
    const History& history = context.history;
    for (std::size_t lag = 1; lag <= kLagCount; ++lag) out.put(history.log_return.ago(lag));
    for (const std::size_t span : kSpans)
      out.put(history.log_close.newest() - history.log_close.ago(span));
  }
};
}  // namespace drey::trainer
