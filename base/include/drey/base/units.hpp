// units.hpp: sizes with their unit in the name.
// Invariants: byte constants are written as multiples of KiB, MiB, GiB, never as decimal numbers.
// Read next: bits.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey {
/// Bytes in `count` kibibytes: `64_KiB`.
consteval std::size_t operator""_KiB(unsigned long long count) {
  return count << 10;
}
/// Bytes in `count` mebibytes.
consteval std::size_t operator""_MiB(unsigned long long count) {
  return count << 20;
}
/// Bytes in `count` gibibytes.
consteval std::size_t operator""_GiB(unsigned long long count) {
  return count << 30;
}

/// Unit of sharing between cores on x86-64 and most aarch64 parts.
inline constexpr std::size_t kCacheLineBytes = 64;
/// What malloc promises for every block, whatever its size: alignof(std::max_align_t).
inline constexpr std::size_t kMinAlignmentBytes = 16;
static_assert(alignof(std::max_align_t) <= kMinAlignmentBytes);
}  // namespace drey
