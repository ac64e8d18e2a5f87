// window.hpp: the last values of a series, always contiguous and oldest first.
// Each value is stored twice, Capacity apart, so that any window of up to Capacity values is one
// plain array: kernels run over it without wrapping. Not yet pushed values are 0.
// Read next: window_math.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include <drey/base/assert.hpp>

namespace drey::trainer {
/// Cost: 16 * Capacity bytes in place; push is two stores.
template <std::size_t Capacity>
class Window {
  static_assert((Capacity & (Capacity - 1)) == 0, "a power of two");

 public:
  void push(double value) {
    newest_ = (newest_ + 1) & (Capacity - 1);
    values_[newest_] = value;
    values_[newest_ + Capacity] = value;
  }

  /// The last `count` values, oldest first, ending `lag` values before the newest.
  [[nodiscard]] const double* last(std::size_t count, std::size_t lag = 0) const {
    DREY_ASSERT(count + lag <= Capacity);
    return values_.data() + (newest_ + Capacity + 1) - count - lag;
  }
  /// The value `lag` pushes ago; 0 is the newest.
  [[nodiscard]] double ago(std::size_t lag) const {
    DREY_ASSERT(lag < Capacity);
    return values_[newest_ + Capacity - lag];
  }
  [[nodiscard]] double newest() const { return ago(0); }

 private:
  std::array<double, 2 * Capacity> values_{};
  std::size_t newest_ = Capacity - 1;
};
}  // namespace drey::trainer
