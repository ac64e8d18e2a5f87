// shared_heap.hpp: the heap that is no thread's. Blocks of threads past their end come from it, and
// the first blocks that a thread takes of a short class: the thread borrows them.
//
// Why borrow: a slab of one's own costs a page of memory a class, and being opened and closed. A
// thread that takes a hundred blocks of fifty sizes and sleeps, or ends, has neither.
// Invariants: one thread at a time holds it; borrowed blocks are whole cache lines, so two threads
// never write to the same; the process's first thread borrows nothing; who gives a borrowed block
// back does so as with any other thread's block.
// Read next: thread_heap.hpp, slow_path.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/heap.hpp"
#include "os/lock.hpp"

namespace drey::core {
/// The heap of threads past their end, and of those for whose heap memory ran out. Blocks of it are
/// given back as any other thread's are.
[[nodiscard]] Heap& acquire_shared_heap() noexcept;
void release_shared_heap() noexcept;

/// Takes back what was freed into it and returns its empty slabs, unless somebody holds it.
void serve_shared_heap() noexcept;

/// For who counts, and for fork.cpp. The heap may change meanwhile unless the lock is held.
[[nodiscard]] const Heap& shared_heap_to_count() noexcept;
[[nodiscard]] os::Lock& shared_heap_lock() noexcept;

[[nodiscard]] inline bool is_shared(const Heap& heap) noexcept {
  // Relaxed: set before the first block of it is handed out, and never changed.
  return heap.state.load(std::memory_order_relaxed) == HeapState::kShared;
}

/// True while `heap` has no slab of the class and may take its next block of it from the shared heap.
/// Threads: the heap's.
[[nodiscard]] inline bool may_borrow(const Heap& heap, SizeClass size_class) noexcept {
  const std::size_t index = index_of(size_class);
  return index <= kSmallClassCount && heap.borrows_left[lines_of(size_class)] != 0 &&
         heap.kept == nullptr && heap.current[index] == &empty_slab &&
         heap.with_room[index] == nullptr;
}

/// Takes a block of whole cache lines from the shared heap. What is behind the class's own bytes is
/// zero, as far as the block is usable. Fails: null. Requires: may_borrow(). Threads: the heap's.
[[nodiscard]] void* borrow_block(Heap& heap, SizeClass size_class) noexcept;
}  // namespace drey::core
