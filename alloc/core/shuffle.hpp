// shuffle.hpp: the numbers 0 ... count - 1 in an order drawn by chance: in which a secure build
// hands fresh blocks out, so that nobody can tell which one lies behind which.
// Read next: slab.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/secure.hpp"

#include <cstddef>
#include <cstdint>

namespace drey::core {
/// Most numbers in one shuffle.
inline constexpr std::size_t kShuffledMax = 1024;

class Shuffle {
 public:
  /// Requires: count <= kShuffledMax. Source: Fisher and Yates, built from the inside out.
  void draw(std::uint32_t count) noexcept {
    for (std::uint32_t index = 0; index < count; ++index) {
      const std::uint64_t high = random_number() >> 32;
      const auto other = static_cast<std::uint32_t>(high * (index + 1) >> 32);
      order_[index] = order_[other];
      order_[other] = static_cast<std::uint16_t>(index);
    }
  }
  [[nodiscard]] std::size_t operator[](std::size_t index) const noexcept { return order_[index]; }

 private:
  std::uint16_t order_[kShuffledMax];  // not initialised: draw() writes what is read
};
}  // namespace drey::core
