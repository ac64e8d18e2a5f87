// heap.cpp: queues of slabs, and what happens when blocks come back. Read next: heap.hpp.
// SPDX-License-Identifier: MIT
#include "core/heap.hpp"

#include "core/misuse.hpp"
#include "core/private_heap.hpp"
#include "core/remote_free.hpp"
#include "core/sampler.hpp"
#include "core/segment_store.hpp"
#include "core/slab_map.hpp"

namespace drey::core {
constinit Slab empty_slab{};

void Heap::queue(Slab* slab) noexcept {
  DREY_ASSERT(slab->state == SlabState::kQueued);
  Slab*& front = with_room[index_of(slab->size_class)];
  slab->previous = nullptr;
  slab->next = front;
  if (front != nullptr) front->previous = slab;
  front = slab;
}

void Heap::unqueue(Slab* slab) noexcept {
  DREY_ASSERT(slab->state == SlabState::kQueued);
  if (slab->is_reserve) {
    slab->is_reserve = false;
    reserve_bytes -= slab->slice_count * kSliceBytes;
  }
  if (slab->previous != nullptr) {
    slab->previous->next = slab->next;
  } else {
    with_room[index_of(slab->size_class)] = slab->next;
  }
  if (slab->next != nullptr) slab->next->previous = slab->previous;
  slab->next = nullptr;
  slab->previous = nullptr;
}

Slab* Heap::find_listed(SizeClass size_class) const noexcept {
  constexpr int kSlabsTried = 4;
  Slab* slab = with_room[index_of(size_class)];
  for (int tried = 0; slab != nullptr && tried < kSlabsTried; slab = slab->next, ++tried) {
    if (slab->free != nullptr) return slab;
  }
  return nullptr;
}

void Heap::release(Slab* slab) noexcept {
  DREY_ASSERT(slab->live() == 0 && !is_announced(slab));
  const std::size_t slices = slab->slice_count;
  slab_bytes.subtract(slices * kSliceBytes);
  slab_map.set(slab->run_start(), slices, nullptr);
  if (is_private(*this)) let_go_of_slab(*this, slab);
  // Relaxed: nobody has a block of it, so nobody looks.
  slab->owner.store(nullptr, std::memory_order_relaxed);
  if constexpr (kSecure) slab->wipe_links();
  slab->free = nullptr;
  segment_store.release(slab, slices);
}

/// An empty slab in the queue stays while the reserve has room for it, or if it is the only one of
/// its class; else it goes back.
void Heap::keep_or_release(Slab* slab) noexcept {
  DREY_ASSERT(slab->state == SlabState::kQueued && slab->live() == 0 && !slab->is_reserve);
  if (is_announced(slab)) return;  // rule 3: it is released when it comes off the stack
  const std::size_t bytes = slab->slice_count * kSliceBytes;
  const bool is_only_one = slab->next == nullptr && slab->previous == nullptr;
  if (is_only_one || reserve_bytes + bytes <= kReserveBytesMax) {
    slab->is_reserve = true;
    reserve_bytes += bytes;
    return;
  }
  unqueue(slab);
  release(slab);
}

void Heap::countdown_reached_zero(Slab* slab) noexcept {
  if (slab->state == SlabState::kCurrent) {
    if (kept != nullptr) return renew_budget(*this, slab);
    slab->countdown = Slab::kCurrentBias;
    return;
  }
  if (slab->state == SlabState::kFull) {
    slab->become_queued(slab->live());
    queue(slab);
  }
  if (slab->live() == 0) keep_or_release(slab);
}

/// Takes a chain of remotely freed blocks into its slab and corrects the slab's state.
void Heap::put_back(Slab* slab, Block* chain) noexcept {
  const bool is_current = slab->state == SlabState::kCurrent;
  BlockList list;
  // What is not trusted stays live.
  if (!unpack(*slab, chain, is_current ? slab->carved : slab->live(), list)) return;
  take_back(slab, list.head, list.tail, list.count);
}

void Heap::take_back(Slab* slab, Block* head, Block* tail, std::uint32_t count) noexcept {
  if (count != 0) slab->take_chain(head, tail);
  if (slab->state == SlabState::kCurrent) {
    if (kept != nullptr) add_room(*this, slab, count);
    return;
  }
  const std::uint32_t live = slab->live();
  DREY_ASSERT(count <= live);
  if (slab->state == SlabState::kFull && count >= slab->countdown) {
    slab->become_queued(live - count);
    queue(slab);
  } else {
    slab->countdown -= count;
  }
  if (slab->state == SlabState::kQueued && slab->live() == 0) keep_or_release(slab);
}

void Heap::serve_announcements() noexcept {
  if (announced.load(std::memory_order_relaxed) == nullptr) return;
  // Acquire: the links of the stack; pairs with the push in announce().
  Slab* slab = announced.exchange(nullptr, std::memory_order_acquire);
  while (slab != nullptr) {
    // Read before the flag is cleared: afterwards the slab may be announced, and linked, again.
    Slab* const next = slab->announce_next.load(std::memory_order_relaxed);
    if (slab->owner.load(std::memory_order_relaxed) == this) {
      put_back(slab, take_announced_chain(slab));
    } else {
      announce(slab);  // rule 4: it has another owner by now
    }
    slab = next;
  }
}

void Heap::park_current(SizeClass size_class) noexcept {
  if (kept != nullptr) settle_budget(*this, size_class);
  Slab*& place = current_of(index_of(size_class));
  Slab* const slab = place;
  if (slab == &empty_slab) return;
  place = &empty_slab;
  current[index_of(size_class)] = &empty_slab;
  if (slab->free == nullptr && slab->carved == slab->capacity) {
    slab->become_full();
    return;
  }
  slab->become_queued(slab->live());
  queue(slab);
  if (slab->live() == 0) keep_or_release(slab);
}

void Heap::release_empty_slabs() noexcept {
  for (Slab* front : with_room) {
    for (Slab* slab = front; slab != nullptr;) {
      Slab* const next = slab->next;
      if (slab->live() == 0 && !is_announced(slab)) {
        unqueue(slab);
        release(slab);
      }
      slab = next;
    }
  }
}

void Heap::trim() noexcept {
  const auto first = index_of(class_of(kSharedSlabBlockMax + 1));
  for (std::size_t index = first; index < kClassCount; ++index) {
    if (current_of(index)->free != nullptr) park_current(static_cast<SizeClass>(index));
  }
  release_empty_slabs();
}

void Heap::may_borrow_again() noexcept {
  for (std::uint8_t& left : borrows_left) left = kBorrowsMax;
}

bool Heap::invariants_hold() const noexcept {
  std::size_t reserve = 0;
  if (current[0] != &empty_slab || with_room[0] != nullptr) return false;
  for (std::size_t index = 1; index < kClassCount; ++index) {
    const Slab* const slab = current_of(index);
    if (current[index] != slab && current[index] != &empty_slab) return false;
    if (slab != &empty_slab &&
        (slab->state != SlabState::kCurrent || index_of(slab->size_class) != index ||
         slab->owner.load(std::memory_order_relaxed) != this || !slab->invariants_hold())) {
      return false;
    }
    const Slab* previous = nullptr;
    for (const Slab* queued = with_room[index]; queued != nullptr; queued = queued->next) {
      if (queued->state != SlabState::kQueued || queued->previous != previous ||
          index_of(queued->size_class) != index ||
          queued->owner.load(std::memory_order_relaxed) != this || !queued->invariants_hold() ||
          (queued->is_reserve && queued->live() != 0)) {
        return false;
      }
      if (queued->is_reserve) reserve += queued->slice_count * kSliceBytes;
      previous = queued;
    }
  }
  return reserve == reserve_bytes;
}
}  // namespace drey::core
