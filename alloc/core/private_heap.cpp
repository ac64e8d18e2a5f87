// private_heap.cpp: birth, end and lists of private heaps. Blocks: private_blocks.cpp.
// Read next: private_heap.hpp for who may call what.
// SPDX-License-Identifier: MIT
#include "core/private_heap.hpp"

#include "core/metadata.hpp"
#include "core/misuse.hpp"
#include "core/process.hpp"
#include "core/purge.hpp"
#include "core/remote_free.hpp"
#include "core/thread_heap.hpp"

#include <new>

namespace drey::core {
namespace {
constinit os::Lock heap_lock;
constinit PrivateHeap* destroyed_heaps = nullptr;

void enter(Slab*& front, Slab* slab) noexcept {
  slab->previous_held = nullptr;
  slab->next_held = front;
  if (front != nullptr) front->previous_held = slab;
  front = slab;
}

void leave(Slab*& front, Slab* slab) noexcept {
  if (slab->previous_held != nullptr) {
    slab->previous_held->next_held = slab->next_held;
  } else {
    front = slab->next_held;
  }
  if (slab->next_held != nullptr) slab->next_held->previous_held = slab->previous_held;
  slab->next_held = nullptr;
  slab->previous_held = nullptr;
}

[[nodiscard]] PrivateHeap* reuse_heap() noexcept {
  const os::LockHolder hold(heap_lock);
  PrivateHeap* const heap = destroyed_heaps;
  if (heap != nullptr) destroyed_heaps = heap->next_destroyed;
  return heap;
}

/// Forgets every chain that other threads have handed over. Every announced slab is in the stack:
/// the calls that announced them have returned.
void drop_announcements(PrivateHeap& heap) noexcept {
  // Acquire: the links of the stack; pairs with the push in announce().
  Slab* slab = heap.announced.exchange(nullptr, std::memory_order_acquire);
  while (slab != nullptr) {
    Slab* const next = slab->announce_next.load(std::memory_order_relaxed);
    // Relaxed: nobody else uses the slab any more, and what is in the chain does not matter.
    slab->remote.store(0, std::memory_order_relaxed);
    slab = next;
  }
}

/// Empties a slab whatever is live in it. Requires: announcements dropped, the queues cleared.
void empty(PrivateHeap& heap, Slab* slab, bool keep) noexcept {
  DREY_ASSERT(slab->remote.load(std::memory_order_relaxed) == 0);
  slab->next = nullptr;
  slab->previous = nullptr;
  if (keep && slab->state == SlabState::kCurrent && slab->slice_count == kSmallSlabSlices) {
    slab->free = nullptr;
    slab->carved = 0;
    slab->countdown = Slab::kCurrentBias;
    slab->is_zero = false;
    return;
  }
  slab->is_reserve = false;
  if (slab->state == SlabState::kCurrent) heap.current[index_of(slab->size_class)] = &empty_slab;
  slab->become_queued(0);
  heap.release(slab);
}

void empty_all(PrivateHeap& heap, bool keep) noexcept {
  purge_if_due();  // before anything is given back: see purge.cpp
  {
    const BusyScope busy_scope(heap);
    drop_announcements(heap);
    for (Slab*& front : heap.with_room) front = nullptr;
    heap.reserve_bytes = 0;
    for (Slab* slab = heap.slabs; slab != nullptr;) {
      Slab* const next = slab->next_held;
      empty(heap, slab, keep);
      slab = next;
    }
  }
  // Without the lock: no other thread frees blocks of this heap now. Each leaves the list itself.
  while (heap.large != nullptr) give_back_large(heap.large, heap.large->start);
}
}  // namespace

os::Lock& private_heap_lock() noexcept {
  return heap_lock;
}

bool may_use(const PrivateHeap& heap) noexcept {
  const HeapState state = heap.state.load(std::memory_order_relaxed);
  if (state == HeapState::kDestroyed) report_misuse("use of a destroyed heap", &heap);
  return state == HeapState::kPrivate;
}

PrivateHeap* make_private_heap() noexcept {
  // Blocks that are freed as a whole have no entries to check: a secure build makes no such heap.
  if constexpr (kSecure) return nullptr;
  start_process();
  PrivateHeap* heap = reuse_heap();
  if (heap != nullptr) {
    // Relaxed: who gets the heap from here gets it by something that orders it.
    heap->state.store(HeapState::kPrivate, std::memory_order_relaxed);
    return heap;
  }
  void* const place = take_metadata(sizeof(PrivateHeap), alignof(PrivateHeap));
  if (place == nullptr) return nullptr;
  heap = new (place) PrivateHeap{};
  heap->state.store(HeapState::kPrivate, std::memory_order_relaxed);
  enter_heap_list(heap);
  return heap;
}

void free_all(PrivateHeap& heap) noexcept {
  if (may_use(heap)) empty_all(heap, true);
}

void destroy_private_heap(PrivateHeap& heap) noexcept {
  if (!may_use(heap)) return;
  empty_all(heap, false);
  const os::LockHolder hold(heap_lock);
  heap.state.store(HeapState::kDestroyed, std::memory_order_relaxed);
  heap.next_destroyed = destroyed_heaps;
  destroyed_heaps = &heap;
}

void collect_private(PrivateHeap& heap) noexcept {
  if (!may_use(heap)) return;
  purge_if_due();  // before anything is given back: see purge.cpp
  const BusyScope busy_scope(heap);
  heap.serve_announcements();
  for (std::size_t index = 1; index < kClassCount; ++index) {
    heap.park_current(static_cast<SizeClass>(index));
  }
  heap.release_empty_slabs();
}

void hold_slab(Heap& heap, Slab* slab) noexcept {
  enter(static_cast<PrivateHeap&>(heap).slabs, slab);
}

void let_go_of_slab(Heap& heap, Slab* slab) noexcept {
  leave(static_cast<PrivateHeap&>(heap).slabs, slab);
}

void hold_large(PrivateHeap& heap, Slab* slab) noexcept {
  const os::LockHolder hold(heap_lock);
  // Relaxed: nobody else has the block yet; its way to another thread orders it.
  slab->owner.store(&heap, std::memory_order_relaxed);
  enter(heap.large, slab);
}

void let_go_of_large(Slab* slab) noexcept {
  const os::LockHolder hold(heap_lock);
  auto* const heap = static_cast<PrivateHeap*>(slab->owner.load(std::memory_order_relaxed));
  leave(heap->large, slab);
  slab->owner.store(nullptr, std::memory_order_relaxed);
}
}  // namespace drey::core
