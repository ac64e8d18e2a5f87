// feature_row.hpp: a row while it is written: doubles, with the logarithms still to be taken.
// Groups name what they want the logarithm of; all are taken at once, in vector registers, before
// the row becomes floats.
// Invariant: every place is written once, from left to right.
// Read next: bar_context.hpp, vector_log.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <drey/base/assert.hpp>

#include "trainer/features/feature_matrix.hpp"
#include "trainer/features/vector_log.hpp"

namespace drey::trainer {
/// Threads: one at a time. Cost: no heap call.
class FeatureRow {
 public:
  void begin() {
    written_ = 0;
    log_count_ = 0;
  }
  void put(double value) { values_[written_++] = value; }
  /// scale * ln(argument). Requires: a positive, finite, normal argument.
  void put_log(double argument, double scale = 1.0) {
    DREY_ASSERT(log_count_ < kLogCountMax);
    arguments_[log_count_] = argument;
    places_[log_count_] = static_cast<std::uint8_t>(written_);
    ++log_count_;
    values_[written_++] = scale;
  }
  [[nodiscard]] std::size_t written() const { return written_; }

  /// Takes the logarithms and stores the row, held within what a float can hold.
  /// Requires: all values written, all finite.
  void finish(float* row) {
    DREY_ASSERT(written_ == kFeatureDim);
    take_logs(arguments_.data(), kLogCountMax);  // whole vectors: behind the last there are ones
    for (std::size_t i = 0; i < log_count_; ++i) values_[places_[i]] *= arguments_[i];
    for (std::size_t i = 0; i < kFeatureDim; ++i) {
      DREY_ASSERT(std::isfinite(values_[i]));
      row[i] = static_cast<float>(std::clamp(values_[i], -1e30, 1e30));
    }
    arguments_.fill(1.0);
  }

 private:
  static constexpr std::size_t kLogCountMax = 40;
  static_assert(kFeatureDim <= 256, "a place is a byte");

  static constexpr std::array<double, kLogCountMax> ones() {
    std::array<double, kLogCountMax> values{};
    for (double& value : values) value = 1.0;
    return values;
  }

  std::array<double, kFeatureDim> values_{};
  std::array<double, kLogCountMax> arguments_ = ones();
  std::array<std::uint8_t, kLogCountMax> places_{};
  std::size_t written_ = 0;
  std::size_t log_count_ = 0;
};

/// What a group writes its part of the row with.
using FeatureWriter = FeatureRow;
}  // namespace drey::trainer
