// features.hpp: 225 causal features of market bars, streaming or for a whole series.
// Invariants: the row of bar t depends on bars 0 to t only, bit by bit; every value is finite for
// every series that keeps BarSeries' promises; both forms below give the same bits.
// Read next: feature_names.hpp, feature_groups.hpp, normaliser.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "trainer/data/bars.hpp"
#include "trainer/features/feature_matrix.hpp"

namespace drey::trainer {
/// Bars before the first row. By then the start of the slowest mean, EMA(200), weighs 0.6 %, and
/// every window (241 bars at most) is full.
inline constexpr std::size_t kWarmupBars = 512;

/// Features bar by bar, for live use. Fixed state of about 300 KB, allocated once; push() and row()
/// call no allocator. The length of a bar is taken as the median step of the first kWarmupBars
/// bars, which are held back until it is known. Threads: one at a time.
class FeatureStream {
 public:
  FeatureStream();
  ~FeatureStream();
  FeatureStream(FeatureStream&&) noexcept;
  FeatureStream& operator=(FeatureStream&&) noexcept;

  /// Takes the next bar; its timestamp must be later than the last.
  /// Returns: true when row() is that bar's, false for the first kWarmupBars bars.
  bool push(const Bar& bar);

  /// The row of the last bar pushed. Requires: push() returned true.
  [[nodiscard]] std::span<const float, kFeatureDim> row() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Shape: (bars - kWarmupBars, 225); row 0 is bar kWarmupBars.
/// Fails: DataError when there are not more than kWarmupBars bars, naming needed and found.
/// Cost: linear; allocates the matrix and one FeatureStream.
[[nodiscard]] FeatureMatrix compute_features(const BarSeries& series);
}  // namespace drey::trainer
