// thread_heap.hpp: which heap is mine: made on first use, orphaned when the thread ends, adopted
// whole by the next thread that starts, or slab by slab by threads that need one.
//
// Invariant: this_heap is never null. It begins as the static empty heap, whose current slabs are
// all empty and which owns nothing, so neither hit path asks whether there is a heap yet; after the
// thread's end it is another such heap, and blocks come from the shared heap, under a lock.
// Threads: as each function says. Read next: shared_heap.hpp, remote_free.hpp, fork.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/heap.hpp"

#include <cstddef>

namespace drey::core {
extern constinit Heap empty_heap;
extern constinit Heap finished_heap;

/// One pointer of thread-local storage, initial-exec: no call into the dynamic loader, ever.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Heap* this_heap;

/// The calling thread's heap, made or adopted if need be.
/// Fails: null when the thread is past its end or memory for a heap ran out: use the shared heap.
[[nodiscard]] Heap* make_this_heap() noexcept;
[[nodiscard]] inline Heap* ensure_heap() noexcept {
  Heap* const heap = this_heap;
  return heap != &empty_heap && heap != &finished_heap ? heap : make_this_heap();
}

/// If `heap` is an orphan with announced slabs, serves them: memory that other threads free into a
/// dead thread's slabs goes back without waiting for an adopter. Threads: any.
void serve_if_orphan(Heap* heap) noexcept;

/// Takes a slab with room of this class from an orphan. Fails: null. Threads: the owner of `taker`.
[[nodiscard]] Slab* adopt_slab(Heap& taker, SizeClass size_class) noexcept;

/// Serves and releases what orphans and the shared heap hold. For collect().
void collect_orphans() noexcept;

/// Moves runs from every heap's cache to the store: all, or those that have aged.
void release_cached_runs(bool aged_only) noexcept;

/// Adds a new heap to the list of all. Requires: its state is set.
void enter_heap_list(Heap* heap) noexcept;

struct HeapCounts {
  std::size_t heaps, orphans, adopted, slab_bytes, cached_bytes, remote_chains;
};
[[nodiscard]] HeapCounts count_heaps() noexcept;

/// Calls visit(heap, argument) for every heap, the shared one too. Holds the list's lock.
void visit_heaps(void (*visit)(const Heap& heap, void* argument) noexcept, void* argument) noexcept;

/// Every heap that no thread owns, and the calling thread's, checked. For tests at quiet points,
/// when no other thread allocates: `all` checks the other threads' too.
[[nodiscard]] bool heaps_are_consistent(bool all) noexcept;

// For fork.cpp.
void acquire_heap_locks() noexcept;
void release_heap_locks() noexcept;
/// In the child: every other thread's heap becomes an orphan, or is lost if it was being changed.
void orphan_vanished_threads() noexcept;
}  // namespace drey::core
