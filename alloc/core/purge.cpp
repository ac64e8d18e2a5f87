// purge.cpp: see purge.hpp.
// SPDX-License-Identifier: MIT
#include "core/purge.hpp"

#include "core/segment_store.hpp"
#include "core/thread_heap.hpp"

namespace drey::core {
void purge_if_due() noexcept {
  for (int ticks = segment_store.claim_ticks(); ticks > 0; --ticks) {
    release_cached_runs(true);
    segment_store.tick();
  }
}

void purge_all() noexcept {
  release_cached_runs(false);
  segment_store.purge_all();
}
}  // namespace drey::core
