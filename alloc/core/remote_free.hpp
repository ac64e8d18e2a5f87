// remote_free.hpp: how blocks get back into slabs whose heap is another thread's.
//
// The protocol (modelled in docs/models/remote_free.pml):
// 1. One word a slab holds the head of the chain and the flag ANNOUNCED. A freer swings both in one
//    CAS; whoever turned the flag on, and only it, pushes the slab onto its owner's announce stack.
// 2. The owner may take the chain of its current slab at any time and leaves the flag as it is.
//    Only taking the slab off the stack clears the flag, in the exchange that takes the chain.
// 3. A slab goes back to the store only when nothing is live and it is not ANNOUNCED: blocks in a
//    chain count as live, and the flag keeps it while a freer is between CAS and push.
// 4. Heaps are never freed. A freer with a stale owner pushes onto a stack that exists; whoever
//    takes the slab off it forwards it to the present owner, flag still set.
// 5. `owner` is changed only by the present owner or by the holder of an orphan heap.
// What a chain is made of: parcel.hpp.
// Read next: heap.hpp (serve_announcements), thread_heap.hpp (orphans).
// SPDX-License-Identifier: MIT
#pragma once

#include "core/parcel.hpp"

namespace drey::core {
/// Puts a chain of blocks of `slab` into its remote list and announces the slab.
/// Threads: any. Cost: one CAS, and two when it announces.
void hand_over(Slab* slab, const Parcels& parcels) noexcept;
/// The same for a plain list.
inline void hand_over(Slab* slab, Block* head, Block* tail) noexcept {
  hand_over(slab, Parcels{head, tail, 0});
}

/// Pushes a slab whose flag the caller turned on (or found on, when forwarding) onto its owner's
/// stack.
void announce(Slab* slab) noexcept;

/// Takes the chain and leaves the flag. Threads: the owner.
[[nodiscard]] Block* take_remote_chain(Slab* slab) noexcept;

/// Takes the chain and clears the flag. Threads: the owner, with the slab off the stack.
[[nodiscard]] Block* take_announced_chain(Slab* slab) noexcept;

/// True if the slab may be in an announce stack, or about to be.
[[nodiscard]] bool is_announced(const Slab* slab) noexcept;
}  // namespace drey::core
