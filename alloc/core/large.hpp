// large.hpp: blocks that are no slab's: large ones own a run of slices, huge ones a mapping.
//
// Invariants: such a block starts where its descriptor says; nobody owns it, so whoever frees it
// does it all; run_bytes is what may be used. Only the first slice has a map entry: an interior
// pointer is found out.
// Threads: any.
// Read next: segment_store.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"

#include <cstddef>

namespace drey::core {
/// Longest block on slices of a segment; beyond, the system is asked directly.
inline constexpr std::size_t kLargeSizeMax = 32_MiB;

struct LargeBlock {
  void* pointer = nullptr;
  bool zero = false;  ///< every byte reads as zero
};

/// Takes a block above the medium sizes, or of an alignment that no class has.
/// Requires: size <= kSizeMax; a power of two. Fails: null pointer.
[[nodiscard]] LargeBlock take_large(std::size_t size, std::size_t alignment) noexcept;

/// A block for what realloc() moves because it grows: from kMappedGrowthMin on a mapping, which the
/// next growth moves without copying. Requires: size <= kSizeMax. Fails: null.
inline constexpr std::size_t kMappedGrowthMin = 16_MiB;
[[nodiscard]] void* take_growing(std::size_t size) noexcept;

/// Gives it back. A pointer that is not its start is reported.
void give_back_large(Slab* slab, void* pointer) noexcept;

/// Usable bytes a block of `size` would have. Requires: kMediumSizeMax < size <= kSizeMax.
[[nodiscard]] std::size_t good_large_size(std::size_t size) noexcept;

/// Resizes without copying: in place, or for huge blocks by moving the mapping.
/// Returns: where the block is now; null if it must be copied (nothing has changed).
/// Requires: size > kMediumSizeMax.
[[nodiscard]] void* resize_large(Slab* slab, std::size_t size) noexcept;

/// Grows a block where it is. Fails: false; nothing has changed. Requires: size > run_bytes.
[[nodiscard]] bool extend_large(Slab* slab, std::size_t size) noexcept;

/// Zeroes a large block that was in use: by giving its memory back where hardly any of it is there, as
/// after a purge of part of it or a use that touched little; else by writing. Returns: `block`.
void* zero_large(void* block, std::size_t bytes) noexcept;
}  // namespace drey::core
