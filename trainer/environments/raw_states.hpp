// raw_states.hpp: the wasteful form of states: features stay as they were computed, in doubles, and each
// use makes 225 normalised floats of them. The mended form is Market itself, which normalises once.
// Invariant: converted_row() gives the bits that normalising once gives; it makes no heap call.
// Read next: market.hpp, features/normaliser.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/environments/environment.hpp"
#include "trainer/features/feature_matrix.hpp"
#include "trainer/features/normaliser.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace drey::trainer {
/// When features become what the network sees: at the start, or on each use.
enum class StatesForm : std::uint8_t { kOnce, kEach };

/// Threads: any.
class RawStates final : public RowConverter {
 public:
  using Row = std::array<double, kFeatureDim>;

  /// `features` are not normalised yet. Cost: 1,800 bytes a row.
  RawStates(const FeatureMatrix& features, const Normaliser& normaliser);

  [[nodiscard]] const float* converted_row(ObservationRow index) const override;

  [[nodiscard]] ObservationTable table() const {
    return {nullptr, rows_.size(), kFeatureDim, kFeatureStride, this};
  }
  /// Rows converted so far, by all threads. Relaxed: it orders nothing; pairs with converted_row().
  [[nodiscard]] std::uint64_t conversions() const {
    return conversions_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t bytes() const { return rows_.capacity() * sizeof(Row); }

 private:
  Normaliser normaliser_;
  std::vector<Row> rows_;
  mutable std::atomic<std::uint64_t> conversions_{0};
};
}  // namespace drey::trainer
