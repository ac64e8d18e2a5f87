// group_microstructure.hpp: features 153 to 168: spread, impact and order flow, estimated from
// bars.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/window.hpp"

namespace drey::trainer {
class MicrostructureGroup {
 public:
  static constexpr std::size_t kFirst = 153;
  static constexpr std::size_t kCount = 16;

  void push(const BarContext& context);
  void write(const BarContext& context, FeatureWriter& out) const;

 private:
  Window<32> spread_;        // Corwin-Schultz estimate of each pair of bars
  Window<64> imbalance_;     // |B - S| of the bar, bulk-classified
  double run_length_ = 0.0;  // signed count of bars of the same direction
};
}  // namespace drey::trainer
