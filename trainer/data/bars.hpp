// bars.hpp: market bars in memory, whatever file they came from.
// Invariants of a series that a reader returned: timestamps strictly increase; every price is
// finite and > 0; low <= open, close <= high; volume is finite and >= 0. Read next: read_bars.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace drey::trainer {
/// One bar. Prices in the instrument's currency, volume in its units; time is when the bar opened.
struct Bar {
  std::int64_t timestamp_ns;  ///< nanoseconds since 1970-01-01 UTC
  double open;
  double high;
  double low;
  double close;
  double volume;

  bool operator==(const Bar&) const = default;
};

struct BarSeries {
  std::string source;           ///< file name as the user gave it, for messages
  std::vector<Bar> bars;        ///< oldest first
  std::string instrument = {};  ///< its name, where the file tells one and only one
};

/// What every reader is told.
struct ReadOptions {
  /// Rows of this instrument only (DBN: its number will do as well); empty takes all rows, which
  /// must then be of one instrument at a time.
  std::string symbol = {};
};
}  // namespace drey::trainer
