// check.hpp: everything that must hold between store, map, slabs and heaps, as code.
//
// Slab, Segment and Heap check themselves (invariants_hold()); this walks every slice of the store
// and so also finds full slabs, which hang in no list, and checks what no part can see alone: that
// runs neither overlap nor leak, that the map says the same as the descriptors, that no block is in
// two lists. For tests, fuzzers and stress at quiet points: nothing in the allocator calls it.
// Read next: segment.hpp, heap.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::core {
/// What a walk over the store found.
struct CoreReport {
  const char* broken = nullptr;  ///< a sentence of what does not hold; null: everything holds
  const void* where = nullptr;   ///< the slab, segment or address it was seen at
  std::size_t slab_bytes = 0;    ///< in slabs of blocks
  std::size_t large_bytes = 0;   ///< in large blocks; huge ones are not the store's
  std::size_t idle_bytes = 0;    ///< held by nobody
  std::size_t live_blocks = 0;   ///< of slabs, handed out as their owners see it
};

/// Walks the whole store. Threads: any, while no other allocates or frees.
/// Cost: every free list and every slice.
[[nodiscard]] CoreReport check_core() noexcept;
}  // namespace drey::core
