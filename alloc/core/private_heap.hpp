// private_heap.hpp: heaps that the program makes itself, to allocate in and to free as a whole.
//
// Invariants: such a heap holds only slabs whose every block was taken from it (it adopts none, and
// gives none to others), linked in `slabs`; its large and huge blocks are linked in `large`, and
// have it as their owner. Its memory is a heap's for ever, and is used again for the next one.
// Threads: one at a time, the holder, may call anything here on a heap; nothing binds a heap to a
// thread, so it is handed over by whatever orders two threads (a lock, a join). Any thread may free
// single blocks at any time with give_back(). They go to the slab at once, never through an outbox:
// when every such call has returned, each announced slab is in the heap's stack, so the holder can
// clear all of it and release slabs with live blocks (rule 3 of remote_free.hpp holds).
// Read next: private_heap.cpp; remote_free.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/heap.hpp"
#include "core/large.hpp"
#include "os/lock.hpp"

#include <cstddef>

namespace drey::core {
struct PrivateHeap : Heap {
  Slab* slabs;                  ///< all of them, full ones too; the holder's
  Slab* large;                  ///< large and huge blocks; under private_heap_lock()
  PrivateHeap* next_destroyed;  ///< in the list of those to use again; under the same lock
};

/// True while the program holds `heap`. Relaxed: false for a thread's heap at any time.
[[nodiscard]] inline bool is_private(const Heap& heap) noexcept {
  return heap.state.load(std::memory_order_relaxed) == HeapState::kPrivate;
}

/// False, and reported, for a heap after its end; false for one that was lost in a fork.
[[nodiscard]] bool may_use(const PrivateHeap& heap) noexcept;

/// Fails: null; no memory.
[[nodiscard]] PrivateHeap* make_private_heap() noexcept;

/// Frees every block, live or not, and the heap. Requires: no call that frees a block of it, in any
/// thread, is under way or to come.
void destroy_private_heap(PrivateHeap& heap) noexcept;

/// Frees every block, live or not; the heap keeps one small slab of each class it used last.
/// Requires: as destroy_private_heap().
void free_all(PrivateHeap& heap) noexcept;

/// Takes a block of at least `size` bytes, 16-aligned. Fails: null, errno = ENOMEM.
[[nodiscard]] void* take_private(PrivateHeap& heap, std::size_t size) noexcept;
/// The same, every byte zero.
[[nodiscard]] void* take_private_zeroed(PrivateHeap& heap, std::size_t size) noexcept;
/// The same, on a multiple of a power of two up to kSizeMax.
[[nodiscard]] void* take_private_aligned(PrivateHeap& heap, std::size_t alignment,
                                         std::size_t size) noexcept;
/// Resizes a block of this heap, in place if it can be. Requires: size >= 1. Fails: null; the block
/// is untouched.
[[nodiscard]] void* resize_private(PrivateHeap& heap, void* pointer, std::size_t size) noexcept;

/// Gives back a block: one of this heap's slabs without an atomic; any other as give_back() does.
void give_back_private(PrivateHeap& heap, void* pointer) noexcept;

/// True for the first byte of a place of this heap's where a block can be. Threads: any that keeps
/// `pointer` from being freed meanwhile.
[[nodiscard]] bool is_of_private(const PrivateHeap& heap, const void* pointer) noexcept;

/// Takes in what other threads have freed, and gives empty slabs back to the store.
void collect_private(PrivateHeap& heap) noexcept;

struct PrivateHeapCounts {
  std::size_t slab_count, slab_bytes, live_blocks, live_bytes, large_count, large_bytes;
};
/// Counts what the heap holds. Cost: a visit of each slab and large block.
[[nodiscard]] PrivateHeapCounts count_private(PrivateHeap& heap) noexcept;

/// What a walk calls for each live block; false ends it. May neither take from the heap nor free
/// a block of it.
using BlockVisitor = bool (*)(void* block, std::size_t bytes, void* context);
/// Visits every live block once. Returns: false if the visitor ended it. Requires: no other thread
/// frees a block of the heap meanwhile.
bool walk_private(PrivateHeap& heap, BlockVisitor visitor, void* context) noexcept;

/// Guards the `large` lists and the list of destroyed heaps. Innermost: no lock is taken in it.
[[nodiscard]] os::Lock& private_heap_lock() noexcept;

// For the core: a slab or large block enters or leaves its private heap's list.
void hold_slab(Heap& heap, Slab* slab) noexcept;
void let_go_of_slab(Heap& heap, Slab* slab) noexcept;
void hold_large(PrivateHeap& heap, Slab* slab) noexcept;
void let_go_of_large(Slab* slab) noexcept;
}  // namespace drey::core
