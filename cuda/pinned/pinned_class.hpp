// pinned_class.hpp: how sizes of pinned host memory are rounded, and how many blocks of a size one driver
// allocation has: the device's classes, carried on to 1 TiB.
//
// Invariants, checked below: a class is at least what was asked for; above 4 KiB it is at most 1/8 more, below
// it less than a granule more. A slab is whole pages of the kernel, so nothing is lost at its end.
// Read next: slab_table.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "heap/size_class.hpp"

#include <bit>
#include <cstdint>

namespace drey::cuda {
inline constexpr std::uint32_t kPinnedClassCount = 232;
inline constexpr std::uint64_t kPinnedBytesMax = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kHostPageBytes = 4096;

[[nodiscard]] constexpr std::uint64_t bytes_of_class(std::uint32_t size_class) noexcept {
  return granules_of_class(size_class) * kGranuleBytes;
}

/// Requires: 0 < bytes <= kPinnedBytesMax.
[[nodiscard]] constexpr std::uint32_t pinned_class_for(std::uint64_t bytes) noexcept {
  const std::uint64_t last = granules_for(bytes) - 1;
  if (last < 8) return static_cast<std::uint32_t>(last);
  const auto shift = static_cast<std::uint32_t>(std::bit_width(last)) - 4;
  return 8 * shift + static_cast<std::uint32_t>(last >> shift);
}

/// The same, every block of which begins at a multiple of `alignment`, a power of two up to kHostPageBytes.
[[nodiscard]] constexpr std::uint32_t pinned_class_for(std::uint64_t bytes,
                                                       std::uint64_t alignment) noexcept {
  std::uint32_t size_class = pinned_class_for(bytes);
  while (bytes_of_class(size_class) % alignment != 0) ++size_class;
  return size_class;
}

/// Many small blocks share an allocation of at most 1 MiB; large ones have one each.
[[nodiscard]] constexpr std::uint32_t blocks_of_slab(std::uint32_t size_class) noexcept {
  const std::uint32_t granules = granules_of_class(size_class);
  if (granules <= 32) return 64;
  return granules <= kRegionGranulesMax ? 8 : 1;
}

namespace detail {
consteval bool pinned_classes_are_tight() {
  for (std::uint32_t granules = 1; granules <= kClassGranulesMax; ++granules) {
    if (pinned_class_for(granules * kGranuleBytes) != kClassOfGranules[granules]) return false;
  }
  for (std::uint32_t size_class = 0; size_class < kPinnedClassCount; ++size_class) {
    const std::uint64_t bytes = bytes_of_class(size_class);
    if (pinned_class_for(bytes) != size_class) return false;
    if (bytes * blocks_of_slab(size_class) % kHostPageBytes != 0) return false;
    if (size_class < 8) continue;
    const std::uint64_t least = bytes_of_class(size_class - 1) + 1;
    if (pinned_class_for(least) != size_class || (bytes - least) * 8 > least) return false;
  }
  return bytes_of_class(kPinnedClassCount - 1) == kPinnedBytesMax;
}
}  // namespace detail
static_assert(detail::pinned_classes_are_tight());
}  // namespace drey::cuda
