// raw_states.cpp: see raw_states.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/environments/raw_states.hpp"

#include <algorithm>
#include <span>

#include <drey/base/assert.hpp>
#include <drey/base/units.hpp>

namespace drey::trainer {
RawStates::RawStates(const FeatureMatrix& features, const Normaliser& normaliser)
    : normaliser_(normaliser), rows_(features.rows()) {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto values = features.row(row);
    std::copy(values.begin(), values.end(), rows_[row].begin());
  }
}

const float* RawStates::converted_row(ObservationRow index) const {
  alignas(kCacheLineBytes) thread_local std::array<float, kFeatureStride> values{};
  DREY_ASSERT(index < rows_.size());
  const Row& row = rows_[index];
  for (std::size_t feature = 0; feature < kFeatureDim; ++feature) {
    values[feature] = static_cast<float>(row[feature]);
  }
  normaliser_.apply(std::span<float, kFeatureDim>(values.data(), kFeatureDim));
  // Relaxed: pairs with conversions().
  conversions_.fetch_add(1, std::memory_order_relaxed);
  return values.data();
}
}  // namespace drey::trainer
