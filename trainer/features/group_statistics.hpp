// group_statistics.hpp: features 179 to 190: memory and randomness of the returns.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/hurst.hpp"

namespace drey::trainer {
/// Entropy of the order patterns of three successive returns over 58 triples (60 returns), 0 to 1.
/// Counts are whole numbers, so adding and removing triples is exact.
/// Source: Bandt and Pompe 2002; equal values rank by age.
class OrderEntropy {
 public:
  OrderEntropy();
  void push(const History& history);
  /// Requires: 60 returns or more were pushed.
  [[nodiscard]] double value() const;

 private:
  static constexpr std::size_t kTripleCount = 58;
  std::array<std::uint8_t, kTripleCount> codes_{};  // a ring
  std::array<int, 6> counts_{};
  std::array<double, kTripleCount + 1> terms_{};  // n ln n
  std::size_t next_ = 0;
  std::size_t size_ = 0;
};

class StatisticsGroup {
 public:
  static constexpr std::size_t kFirst = 179;
  static constexpr std::size_t kCount = 12;

  void push(const BarContext& context);
  void write(const BarContext& context, FeatureWriter& out) const;

 private:
  HurstExponent hurst_;
  OrderEntropy entropy_;
};
}  // namespace drey::trainer
