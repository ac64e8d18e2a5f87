// price_extremes.hpp: highest high and lowest low of the last 5, 14, 20, 26 and 55 bars.
// Method: the extreme of 2^k bars is that of two halves, remembered from before; any other window is
// covered by two overlapping ones. Exact, a pure function of the window, and its cost does not grow.
// Read next: window_statistics.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "trainer/features/ring.hpp"

namespace drey::trainer {
class PriceExtremes {
 public:
  void push(double high, double low) {
    of_1_.push({high, -low});
    of_2_.push(larger(of_1_.ago(1), of_1_.newest()));
    of_4_.push(larger(of_2_.ago(2), of_2_.newest()));
    of_8_.push(larger(of_4_.ago(4), of_4_.newest()));
    of_16_.push(larger(of_8_.ago(8), of_8_.newest()));
    of_32_.push(larger(of_16_.ago(16), of_16_.newest()));
  }

  template <std::size_t kSpan>
  [[nodiscard]] double highest() const {
    return extreme<kSpan>()[0];
  }
  template <std::size_t kSpan>
  [[nodiscard]] double lowest() const {
    return -extreme<kSpan>()[1];
  }

 private:
  using Pair = std::array<double, 2>;  // highest high, highest of the negated lows

  static Pair larger(const Pair& a, const Pair& b) {
    return {std::max(a[0], b[0]), std::max(a[1], b[1])};
  }
  template <std::size_t kSpan>
  [[nodiscard]] Pair extreme() const {
    if constexpr (kSpan == 5) return larger(of_4_.newest(), of_4_.ago(1));
    if constexpr (kSpan == 14) return larger(of_8_.newest(), of_8_.ago(6));
    if constexpr (kSpan == 20) return larger(of_16_.newest(), of_16_.ago(4));
    if constexpr (kSpan == 26) return larger(of_16_.newest(), of_16_.ago(10));
    if constexpr (kSpan == 55) return larger(of_32_.newest(), of_32_.ago(23));
  }

  Ring<Pair, 2> of_1_;
  Ring<Pair, 4> of_2_;
  Ring<Pair, 8> of_4_;
  Ring<Pair, 16> of_8_;
  Ring<Pair, 32> of_16_;
  Ring<Pair, 32> of_32_;
};
}  // namespace drey::trainer
