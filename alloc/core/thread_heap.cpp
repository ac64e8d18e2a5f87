// thread_heap.cpp: birth, end and adoption of heaps. Read next: thread_heap.hpp.
// SPDX-License-Identifier: MIT
#include "core/thread_heap.hpp"

#include "core/metadata.hpp"
#include "core/process.hpp"
#include "core/purge.hpp"
#include "core/secure_path.hpp"
#include "core/segment_store.hpp"
#include "core/shared_heap.hpp"
#include "os/lock.hpp"
#include "os/os.hpp"

#include <climits>
#include <new>

namespace drey::core {
constinit Heap empty_heap{};
constinit Heap finished_heap{};
[[gnu::tls_model("initial-exec")]] constinit thread_local Heap* this_heap = &empty_heap;

namespace {
/// Guards the two lists below.
constinit os::Lock list_lock;
constinit Heap* all_heaps = nullptr;
constinit Heap* orphans = nullptr;
constinit std::size_t heap_count = 0;
constinit std::size_t adopted_count = 0;
/// Written under list_lock; read without, to skip the lock when there is nothing to adopt.
constinit std::atomic<std::size_t> orphan_count{0};

/// Orphans looked at for one slab: bounds the time under the lock.
constexpr int kOrphansTried = 8;
/// The exit hook re-arms itself until this round, so that other destructors still find the heap.
/// Not until the last one: there ThreadSanitizer ends the thread, and no code it watches may run
/// after.
constexpr std::uint32_t kExitRounds = PTHREAD_DESTRUCTOR_ITERATIONS - 2;

/// Takes an orphan for the calling thread or for a moment. Fails: false.
bool seize(Heap* heap, HeapState as) noexcept {
  HeapState expected = HeapState::kOrphan;
  // Sequentially consistent: see announce(). Also acquires what the last holder wrote.
  return heap->state.compare_exchange_strong(expected, as, std::memory_order_seq_cst);
}

void push_orphan(Heap* heap) noexcept {
  const os::LockHolder hold(list_lock);
  heap->next_orphan = orphans;
  orphans = heap;
  orphan_count.fetch_add(1, std::memory_order_relaxed);
}

Heap* adopt_heap() noexcept {
  const os::LockHolder hold(list_lock);
  for (Heap** link = &orphans; *link != nullptr; link = &(*link)->next_orphan) {
    Heap* const heap = *link;
    if (!seize(heap, HeapState::kOwned)) continue;
    *link = heap->next_orphan;
    orphan_count.fetch_sub(1, std::memory_order_relaxed);
    ++adopted_count;
    return heap;
  }
  return nullptr;
}

Heap* make_heap() noexcept {
  void* const place = take_metadata(sizeof(Heap), alignof(Heap));
  if (place == nullptr) return nullptr;
  auto* const heap = new (place) Heap{};
  heap->state.store(HeapState::kOwned, std::memory_order_relaxed);
  if constexpr (kSecure) heap->quarantine.seed(random_number());
  enter_heap_list(heap);
  return heap;
}

/// Serves an orphan that the caller has seized, and lets go of it.
void serve_and_let_go(Heap* heap) noexcept {
  heap->serve_announcements();
  heap->release_empty_slabs();
  // Sequentially consistent: pairs with the load in serve_if_orphan(), which comes again after it.
  heap->state.store(HeapState::kOrphan, std::memory_order_seq_cst);
}

void make_orphan(Heap* heap) noexcept {
  purge_if_due();  // before anything is given back: see purge.cpp
  {
    const BusyScope busy_scope(*heap);
    if constexpr (kSecure) flush_quarantine(*heap);
    heap->outbox.flush();
    heap->serve_announcements();
    for (std::size_t index = 1; index < kClassCount; ++index) {
      heap->park_current(static_cast<SizeClass>(index));
    }
    heap->release_empty_slabs();
    while (Slab* const slab = heap->runs.steal(false)) {
      segment_store.release(slab, slab->slice_count);
    }
    heap->exit_rounds = 0;
  }
  this_heap = &finished_heap;
  // Sequentially consistent: see announce().
  heap->state.store(HeapState::kOrphan, std::memory_order_seq_cst);
  push_orphan(heap);
  serve_if_orphan(heap);  // what was announced before the line above
}

void at_thread_exit(void* argument) noexcept {
  auto* const heap = static_cast<Heap*>(argument);
  if (heap->exit_rounds++ < kExitRounds && os::call_at_thread_exit(at_thread_exit, heap)) return;
  make_orphan(heap);
}
}  // namespace

void enter_heap_list(Heap* heap) noexcept {
  const os::LockHolder hold(list_lock);
  heap->next_heap = all_heaps;
  all_heaps = heap;
  ++heap_count;
}

Heap* make_this_heap() noexcept {
  Heap* heap = this_heap;
  if (heap == &finished_heap) return nullptr;
  start_process();
  heap = adopt_heap();
  if (heap == nullptr) heap = make_heap();
  if (heap == nullptr) return nullptr;
  // The process's first thread has slabs of its own at once: it is often the only one. Relaxed: any
  // one may be first.
  static constinit std::atomic<bool> is_first{true};
  if (!is_first.exchange(false, std::memory_order_relaxed)) heap->may_borrow_again();
  // Before anything below, which may allocate and come here again.
  this_heap = heap;
  // If it fails, the heap stays this thread's for ever: memory that is not reused, nothing worse.
  static_cast<void>(os::call_at_thread_exit(at_thread_exit, heap));
  return heap;
}

void serve_if_orphan(Heap* heap) noexcept {
  // Sequentially consistent, as the push before it: see announce(). A failing seize() means
  // somebody holds the heap, who looks again after letting go, and so sees our push.
  while (heap->state.load(std::memory_order_seq_cst) == HeapState::kOrphan &&
         heap->announced.load(std::memory_order_seq_cst) != nullptr &&
         seize(heap, HeapState::kServed)) {
    serve_and_let_go(heap);
  }
}

Slab* adopt_slab(Heap& taker, SizeClass size_class) noexcept {
  if (orphan_count.load(std::memory_order_relaxed) == 0) return nullptr;
  const os::LockHolder hold(list_lock);
  int tried = 0;
  for (Heap* heap = orphans; heap != nullptr && tried < kOrphansTried; heap = heap->next_orphan) {
    ++tried;
    if (!seize(heap, HeapState::kServed)) continue;
    heap->serve_announcements();
    Slab* const slab = heap->with_room[index_of(size_class)];
    if (slab != nullptr) {
      heap->unqueue(slab);
      heap->slab_bytes.subtract(slab->slice_count * kSliceBytes);
      taker.slab_bytes.add(slab->slice_count * kSliceBytes);
      // Release: the slab as it is now; pairs with the acquire in announce().
      slab->owner.store(&taker, std::memory_order_release);
    }
    if (heap->reserve_bytes != 0) heap->release_empty_slabs();
    heap->state.store(HeapState::kOrphan, std::memory_order_seq_cst);
    serve_if_orphan(heap);
    if (slab != nullptr) return slab;
  }
  return nullptr;
}

void collect_orphans() noexcept {
  serve_shared_heap();
  const os::LockHolder hold(list_lock);
  for (Heap* heap = orphans; heap != nullptr; heap = heap->next_orphan) {
    if (seize(heap, HeapState::kServed)) serve_and_let_go(heap);
    serve_if_orphan(heap);
  }
}

void release_cached_runs(bool aged_only) noexcept {
  const os::LockHolder hold(list_lock);
  for (Heap* heap = all_heaps; heap != nullptr; heap = heap->next_heap) {
    while (Slab* const slab = heap->runs.steal(aged_only)) {
      segment_store.release(slab, slab->slice_count, aged_only);
    }
  }
}

HeapCounts count_heaps() noexcept {
  const os::LockHolder hold(list_lock);
  HeapCounts counts{};
  counts.heaps = heap_count;
  counts.orphans = orphan_count.load(std::memory_order_relaxed);
  counts.adopted = adopted_count;
  counts.slab_bytes = shared_heap_to_count().slab_bytes.value();
  counts.remote_chains = shared_heap_to_count().remote_chain_count.value();
  for (const Heap* heap = all_heaps; heap != nullptr; heap = heap->next_heap) {
    counts.slab_bytes += heap->slab_bytes.value();
    counts.cached_bytes += heap->runs.held_bytes();
    counts.remote_chains += heap->remote_chain_count.value();
  }
  return counts;
}

void visit_heaps(void (*visit)(const Heap& heap, void* argument) noexcept,
                 void* argument) noexcept {
  const os::LockHolder hold(list_lock);
  visit(shared_heap_to_count(), argument);
  for (const Heap* heap = all_heaps; heap != nullptr; heap = heap->next_heap)
    visit(*heap, argument);
}

bool heaps_are_consistent(bool all) noexcept {
  const os::LockHolder hold_shared(shared_heap_lock());
  const os::LockHolder hold(list_lock);
  if (!shared_heap_to_count().invariants_hold()) return false;
  for (const Heap* heap = all_heaps; heap != nullptr; heap = heap->next_heap) {
    const HeapState state = heap->state.load(std::memory_order_acquire);
    const bool at_rest = state == HeapState::kOrphan || heap == this_heap;
    if (state != HeapState::kLost && (at_rest || all) && !heap->invariants_hold()) return false;
  }
  return true;
}

void acquire_heap_locks() noexcept {
  shared_heap_lock().acquire();
  list_lock.acquire();
}

void release_heap_locks() noexcept {
  list_lock.release();
  shared_heap_lock().release();
}

void orphan_vanished_threads() noexcept {
  // The only thread there is, and it holds the locks: plain reads and relaxed orders are enough.
  // The list is made anew: a thread may have vanished between becoming an orphan and entering it.
  orphans = nullptr;
  std::size_t count = 0;
  for (Heap* heap = all_heaps; heap != nullptr; heap = heap->next_heap) {
    const HeapState state = heap->state.load(std::memory_order_relaxed);
    if (heap == this_heap || state == HeapState::kLost) continue;
    const bool half_done = heap->busy.load(std::memory_order_relaxed);
    if (state == HeapState::kServed || (state != HeapState::kOrphan && half_done)) {
      heap->state.store(HeapState::kLost, std::memory_order_relaxed);
      continue;
    }
    if (state == HeapState::kPrivate || state == HeapState::kDestroyed)
      continue;  // nobody's to adopt
    heap->state.store(HeapState::kOrphan, std::memory_order_relaxed);
    heap->next_orphan = orphans;
    orphans = heap;
    ++count;
  }
  orphan_count.store(count, std::memory_order_relaxed);
}
}  // namespace drey::core
