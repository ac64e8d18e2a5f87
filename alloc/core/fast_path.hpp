// fast_path.hpp: take a block, give a block back. Nearly every call ends here.
//
//   malloc(n)   class = (n + 15) / 16         free(p)   slab = slab_map[p / 64 KiB]
//               slab = heap.current[class]              slab.owner is my heap
//               pop slab.free                           push slab.free, --countdown != 0
//               empty: refill()                         else give_back_slowly(),
//               countdown_reached_zero()
//
// Neither locks, calls the system or performs an atomic read-modify-write; what is not ordinary
// leaves for slow_path.cpp. Order matters for fork: free pushes first and counts after, so a
// vanished thread leaves at worst a count that is too high.
// Invariants: slab.hpp. Read next: slow_path.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/heap.hpp"
#include "core/secure_path.hpp"
#include "core/slab_map.hpp"
#include "core/thread_heap.hpp"

#include <cstddef>

namespace drey::core {
/// Takes a block of `size_class` when the current slab's list is empty. Fails: null.
[[nodiscard]] void* refill(SizeClass size_class) noexcept;
/// The same from a heap that the caller holds, errno left alone. Requires: not class 0.
[[nodiscard]] void* refill_from(Heap& heap, SizeClass size_class) noexcept;
/// A block, and whether every byte of it is known to read as zero.
struct FreshBlock {
  void* pointer = nullptr;
  bool zero = false;
};
/// As refill(). Requires: not class 0.
[[nodiscard]] FreshBlock refill_zeroed(SizeClass size_class) noexcept;
/// The same from a heap that the caller holds, errno left alone.
[[nodiscard]] FreshBlock refill_held(Heap& heap, SizeClass size_class) noexcept;
/// Blocks above kSmallSizeMax. Fails: null, also for sizes above kSizeMax.
[[nodiscard]] void* take_above_small(std::size_t size) noexcept;
/// Frees that are no hit: null, foreign, large, another heap's, any while the map is not flat.
void give_back_slowly(void* pointer) noexcept;
/// The second free of a block in a row.
[[gnu::cold]] void report_double_free(void* pointer) noexcept;
/// Heap::countdown_reached_zero on the slab's owner, which the caller holds.
void countdown_reached_zero(Slab* slab) noexcept;
/// A block of another heap's slab: towards it.
void give_back_remotely(Slab* slab, void* pointer) noexcept;

/// Pops the current slab of a class of a heap that the caller holds. Fails: null when its list is
/// empty; nothing has changed then.
[[nodiscard, gnu::always_inline]] inline void* take_hit_from(Heap& heap,
                                                             SizeClass size_class) noexcept {
  Slab* const slab = heap.current[index_of(size_class)];
  Block* const block = slab->free;
  if (block == nullptr) [[unlikely]]
    return nullptr;
  slab->free = next_of(block);
  return block;
}

/// The same from the calling thread's heap.
[[nodiscard, gnu::always_inline]] inline void* take_hit(SizeClass size_class) noexcept {
  return take_hit_from(*this_heap, size_class);
}

/// Takes a block of `size_class` from the calling thread's heap. Fails: null.
[[nodiscard, gnu::always_inline]] inline void* take_class(SizeClass size_class) noexcept {
  void* const block = take_hit(size_class);
  if (block == nullptr) [[unlikely]]
    return refill(size_class);
  return block;
}

/// Takes a block of at least `size` bytes. Fails: null.
[[nodiscard, gnu::always_inline]] inline void* take(std::size_t size) noexcept {
  if constexpr (kSecure) return take_checked(size);
  if (size > kSmallSizeMax) [[unlikely]]
    return take_above_small(size);
  return take_class(small_class_of(size));
}

/// Gives a block back to its slab. Requires: slab->owner is this_heap, or a private heap that the
/// caller holds.
[[gnu::always_inline]] inline void give_back_own(Slab* slab, void* pointer) noexcept {
  auto* const block = static_cast<Block*>(pointer);
  Block* const head = slab->free;
  // The plain double free, seen for the price of a compare: the block would link to itself.
  if (block == head) [[unlikely]] {
    return report_double_free(pointer);
  }
  link(block, head);
  slab->free = block;
  if (--slab->countdown == 0) [[unlikely]]
    countdown_reached_zero(slab);
}

/// Gives a block back that any thread may have taken; null and foreign pointers too.
[[gnu::always_inline]] inline void give_back(void* pointer) noexcept {
  if constexpr (kSecure) return give_back_checked(pointer);
  Slab* const slab = slab_map.find_unchecked(pointer);
  // Relaxed: only this thread can have made it this_heap, or unmake it.
  if (slab->owner.load(std::memory_order_relaxed) != this_heap) [[unlikely]] {
    return give_back_slowly(pointer);
  }
  give_back_own(slab, pointer);
}
}  // namespace drey::core
