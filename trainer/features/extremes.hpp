// extremes.hpp: highest and lowest of a contiguous window, and where they are.
// For windows of a few values; those of prices are in price_extremes.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace drey::trainer {
template <class Better>
[[nodiscard]] inline double best_of(const double* values, std::size_t count, Better better) {
  std::array<double, 4> lanes;
  lanes.fill(values[count - 1]);
  const std::size_t whole = count - count % lanes.size();
  for (std::size_t i = 0; i < whole; i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      lanes[lane] = better(values[i + lane], lanes[lane]) ? values[i + lane] : lanes[lane];
  }
  double best = lanes[0];
  for (std::size_t lane = 1; lane < lanes.size(); ++lane)
    best = better(lanes[lane], best) ? lanes[lane] : best;
  for (std::size_t i = whole; i < count; ++i) best = better(values[i], best) ? values[i] : best;
  return best;
}

[[nodiscard]] inline double highest_of(const double* values, std::size_t count) {
  return best_of(values, count, [](double a, double b) { return a > b; });
}

[[nodiscard]] inline double lowest_of(const double* values, std::size_t count) {
  return best_of(values, count, [](double a, double b) { return a < b; });
}

/// How many values ago `wanted` was last seen; it must be in the window.
[[nodiscard]] inline std::size_t age_of(const double* values, std::size_t count, double wanted) {
  std::size_t age = 0;
  while (age + 1 < count && values[count - 1 - age] != wanted) ++age;
  return age;
}

/// Place of `value` between lowest and highest, 0 to 1; `when_flat` when they are too close.
[[nodiscard]] inline double place_within(double value, double lowest, double highest, double floor,
                                         double when_flat) {
  const double width = highest - lowest;
  return width > floor ? (value - lowest) / width : when_flat;
}
}  // namespace drey::trainer
