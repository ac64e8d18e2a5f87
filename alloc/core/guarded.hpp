// guarded.hpp: a mapping of its own for a block, between two inaccessible pages.
//
// The block ends where the second page begins (to within 15 bytes, which are checked when it is
// freed), unless it is aligned to more than a page. A freed one loses its memory and its access at
// once, and its addresses are not used again before 16 more were freed.
// Secure builds: every block above 64 KiB. Others: those above 1 MiB, with DREY_GUARD_LARGE=1.
// Threads: any; the store's lock. Read next: large.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::core {
/// Maps a block of `size` bytes, all zero. Fails: null.
/// Requires: a power of two, 1 <= size <= kSizeMax.
[[nodiscard]] std::byte* map_guarded(std::size_t size, std::size_t alignment) noexcept;

/// True if nothing was written between the block's end and its guard page.
[[nodiscard]] bool guarded_tail_is_intact(const std::byte* block, std::size_t size) noexcept;

/// Gives it back.
void unmap_guarded(std::byte* block, std::size_t size) noexcept;
}  // namespace drey::core
