// remote_free.cpp: the word operations of the protocol; each order says what it pairs with.
// Read next: remote_free.hpp for the protocol.
// SPDX-License-Identifier: MIT
#include "core/remote_free.hpp"

#include "core/entry.hpp"
#include "core/heap.hpp"
#include "core/thread_heap.hpp"

namespace drey::core {
namespace {
[[nodiscard]] Block* chain_of(std::uintptr_t word) noexcept {
  return reinterpret_cast<Block*>(word & ~Slab::kAnnounced);
}
}  // namespace

void hand_over(Slab* slab, const Parcels& parcels) noexcept {
  std::uintptr_t word = slab->remote.load(std::memory_order_relaxed);
  // The plain double free, seen for the price of a compare; any other where the chain is taken back.
  if (chain_of(word) == parcels.head) [[unlikely]]
    return report_misuse("double free", parcels.head);
  std::uintptr_t desired = 0;
  do {
    link_parcel(parcels.tail, chain_of(word), parcels.tail_places);
    desired = address_of(parcels.head) | Slab::kAnnounced;
    // Release: the links are visible to who takes the chain; pairs with the acquire exchanges
    // below.
  } while (!slab->remote.compare_exchange_weak(word, desired, std::memory_order_release,
                                               std::memory_order_relaxed));
  if (this_heap->state.load(std::memory_order_relaxed) == HeapState::kOwned) {
    this_heap->remote_chain_count.add(1);
  }
  if ((word & Slab::kAnnounced) == 0) announce(slab);
}

void announce(Slab* slab) noexcept {
  // Acquire: what the new owner wrote before it took the slab; pairs with the release in
  // adopt_slab(). A stale owner is harmless: see rule 4.
  Heap* const heap = slab->owner.load(std::memory_order_acquire);
  Slab* head = heap->announced.load(std::memory_order_relaxed);
  do {
    slab->announce_next.store(head, std::memory_order_relaxed);
    // Sequentially consistent, with serve_if_orphan()'s load and make_orphan()'s store and load:
    // either the ending thread sees this push, or we see that its heap has become an orphan.
  } while (!heap->announced.compare_exchange_weak(head, slab, std::memory_order_seq_cst,
                                                  std::memory_order_relaxed));
  serve_if_orphan(heap);
}

Block* take_remote_chain(Slab* slab) noexcept {
  std::uintptr_t word = slab->remote.load(std::memory_order_relaxed);
  while (chain_of(word) != nullptr) {
    // Acquire: pairs with the release in hand_over().
    if (slab->remote.compare_exchange_weak(word, word & Slab::kAnnounced, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
      return chain_of(word);
    }
  }
  return nullptr;
}

Block* take_announced_chain(Slab* slab) noexcept {
  // Acquire: pairs with the release in hand_over().
  return chain_of(slab->remote.exchange(0, std::memory_order_acquire));
}

bool is_announced(const Slab* slab) noexcept {
  // Relaxed: only the owner acts on "not announced", and with nothing live nobody can turn it on.
  return (slab->remote.load(std::memory_order_relaxed) & Slab::kAnnounced) != 0;
}
}  // namespace drey::core
