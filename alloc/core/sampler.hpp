// sampler.hpp: which of a heap's blocks the profile samples, so that the rest of them cost nothing.
//
// Each class of a heap has a budget: the number of blocks to its next sample, drawn from the exponential
// distribution, so that a block of n bytes is sampled with probability 1 - e^(-n / mean), as if all
// the heap's bytes were one line. Neither hit path counts: see Budget. Heaps join and leave at the
// first slow path after a change. A sampled block is a large block whatever its size: its free
// finds the mark on the slow path.
// Threads: a sampler is its heap's. Read next: profile.hpp, slow_path.cpp (refill).
// SPDX-License-Identifier: MIT
#pragma once

#include "core/heap.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::core {
/// While a profile is on, a class is in one of two ways; room is a slab's list and untouched blocks.
/// Far from its sample: the current slab is where it always is. What it can hand out before a slow path
///   comes by is its list and what is freed into it, and the latter is bounded by the slab's countdown,
///   which a current slab does not need otherwise: list + countdown <= blocks left. On the slow
///   path the blocks taken are room then + frees - room now, exactly.
/// Near it: Heap::current holds the empty slab, the real one stands in Heap::kept; so every malloc comes
///   to refill(), which counts one by one.
struct Budget {
  std::int64_t left_blocks;    ///< to the sample, as of the last slow path; below zero: it is due
  std::uint32_t room;          ///< of the current slab then; only where `far`
  std::uint32_t free_allowed;  ///< its countdown then; only where `far`
  bool far;
  bool drawn;  ///< left_blocks means something
};

struct Sampler {
  CurrentSlabs kept;  ///< the real current slabs, near or far, while the profile is on
  Budget budgets[kClassCount];
  std::int64_t large_bytes_left;  ///< to the next sample among large and huge blocks
  std::uint64_t random;
};

/// Relaxed everywhere: heaps notice a change at some later slow path.
extern constinit std::atomic<bool> profile_is_on;

/// True if blocks of this heap are to be taken by take_counted().
[[nodiscard]] inline bool is_sampled(const Heap& heap) noexcept {
  return profile_is_on.load(std::memory_order_relaxed) || heap.kept != nullptr;
}

/// Near a sample: takes from the real current slab and counts, unless the sample is due or the list
/// empty. Fails: null; nothing has changed. Requires: heap.kept.
[[nodiscard, gnu::always_inline]] inline void* take_counted_hit(Heap& heap,
                                                                SizeClass size_class) noexcept {
  Budget& budget = heap.sampler->budgets[index_of(size_class)];
  Slab* const slab = (*heap.kept)[index_of(size_class)];
  Block* const block = slab->free;
  const std::int64_t left_blocks = budget.left_blocks - 1;
  if (block == nullptr || left_blocks < 0) [[unlikely]]
    return nullptr;
  budget.left_blocks = left_blocks;
  slab->free = next_of(block);
  return block;
}

/// Refill of a heap that is sampled, was or will be. Fails: null. Threads: the heap's.
[[nodiscard]] void* take_counted(Heap& heap, SizeClass size_class) noexcept;

// Called by heap.cpp where heap.kept is not null.
/// The current slab of a class is about to be parked.
void settle_budget(Heap& heap, SizeClass size_class) noexcept;
/// A current slab's countdown has reached zero.
void renew_budget(Heap& heap, Slab* slab) noexcept;
/// Blocks came back to a current slab that its countdown does not know of.
void add_room(Heap& heap, Slab* slab, std::uint32_t count) noexcept;

/// Has the calling thread's heap join or leave at once.
void follow_profile() noexcept;

/// Counts a large or huge block that the calling thread has just taken or resized in place.
void count_large(void* pointer) noexcept;
}  // namespace drey::core
