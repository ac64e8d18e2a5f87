// guarded.hpp: a mapping of its own for a block, between two inaccessible pages.
//
// The block ends where the second page begins (to within 15 bytes, which are checked when it is
// freed), unless it is aligned to more than a page. Freed ones wait: see
// guarded_quarantine.hpp. What realloc() has moved once begins on a page and has room behind it: it
// grows in place, and its guard moves along.
// Secure builds: every block above 64 KiB. Others: those above 1 MiB, with DREY_GUARD_LARGE=1.
// Threads: any; the store's lock. Read next: large.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::core {
struct GuardedBlock {
  std::byte* start = nullptr;      ///< null: failed
  std::size_t reserved_pages = 0;  ///< of all its addresses, guards and room included; 32 bits
};

/// Maps a block of `size` bytes, all zero. With room to grow it begins on a page instead of ending
/// on one, and as much again is reserved behind it.
/// Requires: a power of two, 1 <= size <= kSizeMax.
[[nodiscard]] GuardedBlock map_guarded(std::size_t size, std::size_t alignment,
                                       bool has_room) noexcept;

/// Grows it in place. Fails: false; there is no room, or no memory. Requires: size > old_size.
[[nodiscard]] bool grow_guarded(const GuardedBlock& block, std::size_t old_size,
                                std::size_t size) noexcept;

/// True if nothing was written between the block's end and its guard page.
[[nodiscard]] bool guarded_tail_is_intact(const std::byte* block, std::size_t size) noexcept;

/// Gives back a block of `size` bytes.
void unmap_guarded(const GuardedBlock& block, std::size_t size) noexcept;
}  // namespace drey::core
