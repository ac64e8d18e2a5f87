// bits.hpp: powers of two and rounding; all constexpr, all free of overflow where they say so.
// Read next: units.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace drey {
/// True for 1, 2, 4, ...; false for 0. Not std::has_single_bit: without the popcnt instruction,
/// which a portable build cannot count on, that is a function call.
[[nodiscard]] constexpr bool is_power_of_two(std::size_t value) noexcept {
  return value != 0 && (value & (value - 1)) == 0;
}

/// `value` rounded down to a multiple of `alignment`. Requires: a power of two.
[[nodiscard]] constexpr std::size_t align_down(std::size_t value, std::size_t alignment) noexcept {
  return value & ~(alignment - 1);
}

/// `value` rounded up to a multiple of `alignment`.
/// Requires: a power of two, and value <= SIZE_MAX - alignment + 1 (callers bound sizes first).
[[nodiscard]] constexpr std::size_t align_up(std::size_t value, std::size_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// Exponent of the largest power of two that is <= value. Requires: value > 0.
[[nodiscard]] constexpr unsigned log2_floor(std::size_t value) noexcept {
  return static_cast<unsigned>(std::bit_width(value)) - 1;
}

/// value / divisor, rounded up. Requires: divisor > 0 and no overflow of value + divisor - 1.
[[nodiscard]] constexpr std::size_t divide_up(std::size_t value, std::size_t divisor) noexcept {
  return (value + divisor - 1) / divisor;
}

/// The number an address is. Pointers of different objects are compared this way only.
[[nodiscard]] inline std::uintptr_t address_of(const volatile void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// True if `pointer` is a multiple of `alignment`, a power of two.
[[nodiscard]] inline bool is_aligned(const void* pointer, std::size_t alignment) noexcept {
  return (address_of(pointer) & (alignment - 1)) == 0;
}
}  // namespace drey
