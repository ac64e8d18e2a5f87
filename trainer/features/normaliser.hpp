// normaliser.hpp: robust z-score of each feature: (x - median) / scale, held within +-10.
// Invariants: median is finite, scale is finite and > 0; both come from training rows only, so
// nothing of the validation rows leaks into what the network sees.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "trainer/features/feature_matrix.hpp"

namespace drey::trainer {
inline constexpr float kNormalisedMax = 10.0F;

class Normaliser {
 public:
  using Values = std::array<float, kFeatureDim>;

  /// Leaves values as they are, but for the limit of +-10.
  Normaliser();

  /// As stored in a checkpoint. Fails: CheckpointError when an invariant does not hold.
  Normaliser(const Values& median, const Values& scale);

  /// From rows [first_row, end_row). Scale is the larger of (q75 - q25) / 1.349 and
  /// (q95 - q05) / 3.290, both the deviation of a normal series; the second is for features that
  /// are near one value most of the time. A feature that is one value nearly always (a rare
  /// pattern) takes its standard deviation instead, a constant one takes 1. Of more than 32,768
  /// rows every n-th is looked at. Fails: DataError when there is no row in the range.
  void fit(const FeatureMatrix& matrix, std::size_t first_row, std::size_t end_row);

  /// All rows, in place.
  void apply(FeatureMatrix& matrix) const;
  /// One row, in place: the same bits as within a matrix.
  void apply(std::span<float, kFeatureDim> row) const;

  [[nodiscard]] const Values& median() const { return median_; }
  [[nodiscard]] const Values& scale() const { return scale_; }

 private:
  Values median_;
  Values scale_;
};
}  // namespace drey::trainer
