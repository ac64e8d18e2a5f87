// group_patterns.hpp: features 169 to 178: ten candle patterns, -1, 0 or +1.
// Engulfing and harami give +-0.8 where the bodies share one end, as in TA-Lib 0.6.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/window.hpp"

namespace drey::trainer {
/// A bar as its patterns see it. The usual_... are means over the bars before it, so that "long"
/// and "short" mean long and short for this market. Source: TA-Lib's default candle settings.
struct Candle {
  double open = 0.0;
  double high = 0.0;
  double low = 0.0;
  double close = 0.0;
  double usual_body = 0.0;      ///< mean body of 10 bars: a longer one is long, a shorter one short
  double usual_range_10 = 0.0;  ///< mean range of 10 bars: a tenth of it is "no body", "no shadow"
  double usual_range_5 = 0.0;   ///< mean range of 5 bars: 0.2 of it is near, 0.6 far

  [[nodiscard]] double top() const { return open > close ? open : close; }
  [[nodiscard]] double bottom() const { return open > close ? close : open; }
  [[nodiscard]] double body() const { return top() - bottom(); }
  [[nodiscard]] double range() const { return high - low; }
  [[nodiscard]] double upper_shadow() const { return high - top(); }
  [[nodiscard]] double lower_shadow() const { return bottom() - low; }
  [[nodiscard]] bool white() const { return close >= open; }
  [[nodiscard]] bool long_body() const { return body() > usual_body; }
  [[nodiscard]] bool no_upper_shadow() const { return upper_shadow() < 0.1 * usual_range_10; }
  [[nodiscard]] bool no_lower_shadow() const { return lower_shadow() < 0.1 * usual_range_10; }
  [[nodiscard]] double near() const { return 0.2 * usual_range_5; }
  [[nodiscard]] double far() const { return 0.6 * usual_range_5; }
};

/// The last four candles, newest first.
using Candles = std::array<Candle, 4>;

class PatternsGroup {
 public:
  static constexpr std::size_t kFirst = 169;
  static constexpr std::size_t kCount = 10;

  void push(const BarContext& context);
  void write(const BarContext& context, FeatureWriter& out) const;

 private:
  Candles candles_{};
  Window<16> body_;
  Window<16> range_;
};
}  // namespace drey::trainer
