// synthetic_bars.hpp: market bars from a seed, for tests, benchmarks and `--data
// synthetic:ROWS:SEED`. The log price follows a Markov chain of three regimes (trend up, trend
// down, range) with stochastic volatility and rare jumps; volume is U-shaped over the session;
// sessions leave gaps.
// Invariants: BarSeries' own; the first n bars do not depend on the number of rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/data/bars.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
struct SyntheticOptions {
  std::size_t row_count = 0;
  std::uint64_t seed = 0;
  std::int64_t bar_length_ns = kMinuteNs;  ///< at most one session
  double tick = 0.01;                      ///< prices are multiples of it; 0 leaves them unrounded
};

/// Sessions are Monday to Friday 14:30 to 21:00 UTC from 2015-01-05 on; bars of a day or more are
/// stamped at midnight, Monday to Friday. Source name: "synthetic:ROWS:SEED".
/// Cost: linear; one allocation.
[[nodiscard]] BarSeries synthetic_bars(const SyntheticOptions& options);

/// One-minute bars with a tick of 0.01.
[[nodiscard]] BarSeries synthetic_bars(std::size_t row_count, std::uint64_t seed);
}  // namespace drey::trainer
