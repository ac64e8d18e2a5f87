// group_bar.hpp: features 0 to 11: the shape of the present bar against the one before.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

#include "trainer/features/bar_context.hpp"

namespace drey::trainer {
class BarGroup {
 public:
  static constexpr std::size_t kFirst = 0;
  static constexpr std::size_t kCount = 12;

  void push(const BarContext&) {}

  void write(const BarContext& context, FeatureWriter& out) const {
    const Bar& bar = context.bar;
    // Relative to the price, so that the unit of the price does not matter.
    const double share = 1.0 / (bar.high - bar.low + 1e-12 * bar.close);
    const History& history = context.history;
    out.put(history.logs.open);
    out.put(history.logs.high);
    out.put(history.logs.low);
    out.put(history.log_return.newest());
    out.put(history.log_volume.ago(0) - history.log_volume.ago(1));
    out.put((bar.close - bar.open) * share);
    out.put((bar.high - std::max(bar.open, bar.close)) * share);
    out.put((std::min(bar.open, bar.close) - bar.low) * share);
    out.put((bar.high - bar.low) / bar.close);
    out.put(((bar.close - bar.low) - (bar.high - bar.close)) * share);
    // log1p(dt / bar_length - 1): 0 without a gap, negative for a bar that came early.
    const double step_ns = static_cast<double>(bar.timestamp_ns - context.previous.timestamp_ns);
    out.put_log(step_ns / static_cast<double>(context.bar_length_ns));
    out.put_log(history.typical.ago(0) / history.typical.ago(1));
  }
};
}  // namespace drey::trainer
