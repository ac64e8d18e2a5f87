// window_math.hpp: sums, means and spreads over a short contiguous window; longer ones are in
// moment_bank.hpp and pair_bank.hpp.
// Invariants: a result depends on the window's values alone (nothing is carried from bar to bar, so
// nothing drifts); the order of additions is fixed (eight lanes), so a window always gives the same
// bits; a window of equal values has a deviation of exactly 0.
// Read next: extremes.hpp, smoothing.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace drey::trainer {
inline constexpr double kStdFloor = 1e-12;  ///< of log returns: below it a series counts as flat

/// numerator / denominator; 0 when the denominator is not above `floor`.
[[nodiscard]] inline double ratio_or_zero(double numerator, double denominator, double floor) {
  return denominator > floor ? numerator / denominator : 0.0;
}

/// a / b, held within 1e-6 and 1e6; b may be 0 or negative (a smoothed price can overshoot).
[[nodiscard]] inline double bounded_ratio(double a, double b) {
  constexpr double kRatioMax = 1e6;
  return std::clamp(a / std::max(b, a / kRatioMax), 1.0 / kRatioMax, kRatioMax);
}

[[nodiscard]] inline double sign_of(double value) {
  return static_cast<double>((value > 0.0) - (value < 0.0));
}

/// term(0) + ... + term(count - 1), in eight lanes that the compiler can keep in vector registers.
template <class Term>
[[nodiscard]] inline double sum_of(std::size_t count, Term term) {
  std::array<double, 8> lanes{};
  const std::size_t whole = count - count % lanes.size();
  for (std::size_t i = 0; i < whole; i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] += term(i + lane);
  }
  double rest = 0.0;
  for (std::size_t i = whole; i < count; ++i) rest += term(i);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])) + rest;
}

[[nodiscard]] inline double sum_of(const double* values, std::size_t count) {
  return sum_of(count, [values](std::size_t i) { return values[i]; });
}

[[nodiscard]] inline double mean_of(const double* values, std::size_t count) {
  return sum_of(values, count) / static_cast<double>(count);
}

struct Spread {
  double mean;
  double deviation;  ///< population standard deviation
};

/// Two passes, relative to the newest value: exact 0 for equal values however large they are.
[[nodiscard]] inline Spread spread_of(const double* values, std::size_t count) {
  const double n = static_cast<double>(count);
  const double origin = values[count - 1];
  const double offset = sum_of(count, [=](std::size_t i) { return values[i] - origin; }) / n;
  const double squares = sum_of(count, [=](std::size_t i) {
    const double d = (values[i] - origin) - offset;
    return d * d;
  });
  return {origin + offset, std::sqrt(squares / n)};
}
}  // namespace drey::trainer
