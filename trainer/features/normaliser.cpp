// normaliser.cpp: see normaliser.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/normaliser.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <drey/base/assert.hpp>

#include "trainer/data/error.hpp"
#include "trainer/features/feature_names.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kRowsLookedAtMax = 32'768;
constexpr double kScaleFloor = 1e-12;

// The value at `share` of the sorted order; reorders `values`.
float quantile(std::vector<float>& values, double share) {
  const auto index = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

// Relative to the first value, so that equal values have exactly 0.
double standard_deviation(const std::vector<float>& values) {
  const double n = static_cast<double>(values.size());
  const double origin = values.front();
  double sum = 0.0;
  double squares = 0.0;
  for (const float value : values) {
    const double difference = value - origin;
    sum += difference;
    squares += difference * difference;
  }
  const double mean = sum / n;
  return std::sqrt(std::max(0.0, squares / n - mean * mean));
}

// Deviation of the normal series with as much between these quantiles.
double spread_between(std::vector<float>& values, double share, double normal_width) {
  const double high = quantile(values, 1.0 - share);
  const double low = quantile(values, share);
  return (high - low) / normal_width;
}

float scale_of(std::vector<float>& values) {
  constexpr double kQuartilesOfNormal = 1.349;
  constexpr double kTwentiethsOfNormal = 3.290;
  const double middle = std::max(spread_between(values, 0.25, kQuartilesOfNormal),
                                 spread_between(values, 0.05, kTwentiethsOfNormal));
  if (middle > kScaleFloor) return static_cast<float>(middle);
  const double deviation = standard_deviation(values);
  return deviation > kScaleFloor ? static_cast<float>(deviation) : 1.0F;
}
}  // namespace

Normaliser::Normaliser() {
  median_.fill(0.0F);
  scale_.fill(1.0F);
}

Normaliser::Normaliser(const Values& median, const Values& scale) : median_(median), scale_(scale) {
  for (std::size_t i = 0; i < kFeatureDim; ++i) {
    if (std::isfinite(median[i]) && std::isfinite(scale[i]) && scale[i] > 0.0F) continue;
    throw CheckpointError("normaliser: feature '" + std::string(kFeatureNames[i]) +
                          "': expected a finite median and a scale above 0, found " +
                          std::to_string(median[i]) + " and " + std::to_string(scale[i]));
  }
}

void Normaliser::fit(const FeatureMatrix& matrix, std::size_t first_row, std::size_t end_row) {
  if (first_row >= end_row || end_row > matrix.rows())
    throw DataError("normaliser: expected rows to fit within 0 to " +
                    std::to_string(matrix.rows()) + ", found " + std::to_string(first_row) +
                    " to " + std::to_string(end_row));
  const std::size_t step = (end_row - first_row + kRowsLookedAtMax - 1) / kRowsLookedAtMax;
  std::vector<float> values;
  values.reserve((end_row - first_row) / step + 1);
  for (std::size_t feature = 0; feature < kFeatureDim; ++feature) {
    values.clear();
    for (std::size_t row = first_row; row < end_row; row += step)
      values.push_back(matrix.row(row)[feature]);
    median_[feature] = quantile(values, 0.5);
    scale_[feature] = scale_of(values);
  }
}

void Normaliser::apply(FeatureMatrix& matrix) const {
  for (std::size_t row = 0; row < matrix.rows(); ++row) apply(matrix.row(row));
}

void Normaliser::apply(std::span<float, kFeatureDim> row) const {
  for (std::size_t i = 0; i < kFeatureDim; ++i) {
    const float value = (row[i] - median_[i]) / scale_[i];
    row[i] = std::clamp(value, -kNormalisedMax, kNormalisedMax);
  }
}
}  // namespace drey::trainer
