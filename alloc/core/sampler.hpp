// sampler.hpp: which of a heap's blocks the profile samples: the one with the byte that a countdown of
// exponentially distributed length falls on, so a block of n bytes with probability 1 - e^(-n / mean).
//
// While the profile is on, a heap's table of current slabs holds the empty slab alone and the real ones
// stand in here: so every malloc comes to refill(), where bytes are counted, and the hit path is the
// same instructions, on or off. Heaps join and leave at the first refill after a change.
// A sampled block is a large block whatever its size: its free finds the mark on the slow path.
// Threads: a sampler is its heap's. Read next: profile.hpp, slow_path.cpp (refill).
// SPDX-License-Identifier: MIT
#pragma once

#include "core/heap.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::core {
struct Sampler {
  CurrentSlabs current;  ///< while the profile is on; else the empty slab alone
  std::uint64_t random;
};

/// Relaxed everywhere: heaps notice a change at some later refill.
extern constinit std::atomic<bool> profile_is_on;

/// True if blocks of this heap are to be taken by take_counted() first.
[[nodiscard]] inline bool is_sampled(const Heap& heap) noexcept {
  return profile_is_on.load(std::memory_order_relaxed) || heap.kept != nullptr;
}

/// Takes from the real current slab and counts, where neither a sample is due nor the list empty.
/// Fails: null; nothing has changed. Requires: heap.kept. Cost: fourteen instructions.
[[nodiscard, gnu::always_inline]] inline void* take_counted_hit(Heap& heap,
                                                                SizeClass size_class) noexcept {
  Slab* const slab = (*heap.kept)[index_of(size_class)];
  Block* const block = slab->free;
  const std::int64_t left_bytes = heap.left_bytes - std::int64_t{slab->block_bytes};
  if (block == nullptr || left_bytes < 0) [[unlikely]]
    return nullptr;
  heap.left_bytes = left_bytes;
  slab->free = block->next;
  return block;
}

/// Counts a block of the class that is no counted hit; takes it where it is a sample.
/// Returns: null where refill has to go on as always. Threads: the heap's.
[[nodiscard]] void* take_counted(Heap& heap, SizeClass size_class) noexcept;

/// Counts a large or huge block that the calling thread has just taken or resized in place.
void count_large(void* pointer) noexcept;
}  // namespace drey::core
