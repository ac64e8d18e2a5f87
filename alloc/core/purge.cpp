// purge.cpp: see purge.hpp.
// SPDX-License-Identifier: MIT
#include "core/purge.hpp"

#include "core/guarded_quarantine.hpp"
#include "core/purge_thread.hpp"
#include "core/segment_store.hpp"
#include "core/shared_heap.hpp"
#include "core/thread_heap.hpp"

namespace drey::core {
void purge_if_due() noexcept {
  run_due_ticks();
  start_purge_thread_if_asked();
  Heap& heap = *this_heap;
  if (heap.state.load(std::memory_order_relaxed) == HeapState::kOwned) trim_if_ticked(heap);
}

void trim_if_ticked(Heap& heap) noexcept {
  const std::uint64_t ticks = segment_store.tick_count();
  if (heap.ticks_seen == ticks) return;
  const BusyScope busy_scope(heap);
  heap.ticks_seen = ticks;
  heap.trim();
}

void run_due_ticks() noexcept {
  int ticks = segment_store.claim_ticks();
  if (ticks == 0) return;
  // Once, also where two ticks are due: most frees into a cache do not look at the clock, so a run
  // may have come a moment ago. Slices have not: who gives them to the store visits first.
  release_cached_runs(true);
  drop_kept_mappings(true);
  serve_shared_heap();
  for (; ticks > 0; --ticks) segment_store.tick();
}

void purge_all() noexcept {
  release_cached_runs(false);
  drop_kept_mappings(false);
  serve_shared_heap();
  segment_store.purge_all();
}
}  // namespace drey::core
