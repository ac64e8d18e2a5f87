// moment_bank.hpp: the first four central moments of several series over windows of 5, 10, 20, 60,
// 120 and 240 values, at a cost that does not grow with the window.
// Method: the sums of a window are those of its two or three parts, joined; the parts ended 5, 10,
// 20 ... bars ago and are remembered. Nothing is ever subtracted from a sum, so a result depends on
// the window's values alone, always with the same bits, and equal values have a deviation of 0.
// Source of the joining formulas: Pebay 2008, "Formulas for Robust, One-Pass Parallel Computation of
// Covariances and Arbitrary-Order Statistical Moments", equations 2.1 and 3.1.
// Read next: pair_bank.hpp, window_statistics.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "trainer/features/ring.hpp"

namespace drey::trainer {
/// Lane i belongs to series i. Sums are of powers of deviations from the mean.
template <std::size_t kLanes>
struct MomentSums {
  using Row = std::array<double, kLanes>;
  Row mean{};
  Row squares{};
  Row cubes{};
  Row fourths{};
};

/// The sums over `a`'s kA values and `b`'s kB values together.
template <std::size_t kA, std::size_t kB, std::size_t kLanes>
[[nodiscard]] inline MomentSums<kLanes> joined(const MomentSums<kLanes>& a,
                                               const MomentSums<kLanes>& b) {
  constexpr double kCountA = kA;
  constexpr double kCountB = kB;
  constexpr double kCountBoth = kCountA + kCountB;
  MomentSums<kLanes> sums;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double d = b.mean[i] - a.mean[i];
    const double d2 = d * d;
    sums.mean[i] = a.mean[i] + d * (kCountB / kCountBoth);
    sums.squares[i] = a.squares[i] + b.squares[i] + d2 * (kCountA * kCountB / kCountBoth);
    sums.cubes[i] = a.cubes[i] + b.cubes[i] +
                    d2 * d * (kCountA * kCountB * (kCountA - kCountB) / (kCountBoth * kCountBoth)) +
                    d * (3.0 / kCountBoth) * (kCountA * b.squares[i] - kCountB * a.squares[i]);
    sums.fourths[i] =
        a.fourths[i] + b.fourths[i] +
        d2 * d2 *
            (kCountA * kCountB * (kCountA * kCountA - kCountA * kCountB + kCountB * kCountB) /
             (kCountBoth * kCountBoth * kCountBoth)) +
        d2 * (6.0 / (kCountBoth * kCountBoth)) *
            (kCountA * kCountA * b.squares[i] + kCountB * kCountB * a.squares[i]) +
        d * (4.0 / kCountBoth) * (kCountA * b.cubes[i] - kCountB * a.cubes[i]);
  }
  return sums;
}

/// Cost: about 300 operations a push for each four lanes; state of 9 KB a lane.
template <std::size_t kLanes>
class MomentBank {
 public:
  using Sums = MomentSums<kLanes>;
  using Row = typename Sums::Row;

  void push(const Row& values) {
    values_.push(values);
    push_five();
    sums_10_.push(joined<5, 5>(sums_5_.ago(5), sums_5_.newest()));
    sums_20_.push(joined<10, 10>(sums_10_.ago(10), sums_10_.newest()));
    sums_60_.push(
        joined<40, 20>(joined<20, 20>(sums_20_.ago(40), sums_20_.ago(20)), sums_20_.newest()));
    sums_120_.push(joined<60, 60>(sums_60_.ago(60), sums_60_.newest()));
    sums_240_ = joined<120, 120>(sums_120_.ago(120), sums_120_.newest());
  }

  /// Over the last kSpan values: 5, 10, 20, 60, 120 or 240.
  template <std::size_t kSpan>
  [[nodiscard]] const Sums& sums() const {
    if constexpr (kSpan == 5) return sums_5_.newest();
    if constexpr (kSpan == 10) return sums_10_.newest();
    if constexpr (kSpan == 20) return sums_20_.newest();
    if constexpr (kSpan == 60) return sums_60_.newest();
    if constexpr (kSpan == 120) return sums_120_.newest();
    if constexpr (kSpan == 240) return sums_240_;
  }
  template <std::size_t kSpan>
  [[nodiscard]] double variance(std::size_t lane) const {
    return sums<kSpan>().squares[lane] / static_cast<double>(kSpan);
  }

 private:
  // Relative to the newest value: exact where all are equal, however large.
  void push_five() {
    Sums sums;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const double origin = values_.newest()[i];
      const double x1 = values_.ago(1)[i] - origin;
      const double x2 = values_.ago(2)[i] - origin;
      const double x3 = values_.ago(3)[i] - origin;
      const double x4 = values_.ago(4)[i] - origin;
      const double offset = ((x1 + x2) + (x3 + x4)) * 0.2;
      sums.mean[i] = origin + offset;
      for (const double x : {0.0, x1, x2, x3, x4}) {
        const double d = x - offset;
        const double d2 = d * d;
        sums.squares[i] += d2;
        sums.cubes[i] += d2 * d;
        sums.fourths[i] += d2 * d2;
      }
    }
    sums_5_.push(sums);
  }

  Ring<Row, 8> values_;
  Ring<Sums, 8> sums_5_;
  Ring<Sums, 16> sums_10_;
  Ring<Sums, 64> sums_20_;
  Ring<Sums, 64> sums_60_;
  Ring<Sums, 128> sums_120_;
  Sums sums_240_;
};
}  // namespace drey::trainer
