// bar_context.hpp: all that a group of features may look at, and how it writes its part of a row.
// A group is a class with kFirst and kCount (its span of the row), push(context), called for every
// bar, and write(context, writer), called only for bars that get a row, after all pushes.
// Invariant: nothing here refers to a later bar.
// Read next: feature_groups.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <drey/base/assert.hpp>

#include "trainer/data/bars.hpp"
#include "trainer/features/history.hpp"
#include "trainer/features/indicators.hpp"
#include "trainer/features/session_clock.hpp"

namespace drey::trainer {
struct BarContext {
  const Bar& bar;
  const Bar& previous;  ///< the bar itself when index is 0
  std::size_t index;    ///< of the bar in its series, from 0
  std::int64_t bar_length_ns;
  const History& history;
  const Indicators& indicators;
  const SessionPlace& place;
};

/// Fills a span of a row from left to right.
class FeatureWriter {
 public:
  explicit FeatureWriter(float* first) : next_(first) {}

  /// Requires: a finite value. Held within what a float can hold.
  void put(double value) {
    DREY_ASSERT(std::isfinite(value));
    *next_++ = static_cast<float>(std::clamp(value, -1e30, 1e30));
  }
  [[nodiscard]] const float* next() const { return next_; }

 private:
  float* next_;
};
}  // namespace drey::trainer
