// group_bar.hpp: features 0 to 11: the shape of the present bar against the one before.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
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
    const double last_close = context.previous.close;
    // Relative to the price, so that the unit of the price does not matter.
    const double range = bar.high - bar.low + 1e-12 * bar.close;
    out.put(std::log(bar.open / last_close));
    out.put(std::log(bar.high / last_close));
    out.put(std::log(bar.low / last_close));
    out.put(context.history.log_return.newest());
    out.put(std::log((bar.volume + 1.0) / (context.previous.volume + 1.0)));
    out.put((bar.close - bar.open) / range);
    out.put((bar.high - std::max(bar.open, bar.close)) / range);
    out.put((std::min(bar.open, bar.close) - bar.low) / range);
    out.put((bar.high - bar.low) / bar.close);
    out.put(((bar.close - bar.low) - (bar.high - bar.close)) / range);
    // log1p(dt / bar_length - 1): 0 without a gap, negative for a bar that came early.
    const double step_ns = static_cast<double>(bar.timestamp_ns - context.previous.timestamp_ns);
    out.put(std::log(step_ns / static_cast<double>(context.bar_length_ns)));
    out.put(std::log(context.history.typical.ago(0) / context.history.typical.ago(1)));
  }
};
}  // namespace drey::trainer
