// history.hpp: the last 256 bars as columns, shared by all groups of features.
// Invariants: all columns have the same length; the first bar counts as its own predecessor, so its
// return is 0 and its true range is high - low.
// Read next: indicators.hpp, bar_context.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "trainer/data/bars.hpp"
#include "trainer/features/window.hpp"

namespace drey::trainer {
inline constexpr std::size_t kHistoryBars = 256;
using History256 = Window<kHistoryBars>;

struct History {
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
    log_close.push(std::log(bar.close));
    log_return.push(std::log(bar.close / previous.close));
    log_volume.push(std::log1p(bar.volume));
    close_change.push(bar.close - previous.close);
    true_range.push(std::max(bar.high, previous.close) - std::min(bar.low, previous.close));
    typical.push((bar.high + bar.low + bar.close) / 3.0);
  }
};
}  // namespace drey::trainer
