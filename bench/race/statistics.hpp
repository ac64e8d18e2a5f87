// statistics.hpp: the numbers behind a row: medians, quartiles, ratios of the same round, ties.
//
// Rounds are paired: runner A and runner B of one round met the same machine, so the ratio is taken
// round by round and its median is reported; a slow minute hits both sides of it.
// Read next: statistics.cpp, print_race.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace drey::bench {
struct Summary {
  double median = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
  std::size_t count = 0;

  [[nodiscard]] double interquartile_range() const noexcept {
    return upper_quartile - lower_quartile;
  }
};

/// Value below which `fraction` of the samples lie, interpolated between neighbours.
/// Requires: at least one sample, 0 <= fraction <= 1.
/// Source: R. J. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", 1996, definition 7.
[[nodiscard]] double quantile(std::vector<double> samples, double fraction);

/// All zero if there are no samples.
[[nodiscard]] Summary summarise(const std::vector<double>& samples);

/// ours / theirs of each round both have. Requires: positive samples.
[[nodiscard]] std::vector<double> paired_ratios(const std::vector<double>& ours,
                                                const std::vector<double>& theirs);

struct Comparison {
  Summary ratio;
  bool is_tie = true;  ///< the difference is not larger than the spread of the ratio
};

/// What two equal programs may differ by though every round agrees. For whole programs:
inline constexpr double kProgramDifferenceMin = 0.02;
/// For cases of some nanoseconds, where it matters how the linker happened to place a loop: the
/// cases of drey's pool call no malloc, and differ by up to 7 % between the three binaries.
inline constexpr double kCaseDifferenceMin = 0.10;

/// Tie: |median - 1| <= the interquartile range of the ratios, which counts as `difference_min` at
/// least; as 10 % at least with fewer than three rounds, which hardly show a spread.
[[nodiscard]] Comparison compare(const std::vector<double>& ours, const std::vector<double>& theirs,
                                 double difference_min = kProgramDifferenceMin);

/// 0 if there are none. Requires: positive values.
[[nodiscard]] double geometric_mean(const std::vector<double>& values);
}  // namespace drey::bench
