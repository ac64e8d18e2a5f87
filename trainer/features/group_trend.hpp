// group_trend.hpp: features 56 to 79: the close against its smoothed lines, and fitted lines.
// Read next: adaptive_lines.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "trainer/features/adaptive_lines.hpp"
#include "trainer/features/bar_context.hpp"
#include "trainer/features/smoothing.hpp"

namespace drey::trainer {
class TrendGroup {
 public:
  static constexpr std::size_t kFirst = 56;
  static constexpr std::size_t kCount = 24;

  void push(const BarContext& context);
  void write(const BarContext& context, FeatureWriter& out) const;

 private:
  ExponentialMean ema_5_{5};
  ExponentialMean ema_50_{50};
  ExponentialMean ema_100_{100};
  ExponentialMean ema_200_{200};
  EmaChain chain_20_{20};
  KaufmanMean kaufman_;
  ParabolicStop stop_;
};
}  // namespace drey::trainer
