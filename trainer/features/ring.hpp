// ring.hpp: the last values of a series of structs, by age.
// Read next: moment_bank.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include <drey/base/assert.hpp>

namespace drey::trainer {
/// Holds Capacity values, zero at first. Cost: all operations constant.
template <class Value, std::size_t Capacity>
class Ring {
  static_assert((Capacity & (Capacity - 1)) == 0, "a power of two");

 public:
  void push(const Value& value) {
    newest_ = (newest_ + 1) & (Capacity - 1);
    values_[newest_] = value;
  }
  /// The value `lag` pushes ago; 0 is the newest.
  [[nodiscard]] const Value& ago(std::size_t lag) const {
    DREY_ASSERT(lag < Capacity);
    return values_[(newest_ - lag) & (Capacity - 1)];
  }
  [[nodiscard]] const Value& newest() const { return values_[newest_]; }

 private:
  std::array<Value, Capacity> values_{};
  std::size_t newest_ = Capacity - 1;
};
}  // namespace drey::trainer
