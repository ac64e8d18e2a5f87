// resize.hpp: what a descriptor says of a pointer into it, and the part of realloc that is the same
// wherever a copy would go. Inline: realloc in small steps ends here.
// Threads: any that holds the block. Read next: entry.cpp, resize.cpp, private_blocks.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/entry.hpp"
#include "core/large.hpp"
#include "core/misuse.hpp"
#include "core/slab.hpp"

#include <cstddef>

namespace drey::core {
/// True if `pointer` is the first byte of a place where a block can be. `slab` may be null.
[[nodiscard]] inline bool is_block(const Slab* slab, const void* pointer) noexcept {
  if (slab == nullptr) return false;
  return slab->is_large_or_huge() ? pointer == slab->start : slab->is_block_start(pointer);
}

[[nodiscard]] inline std::size_t usable_bytes_of(const Slab* slab) noexcept {
  return slab->is_large_or_huge() ? slab->run_bytes : slab->block_bytes;
}

/// What is left to do of a resize.
struct ResizePlan {
  bool done;           ///< nothing: `pointer` is the answer, null where the resize failed
  void* pointer;       ///< where the block is now
  std::size_t usable;  ///< not done: bytes of the block, which is untouched and must be copied
};

/// Resizes without a copy if that can be: in place, or by moving a mapping. `slab` is where
/// `pointer` lies, or null; what is no block is reported. Requires: size >= 1.
[[nodiscard]] inline ResizePlan resize_without_copy(Slab* slab, void* pointer,
                                                    std::size_t size) noexcept {
  if (!is_block(slab, pointer)) {
    report_misuse("realloc of invalid pointer", pointer);
    return {true, nullptr, 0};
  }
  if (size > kSizeMax) return {true, nullptr, 0};
  const std::size_t usable = usable_bytes_of(slab);
  // Below that a large block is one that the profile sampled: it stays where any other would.
  if (slab->is_large_or_huge() && size > kMediumSizeMax) {
    void* const resized = resize_large(slab, size);
    return {resized != nullptr, resized, usable};
  }
  return {fits_in_place(usable, size), pointer, usable};
}
}  // namespace drey::core
