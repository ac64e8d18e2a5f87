// statistics.cpp: see statistics.hpp.
// SPDX-License-Identifier: MIT
#include "race/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace drey::bench {
namespace {
constexpr double kSpreadOfFewRounds = 0.10;
constexpr std::size_t kRoundsForSpread = 3;
}  // namespace

double quantile(std::vector<double> samples, double fraction) {
  std::sort(samples.begin(), samples.end());
  const double position = fraction * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  const double weight = position - static_cast<double>(below);
  return samples[below] + weight * (samples[above] - samples[below]);
}

Summary summarise(const std::vector<double>& samples) {
  if (samples.empty()) return {};
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75), samples.size()};
}

std::vector<double> paired_ratios(const std::vector<double>& ours,
                                  const std::vector<double>& theirs) {
  std::vector<double> ratios(std::min(ours.size(), theirs.size()));
  for (std::size_t round = 0; round < ratios.size(); ++round) {
    ratios[round] = ours[round] / theirs[round];
  }
  return ratios;
}

Comparison compare(const std::vector<double>& ours, const std::vector<double>& theirs,
                   double difference_min) {
  Comparison comparison;
  comparison.ratio = summarise(paired_ratios(ours, theirs));
  const bool is_short = comparison.ratio.count < kRoundsForSpread;
  const double floor = is_short ? std::max(difference_min, kSpreadOfFewRounds) : difference_min;
  const double spread = std::max(floor, comparison.ratio.interquartile_range());
  comparison.is_tie = std::abs(comparison.ratio.median - 1.0) <= spread;
  return comparison;
}

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  double sum_of_logarithms = 0;
  for (const double value : values) sum_of_logarithms += std::log(value);
  return std::exp(sum_of_logarithms / static_cast<double>(values.size()));
}
}  // namespace drey::bench
