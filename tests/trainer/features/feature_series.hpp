// feature_series.hpp: series of bars for the tests of the features, and a look at one row.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string_view>

#include "trainer/data/synthetic_bars.hpp"
#include "trainer/features/feature_names.hpp"
#include "trainer/features/features.hpp"

namespace drey::trainer {
/// `count` equal one-minute bars.
inline BarSeries flat_bars(std::size_t count, double price, double volume) {
  BarSeries series;
  series.source = "flat";
  for (std::size_t i = 0; i < count; ++i)
    series.bars.push_back(
        {static_cast<std::int64_t>(i) * kMinuteNs, price, price, price, price, volume});
  return series;
}

/// The feature of that name in the last row.
inline double last_value(const FeatureMatrix& matrix, std::string_view name) {
  const std::size_t index = feature_index(name);
  EXPECT_LT(index, kFeatureDim) << name;
  return matrix.row(matrix.rows() - 1)[index];
}

inline void expect_finite(const FeatureMatrix& matrix) {
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::size_t i = 0; i < kFeatureDim; ++i)
      ASSERT_TRUE(std::isfinite(matrix.row(row)[i])) << kFeatureNames[i] << " of row " << row;
  }
}
}  // namespace drey::trainer
