// counter.hpp: a statistic written by one thread and read by all.
// Invariant: only the owning thread adds; so a relaxed load and store suffice and no lock prefix is
// ever paid. Readers see some recent value of each counter, not one instant of several.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace drey {
/// Threads: add() by the owner only; value() by any.
class Counter {
 public:
  /// Relaxed on both sides: the value orders nothing else; pairs with value().
  void add(std::uint64_t amount) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void subtract(std::uint64_t amount) noexcept { add(~amount + 1); }

  /// Relaxed; pairs with add().
  [[nodiscard]] std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};
}  // namespace drey
