// size_class.hpp: which size class a request belongs to, and how long its blocks are.
//
// Classes: 1..64 in steps of 16 bytes to 1 KiB; then 8 an octave to 1 MiB (at most 12.5 % lost, of
// addresses rather than of memory where blocks are longer than a few pages).
// 225 floats are 900 bytes and fall into 912, not 1,024. Class 0 is the request of 0 bytes: it has
// no slabs, and its current slab is always the empty one, so that the hit path needs no test for
// it.
// Invariant (proved at the end): size_of(class_of(n)) >= n, and no smaller class would do.
// Read next: slab.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::core {
/// Index of a class; a type of its own because sizes and counts are numbers too.
enum class SizeClass : std::uint32_t {};

[[nodiscard]] constexpr std::size_t index_of(SizeClass size_class) noexcept {
  return static_cast<std::size_t>(size_class);
}

inline constexpr std::size_t kSmallSizeMax = 1_KiB;
inline constexpr std::size_t kMediumSizeMax = 1_MiB;
inline constexpr std::size_t kSmallClassCount = kSmallSizeMax / kMinAlignmentBytes;
inline constexpr std::size_t kClassesPerOctave = 8;
inline constexpr std::size_t kMediumClassCount = kClassesPerOctave * 10;
inline constexpr std::size_t kClassCount = 1 + kSmallClassCount + kMediumClassCount;
static_assert((kSmallSizeMax << 10) == kMediumSizeMax);
/// What slabs start on, and so the largest alignment a class can have.
inline constexpr std::size_t kClassAlignmentMax = 64_KiB;

/// Class of a small request. Requires: size <= kSmallSizeMax.
[[nodiscard]] constexpr SizeClass small_class_of(std::size_t size) noexcept {
  return static_cast<SizeClass>((size + kMinAlignmentBytes - 1) / kMinAlignmentBytes);
}

/// Class of a medium request. Requires: kSmallSizeMax < size <= kMediumSizeMax.
[[nodiscard]] constexpr SizeClass medium_class_of(std::size_t size) noexcept {
  const unsigned octave = log2_floor(size - 1);
  const std::size_t step = (size - 1) >> (octave - 3);  // 8..15 within the octave
  return static_cast<SizeClass>(1 + kSmallClassCount + (octave - 10) * kClassesPerOctave + step -
                                kClassesPerOctave);
}

/// Requires: size <= kMediumSizeMax.
[[nodiscard]] constexpr SizeClass class_of(std::size_t size) noexcept {
  return size <= kSmallSizeMax ? small_class_of(size) : medium_class_of(size);
}

/// Bytes of a block. Requires: not class 0.
[[nodiscard]] constexpr std::size_t size_of(SizeClass size_class) noexcept {
  const std::size_t index = index_of(size_class);
  if (index <= kSmallClassCount) return index * kMinAlignmentBytes;
  const std::size_t medium = index - 1 - kSmallClassCount;
  const std::size_t octave = medium / kClassesPerOctave;
  return (kClassesPerOctave + medium % kClassesPerOctave + 1) << (7 + octave);
}

/// Smallest class for `size` whose every block is aligned, given that slabs start on `alignment`.
/// Returns: class 0 where there is none. Requires: a power of two; size >= 1.
[[nodiscard]] constexpr SizeClass aligned_class_of(std::size_t size,
                                                   std::size_t alignment) noexcept {
  if (size > kMediumSizeMax || alignment > kClassAlignmentMax) return SizeClass{0};
  const std::size_t rounded = align_up(size, alignment);
  if (rounded <= kSmallSizeMax) return small_class_of(rounded);
  for (std::size_t index = index_of(class_of(size)); index < kClassCount; ++index) {
    const auto size_class = static_cast<SizeClass>(index);
    if (size_of(size_class) % alignment == 0) return size_class;
  }
  return SizeClass{0};
}

[[nodiscard]] consteval bool table_is_consistent() {
  for (std::size_t size = 1; size <= kMediumSizeMax; size += size < 3_KiB ? 1 : size / 64) {
    const std::size_t index = index_of(class_of(size));
    if (index == 0 || index >= kClassCount) return false;
    if (size_of(class_of(size)) < size) return false;
    if (index > 1 && size_of(static_cast<SizeClass>(index - 1)) >= size) return false;
  }
  return size_of(static_cast<SizeClass>(kClassCount - 1)) == kMediumSizeMax &&
         index_of(class_of(kMediumSizeMax)) == kClassCount - 1;
}
static_assert(table_is_consistent());
static_assert(size_of(class_of(225 * sizeof(float))) == 912);
}  // namespace drey::core
