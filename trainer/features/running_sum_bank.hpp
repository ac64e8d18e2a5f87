// running_sum_bank.hpp: slope and spread of the running sum of a series (as of OBV, the running sum of
// signed volumes) over windows of 20 and 60 values, without a running sum since the beginning.
// Method: that of moment_bank.hpp. A part knows its total, and mean, squares and slope of its own
// running sum from 0; behind another part it is raised by that one's total.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "trainer/features/ring.hpp"

namespace drey::trainer {
/// Lane i belongs to series i.
template <std::size_t kLanes>
struct RunningSums {
  using Row = std::array<double, kLanes>;
  Row total{};
  Row mean{};     ///< of the running sum
  Row squares{};  ///< of its deviations from that
  Row cross{};    ///< of those with the deviations of the index from its mean
};

template <std::size_t kA, std::size_t kB, std::size_t kLanes>
[[nodiscard]] inline RunningSums<kLanes> joined(const RunningSums<kLanes>& a,
                                                const RunningSums<kLanes>& b) {
  constexpr double kCountA = kA;
  constexpr double kCountB = kB;
  constexpr double kCountBoth = kCountA + kCountB;
  RunningSums<kLanes> sums;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double d = b.mean[i] + a.total[i] - a.mean[i];
    sums.total[i] = a.total[i] + b.total[i];
    sums.mean[i] = a.mean[i] + d * (kCountB / kCountBoth);
    sums.squares[i] = a.squares[i] + b.squares[i] + d * d * (kCountA * kCountB / kCountBoth);
    sums.cross[i] = a.cross[i] + b.cross[i] + d * (0.5 * kCountA * kCountB);
  }
  return sums;
}

template <std::size_t kLanes>
class RunningSumBank {
 public:
  using Sums = RunningSums<kLanes>;
  using Row = typename Sums::Row;

  void push(const Row& values) {
    values_.push(values);
    push_five();
    sums_10_.push(joined<5, 5>(sums_5_.ago(5), sums_5_.newest()));
    sums_20_.push(joined<10, 10>(sums_10_.ago(10), sums_10_.newest()));
    sums_60_ =
        joined<40, 20>(joined<20, 20>(sums_20_.ago(40), sums_20_.ago(20)), sums_20_.newest());
  }
  [[nodiscard]] const Sums& sums_20() const { return sums_20_.newest(); }
  [[nodiscard]] const Sums& sums_60() const { return sums_60_; }
  /// Least-squares slope of the running sum over the last 20 values.
  [[nodiscard]] double slope_20(std::size_t lane) const {
    constexpr double kIndexSquares = 20.0 * (20.0 * 20.0 - 1.0) / 12.0;
    return sums_20().cross[lane] / kIndexSquares;
  }

 private:
  void push_five() {
    Sums sums;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const double p0 = values_.ago(4)[i];
      const double p1 = p0 + values_.ago(3)[i];
      const double p2 = p1 + values_.ago(2)[i];
      const double p3 = p2 + values_.ago(1)[i];
      const double p4 = p3 + values_.newest()[i];
      const double mean = p4 + (((p0 - p4) + (p1 - p4)) + ((p2 - p4) + (p3 - p4))) * 0.2;
      sums.total[i] = p4;
      sums.mean[i] = mean;
      for (const double p : {p0, p1, p2, p3, p4}) sums.squares[i] += (p - mean) * (p - mean);
      sums.cross[i] = 2.0 * (p4 - p0) + (p3 - p1);
    }
    sums_5_.push(sums);
  }

  Ring<Row, 8> values_;
  Ring<Sums, 8> sums_5_;
  Ring<Sums, 16> sums_10_;
  Ring<Sums, 64> sums_20_;
  Sums sums_60_;
};
}  // namespace drey::trainer
