// group_volatility.hpp: features 105 to 128: ranges, bands, channels and volatility estimates.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/smoothing.hpp"
#include "trainer/features/window.hpp"

namespace drey::trainer {
class VolatilityGroup {
 public:
  static constexpr std::size_t kFirst = 105;
  static constexpr std::size_t kCount = 24;

  void push(const BarContext& context);
  void write(const BarContext& context, FeatureWriter& out) const;

 private:
  void write_bands(const BarContext& context, FeatureWriter& out) const;
  void write_estimates(FeatureWriter& out) const;
  [[nodiscard]] double yang_zhang() const;
  [[nodiscard]] bool squeezed(const BarContext& context) const;

  WilderMean atr_7_{7};
  WilderMean atr_20_{20};
  WilderMean atr_28_{28};
  Window<32> range_square_;     // ln(H/L)^2
  Window<32> garman_klass_;     // per-bar term of the estimate
  Window<32> rogers_satchell_;  // per-bar term of the estimate
  Window<32> overnight_;        // ln(O_t / C_{t-1})
  Window<32> intraday_;         // ln(C / O)
};
}  // namespace drey::trainer
