// batch.hpp: many blocks of one size in one call, many frees in one call.
//
// Taking: whole runs off the current slab's list, then straight off its untouched part, which is
// not even written. Giving back: neighbours in the array that are in one slab become one chain, and
// go home with one update of the slab, or to another thread's with one compare-and-swap.
// Contract: as single calls, block by block: the blocks of a batch may go back singly, and single
// blocks, null and blocks of any heap or thread may be in a batch that goes back.
// Read next: fast_path.hpp, remote_free.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/private_heap.hpp"

#include <cstddef>

namespace drey::core {
/// Takes up to `count` blocks of at least `size` bytes each into blocks[0], blocks[1], ...
/// Returns: how many it took; fewer than `count` only where memory ran out (errno = ENOMEM), the
/// rest of the array is untouched then.
[[nodiscard]] std::size_t take_batch(std::size_t size, void** blocks, std::size_t count) noexcept;

/// The same from a private heap. Threads: the holder.
[[nodiscard]] std::size_t take_batch_private(PrivateHeap& heap, std::size_t size, void** blocks,
                                             std::size_t count) noexcept;

/// Gives `count` blocks back; the array is not changed.
void give_back_batch(void* const* blocks, std::size_t count) noexcept;
}  // namespace drey::core
