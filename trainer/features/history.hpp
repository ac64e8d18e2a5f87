// history.hpp: the last 256 bars as columns, shared by all groups of features.
// Invariants: all columns have the same length; the first bar counts as its own predecessor, so its
// return is 0 and its true range is high - low. All logarithms of a bar are taken at once.
// Read next: indicators.hpp, bar_context.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "trainer/data/bars.hpp"
#include "trainer/features/vector_log.hpp"
#include "trainer/features/window.hpp"

namespace drey::trainer {
inline constexpr std::size_t kHistoryBars = 256;
using History256 = Window<kHistoryBars>;

/// Logarithms of the present bar's prices, each as a ratio.
struct BarLogs {
  double open = 0.0;  ///< ln(O_t / C_{t-1}), as the next two
  double high = 0.0;
  double low = 0.0;
  double shifted_range = 0.0;  ///< ln(H / L), the bar moved so that it contains C_{t-1}
  double joint_range = 0.0;    ///< ln of the highest over the lowest of it and the bar before
  double range = 0.0;          ///< ln(H / L)
  double range_before = 0.0;   ///< the same of the bar before
};

struct History {
  BarLogs logs;
  History256 open;
  History256 high;
  History256 low;
  History256 close;
  History256 volume;
  History256 log_close;
  History256 log_return;    ///< ln(C_t / C_{t-1})
  History256 log_volume;    ///< ln(V + 1)
  History256 close_change;  ///< C_t - C_{t-1}
  History256 true_range;    ///< max(H, C_{t-1}) - min(L, C_{t-1})
  History256 typical;       ///< (H + L + C) / 3

  void push(const Bar& bar, const Bar& previous) {
    open.push(bar.open);
    high.push(bar.high);
    low.push(bar.low);
    close.push(bar.close);
    volume.push(bar.volume);
    push_logs(bar, previous);
    close_change.push(bar.close - previous.close);
    true_range.push(std::max(bar.high, previous.close) - std::min(bar.low, previous.close));
    typical.push((bar.high + bar.low + bar.close) / 3.0);
  }

 private:
  void push_logs(const Bar& bar, const Bar& previous) {
    const double last = previous.close;
    const double shift = std::min(last - bar.low, 0.0) + std::max(last - bar.high, 0.0);
    const double moved_high = bar.high + shift;
    const double moved_low = shift < 0.0 ? last : bar.low + shift;
    std::array<double, 8> values = {
        bar.close,
        bar.close / last,
        bar.volume + 1.0,
        bar.open / last,
        bar.high / last,
        bar.low / last,
        moved_high / moved_low,
        std::max(previous.high, moved_high) / std::min(previous.low, moved_low)};
    take_logs(values.data(), values.size());
    log_close.push(values[0]);
    log_return.push(values[1]);
    log_volume.push(values[2]);
    logs = {values[3], values[4], values[5], values[6], values[7], values[4] - values[5],
            logs.range};
  }
};
}  // namespace drey::trainer
