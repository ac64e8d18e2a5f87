// remote_free_steps.hpp: a remote free in steps, for tests that stop a freer between them.
// Each is what remote_free.cpp does in one function, cut where another thread may come in.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/heap.hpp"
#include "core/slab.hpp"
#include "support/test_slab.hpp"

#include <vector>

namespace drey::core {
/// First half of hand_over(): links the chain into the slab. Returns: true if the caller turned the
/// flag on and owes the push.
inline bool link_into(Slab* slab, const std::vector<Block*>& blocks) {
  link_chain(blocks);
  const std::uintptr_t word = slab->remote.load();
  blocks.back()->next = reinterpret_cast<Block*>(word & ~Slab::kAnnounced);
  slab->remote.store(address_of(blocks.front()) | Slab::kAnnounced);
  return (word & Slab::kAnnounced) == 0;
}

/// Middle of announce(): the push onto a stack whose owner was read before.
inline void push_onto(Heap* heap, Slab* slab) {
  slab->announce_next.store(heap->announced.load());
  heap->announced.store(slab);
}
}  // namespace drey::core
