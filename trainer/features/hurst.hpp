// hurst.hpp: the Hurst exponent of the last 120 returns by rescaled ranges: the slope of ln(R/S) over
// ln(block) for blocks of 15, 30, 60 and 120 returns, minus 0.5; 0 when the blocks of some size are
// all flat. Source: Hurst 1951; Mandelbrot and Wallis 1969.
// R is the range of the running sum of deviations from the mean. The running sum of returns is the
// log close, so no sum has to be carried along the block; the R/S of older blocks are remembered.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "trainer/features/feature_row.hpp"
#include "trainer/features/ring.hpp"
#include "trainer/features/window_statistics.hpp"

namespace drey::trainer {
class HurstExponent {
 public:
  void push(const History& history, const WindowStatistics& windows) {
    blocks_15_.push(spread_of(history.log_return.last(15), 15));
    const double squares_30 = joined_squares(blocks_15_.ago(15), blocks_15_.newest());
    range_15_.push(rescaled<15>(history, blocks_15_.newest().deviation));
    range_30_.push(rescaled<30>(history, std::sqrt(squares_30 / 30.0)));
    range_60_.push(rescaled<60>(history, std::sqrt(windows.returns.variance<60>(0))));
    range_120_ = rescaled<120>(history, std::sqrt(windows.returns.variance<120>(0)));
  }

  /// One value. Each block is twice the one before: the slope over ln(block) is that over the index,
  /// with weights -3, -1, 1, 3 of 10, over ln 2.
  void write(FeatureWriter& out) const {
    Ranges ranges = {mean_of_blocks<15>(range_15_), mean_of_blocks<30>(range_30_),
                     mean_of_blocks<60>(range_60_), range_120_};
    if (*std::min_element(ranges.begin(), ranges.end()) == 0.0) {
      out.put(0.0);
      return;
    }
    take_logs(ranges.data(), ranges.size());
    constexpr double kPerLog = 1.0 / (10.0 * std::numbers::ln2);
    out.put(kPerLog * (3.0 * (ranges[3] - ranges[0]) + (ranges[2] - ranges[1])) - 0.5);
  }

 private:
  using Ranges = std::array<double, 4>;

  static constexpr std::array<double, 120> kNumbers = [] {
    std::array<double, 120> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
    return numbers;
  }();

  static double joined_squares(const Spread& a, const Spread& b) {
    const double d = b.mean - a.mean;
    return 15.0 * (a.deviation * a.deviation + b.deviation * b.deviation) + 7.5 * d * d;
  }

  // R/S of the last kBlock returns; 0 when they are flat.
  template <std::size_t kBlock>
  static double rescaled(const History& history, double deviation) {
    if (!(deviation > kStdFloor)) return 0.0;
    const double* walk = history.log_close.last(kBlock + 1);
    const double first = walk[0];
    const double step = (walk[kBlock] - first) / static_cast<double>(kBlock);
    // Place 0 and the padding are 0, where every walk begins.
    constexpr std::size_t kPadded = (kBlock + 7) / 8 * 8;
    std::array<double, kPadded> sums{};
    for (std::size_t i = 0; i < kBlock; ++i) sums[i] = (walk[i] - first) - kNumbers[i] * step;
    std::array<double, 8> highest{};
    std::array<double, 8> lowest{};
    for (std::size_t i = 0; i < kPadded; i += 8) {
      for (std::size_t lane = 0; lane < 8; ++lane) {
        const double sum = sums[i + lane];
        highest[lane] = highest[lane] > sum ? highest[lane] : sum;
        lowest[lane] = lowest[lane] < sum ? lowest[lane] : sum;
      }
    }
    const double range = *std::max_element(highest.begin(), highest.end()) -
                         *std::min_element(lowest.begin(), lowest.end());
    return range / deviation;
  }

  // Mean over the blocks of the last 120 returns that are not flat.
  template <std::size_t kBlock, std::size_t kCapacity>
  static double mean_of_blocks(const Ring<double, kCapacity>& ranges) {
    double sum = 0.0;
    double used = 0.0;
    for (std::size_t lag = 0; lag < 120; lag += kBlock) {
      sum += ranges.ago(lag);
      used += ranges.ago(lag) > 0.0 ? 1.0 : 0.0;
    }
    return used > 0.0 ? sum / used : 0.0;
  }

  Ring<Spread, 16> blocks_15_;
  Ring<double, 128> range_15_;
  Ring<double, 128> range_30_;
  Ring<double, 64> range_60_;
  double range_120_ = 0.0;
};
}  // namespace drey::trainer
