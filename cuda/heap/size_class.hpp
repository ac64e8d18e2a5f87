// size_class.hpp: how sizes of device memory are rounded: 512 B granules to 4 KiB, then eight steps an
// octave to 1 MiB; above that, granules again.
//
// Invariants, checked below for every size: a class is at least what was asked for; above 4 KiB it is at
// most 1/8 more, and below it less than a granule more.
// Read next: block_table.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace drey::cuda {
inline constexpr std::uint64_t kGranuleBytes = 512;
inline constexpr std::uint32_t kClassCount = 72;
inline constexpr std::uint8_t kNoClass = UINT8_MAX;
inline constexpr std::uint32_t kClassGranulesMax = 2048;
/// Blocks up to here share pages of their own; larger ones lie among the large blocks.
inline constexpr std::uint32_t kRegionGranulesMax = 256;

[[nodiscard]] constexpr std::uint32_t granules_of_class(std::uint32_t size_class) noexcept {
  if (size_class < 8) return size_class + 1;
  return (8 + (size_class - 8) % 8 + 1) << ((size_class - 8) / 8);
}

namespace detail {
consteval std::array<std::uint8_t, kClassGranulesMax + 1> make_classes() {
  std::array<std::uint8_t, kClassGranulesMax + 1> classes{};
  std::uint32_t size_class = 0;
  for (std::uint32_t granules = 1; granules <= kClassGranulesMax; ++granules) {
    while (granules_of_class(size_class) < granules) ++size_class;
    classes[granules] = static_cast<std::uint8_t>(size_class);
  }
  return classes;
}

consteval bool classes_are_tight(const std::array<std::uint8_t, kClassGranulesMax + 1>& classes) {
  for (std::uint32_t granules = 1; granules <= kClassGranulesMax; ++granules) {
    const std::uint32_t rounded = granules_of_class(classes[granules]);
    if (rounded < granules || (rounded - granules) * 8 > granules) return false;
    if (granules <= 8 && rounded != granules) return false;
  }
  return granules_of_class(kClassCount - 1) == kClassGranulesMax;
}
}  // namespace detail

/// By granules, 1 to kClassGranulesMax.
inline constexpr auto kClassOfGranules = detail::make_classes();
static_assert(detail::classes_are_tight(kClassOfGranules));

/// `bytes` in granules, rounded up. Requires: no overflow of bytes + 511.
[[nodiscard]] constexpr std::uint64_t granules_for(std::uint64_t bytes) noexcept {
  return (bytes + kGranuleBytes - 1) / kGranuleBytes;
}
}  // namespace drey::cuda
