// bar_context.hpp: all that a group of features may look at, and how it writes its part of a row.
// A group is a class with kFirst and kCount (its span of the row), push(context), called for every
// bar, and write(context, writer), called only for bars that get a row, after all pushes.
// Invariant: nothing here refers to a later bar.
// Read next: feature_groups.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/data/bars.hpp"
#include "trainer/features/feature_row.hpp"
#include "trainer/features/history.hpp"
#include "trainer/features/indicators.hpp"
#include "trainer/features/session_clock.hpp"
#include "trainer/features/window_statistics.hpp"

namespace drey::trainer {
struct BarContext {
  const Bar& bar;
  const Bar& previous;  ///< the bar itself when index is 0
  std::size_t index;    ///< of the bar in its series, from 0
  std::int64_t bar_length_ns;
  const History& history;
  const WindowStatistics& windows;
  const Indicators& indicators;
  const SessionPlace& place;
};
}  // namespace drey::trainer
