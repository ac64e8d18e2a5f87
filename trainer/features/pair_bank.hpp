// pair_bank.hpp: means, variances and covariances of many pairs of series over windows of 5, 10, 20
// and 60 values, all lanes in step, at a cost that does not grow with the window.
// Method and invariants: those of moment_bank.hpp.
// Read next: window_statistics.hpp, which names the pairs.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "trainer/features/ring.hpp"

namespace drey::trainer {
/// Lane i belongs to pair i. xx, yy, xy: sums of products of deviations from the means.
template <std::size_t kLanes>
struct PairSums {
  using Row = std::array<double, kLanes>;
  Row mean_x{};
  Row mean_y{};
  Row xx{};
  Row yy{};
  Row xy{};
};

template <std::size_t kA, std::size_t kB, std::size_t kLanes>
[[nodiscard]] inline PairSums<kLanes> joined(const PairSums<kLanes>& a, const PairSums<kLanes>& b) {
  constexpr double kCountBoth = kA + kB;
  constexpr double kShare = static_cast<double>(kB) / kCountBoth;
  constexpr double kWeight = static_cast<double>(kA * kB) / kCountBoth;
  PairSums<kLanes> sums;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double dx = b.mean_x[i] - a.mean_x[i];
    const double dy = b.mean_y[i] - a.mean_y[i];
    sums.mean_x[i] = a.mean_x[i] + dx * kShare;
    sums.mean_y[i] = a.mean_y[i] + dy * kShare;
    sums.xx[i] = a.xx[i] + b.xx[i] + dx * dx * kWeight;
    sums.yy[i] = a.yy[i] + b.yy[i] + dy * dy * kWeight;
    sums.xy[i] = a.xy[i] + b.xy[i] + dx * dy * kWeight;
  }
  return sums;
}

/// Cost: about 100 vector operations a push for each vector of lanes.
template <std::size_t kLanes>
class PairBank {
 public:
  using Sums = PairSums<kLanes>;
  using Row = typename Sums::Row;

  void push(const Row& x, const Row& y) {
    values_.push({x, y});
    push_five();
    sums_10_.push(joined<5, 5>(sums_5_.ago(5), sums_5_.newest()));
    sums_20_.push(joined<10, 10>(sums_10_.ago(10), sums_10_.newest()));
    sums_60_ =
        joined<40, 20>(joined<20, 20>(sums_20_.ago(40), sums_20_.ago(20)), sums_20_.newest());
  }

  /// Over the last kSpan values: 5, 10, 20 or 60.
  template <std::size_t kSpan>
  [[nodiscard]] const Sums& sums() const {
    if constexpr (kSpan == 5) return sums_5_.newest();
    if constexpr (kSpan == 10) return sums_10_.newest();
    if constexpr (kSpan == 20) return sums_20_.newest();
    if constexpr (kSpan == 60) return sums_60_;
  }
  /// Sum of y over the last 50 values.
  [[nodiscard]] double sum_y_50(std::size_t lane) const {
    return 20.0 * (sums_20_.newest().mean_y[lane] + sums_20_.ago(20).mean_y[lane]) +
           10.0 * sums_10_.ago(40).mean_y[lane];
  }
  /// Pearson's correlation; 0 when either deviation is not above its floor.
  template <std::size_t kSpan>
  [[nodiscard]] double correlation(std::size_t lane, double floor_x, double floor_y) const {
    const Sums& all = sums<kSpan>();
    constexpr double kCount = kSpan;
    const double xx = all.xx[lane];
    const double yy = all.yy[lane];
    if (!(xx > kCount * floor_x * floor_x) || !(yy > kCount * floor_y * floor_y)) return 0.0;
    return std::clamp(all.xy[lane] / std::sqrt(xx * yy), -1.0, 1.0);
  }

 private:
  struct Values {
    Row x{};
    Row y{};
  };

  void push_five() {
    Sums sums;
    const Values& newest = values_.newest();
    for (std::size_t i = 0; i < kLanes; ++i) {
      const double x1 = values_.ago(1).x[i] - newest.x[i];
      const double x2 = values_.ago(2).x[i] - newest.x[i];
      const double x3 = values_.ago(3).x[i] - newest.x[i];
      const double x4 = values_.ago(4).x[i] - newest.x[i];
      const double y1 = values_.ago(1).y[i] - newest.y[i];
      const double y2 = values_.ago(2).y[i] - newest.y[i];
      const double y3 = values_.ago(3).y[i] - newest.y[i];
      const double y4 = values_.ago(4).y[i] - newest.y[i];
      const double mx = ((x1 + x2) + (x3 + x4)) * 0.2;
      const double my = ((y1 + y2) + (y3 + y4)) * 0.2;
      sums.mean_x[i] = newest.x[i] + mx;
      sums.mean_y[i] = newest.y[i] + my;
      sums.xx[i] = ((x1 - mx) * (x1 - mx) + (x2 - mx) * (x2 - mx)) +
                   ((x3 - mx) * (x3 - mx) + (x4 - mx) * (x4 - mx)) + mx * mx;
      sums.yy[i] = ((y1 - my) * (y1 - my) + (y2 - my) * (y2 - my)) +
                   ((y3 - my) * (y3 - my) + (y4 - my) * (y4 - my)) + my * my;
      sums.xy[i] = ((x1 - mx) * (y1 - my) + (x2 - mx) * (y2 - my)) +
                   ((x3 - mx) * (y3 - my) + (x4 - mx) * (y4 - my)) + mx * my;
    }
    sums_5_.push(sums);
  }

  Ring<Values, 8> values_;
  Ring<Sums, 8> sums_5_;
  Ring<Sums, 64> sums_10_;
  Ring<Sums, 64> sums_20_;
  Sums sums_60_;
};
}  // namespace drey::trainer
