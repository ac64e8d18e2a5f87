// window_math.hpp: sums, moments and lines over a contiguous window.
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

/// ln(a / b), held within +-ln(1e6); b may be 0 or negative (a smoothed price can overshoot).
[[nodiscard]] inline double bounded_log_ratio(double a, double b) {
  constexpr double kRatioMax = 1e6;
  return std::log(std::clamp(a / std::max(b, a / kRatioMax), 1.0 / kRatioMax, kRatioMax));
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

/// Mean of products of deviations from each window's own mean.
[[nodiscard]] inline double covariance_of(const double* x, const double* y, std::size_t count) {
  const double n = static_cast<double>(count);
  const double x0 = x[count - 1];
  const double y0 = y[count - 1];
  const double mx = sum_of(count, [=](std::size_t i) { return x[i] - x0; }) / n;
  const double my = sum_of(count, [=](std::size_t i) { return y[i] - y0; }) / n;
  return sum_of(count, [=](std::size_t i) { return ((x[i] - x0) - mx) * ((y[i] - y0) - my); }) / n;
}

/// Pearson's correlation; 0 when either deviation is not above its floor.
[[nodiscard]] inline double correlation_of(const double* x, const double* y, std::size_t count,
                                           double floor_x, double floor_y) {
  const double dx = spread_of(x, count).deviation;
  const double dy = spread_of(y, count).deviation;
  if (!(dx > floor_x) || !(dy > floor_y)) return 0.0;
  return std::clamp(covariance_of(x, y, count) / (dx * dy), -1.0, 1.0);
}

/// Least-squares slope of the values over their index.
[[nodiscard]] inline double slope_of(const double* values, std::size_t count) {
  const double n = static_cast<double>(count);
  const double middle = 0.5 * (n - 1.0);
  const double origin = values[count - 1];
  const double products = sum_of(count, [=](std::size_t i) {
    return (static_cast<double>(i) - middle) * (values[i] - origin);
  });
  return products / (n * (n * n - 1.0) / 12.0);
}
}  // namespace drey::trainer
