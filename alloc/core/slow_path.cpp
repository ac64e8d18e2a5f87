// slow_path.cpp: what take() and give_back() leave for later: refill, remote and odd frees.
//
// Refill, in this order: the current slab's remote chain; its untouched blocks; what other threads
// announced; the next slab with room; an orphan's slab; a new slab; after giving everything idle
// back, once more; null.
// Read next: heap.hpp, large.hpp.
// SPDX-License-Identifier: MIT
#include "core/entry.hpp"
#include "core/large.hpp"
#include "core/misuse.hpp"
#include "core/private_heap.hpp"
#include "core/purge.hpp"
#include "core/remote_free.hpp"
#include "core/sampler.hpp"
#include "core/secure_path.hpp"
#include "core/segment_store.hpp"
#include "core/shared_heap.hpp"

#include <cerrno>

namespace drey::core {
namespace {
/// Pops from the current slab. Requires: its list is not empty.
void* pop_current(Heap& heap, SizeClass size_class) noexcept {
  Slab* const slab = heap.current_of(index_of(size_class));
  Block* const block = slab->free;
  DREY_ASSERT(block != nullptr);
  if constexpr (kSecure) return unlink_checked(slab);
  slab->free = next_of(block);
  return block;
}

/// Takes what other threads gave back to the current slab. Returns: false if nothing.
bool take_remote_blocks(Slab* slab) noexcept {
  Block* const chain = take_remote_chain(slab);
  if (chain == nullptr) return false;
  BlockList list;
  if (!unpack(*slab, chain, slab->carved, list)) return false;
  slab->take_chain(list.head, list.tail);
  return true;
}

/// Slabs of fewer blocks become empty by chance, and their last freed block is in the cache still.
constexpr std::uint32_t kStartOverBlocksMin = 64;

void take_off_queue(Heap& heap, Slab* slab) noexcept {
  heap.unqueue(slab);
  // Queued slabs count what is live: one block too many came back to an empty one.
  if (slab->countdown > slab->capacity) report_corruption("double free", slab->free);
  const bool is_empty = slab->countdown == 0;
  // Only where all was carved: beyond that is memory that nobody has touched.
  if (is_empty && slab->carved == slab->capacity && slab->capacity >= kStartOverBlocksMin) {
    slab->start_over();
  }
}

Slab* new_slab(Heap& heap, SizeClass size_class) noexcept {
  const std::size_t slices = slab_slices_of(size_class);
  const SegmentStore::Run run = segment_store.acquire(slices, kSliceBytes);
  if (run.slab == nullptr) return nullptr;
  Slab* const slab = run.slab;
  slab->open(size_class, run.start, slices, run.zero);
  if constexpr (kSecure) slab->entries = slab->segment->entries_at(slab->start);
  // Relaxed: nobody else has a block of it yet; a block's way to another thread orders it.
  slab->owner.store(&heap, std::memory_order_relaxed);
  // Of a slab of one block only the first slice: a pointer into the others is found out.
  slab_map.set(run.start, slab->has_one_block() ? 1 : slices, slab);
  heap.slab_bytes.add(slices * kSliceBytes);
  if (is_private(heap)) hold_slab(heap, slab);
  return slab;
}

/// A slab in state kQueued, in no queue, with room. Fails: null.
Slab* next_slab(Heap& heap, SizeClass size_class) noexcept {
  purge_if_due();  // before anything is given back: see purge.cpp
  heap.outbox.flush();
  heap.serve_announcements();
  Slab* slab = heap.with_room[index_of(size_class)];
  if (slab != nullptr) {
    take_off_queue(heap, slab);
    return slab;
  }
  // A private heap frees all that is in its slabs at once: none may hold another's blocks.
  slab = is_private(heap) ? nullptr : adopt_slab(heap, size_class);
  if (slab != nullptr) return slab;
  slab = new_slab(heap, size_class);
  if (slab != nullptr) return slab;
  // Nothing left: perhaps this heap's reserves of other classes and the orphans' are enough.
  heap.release_empty_slabs();
  collect_orphans();
  release_cached_runs(false);
  return new_slab(heap, size_class);
}
}  // namespace

void* refill_from(Heap& heap, SizeClass size_class) noexcept {
  const BusyScope busy_scope(heap);
  Slab*& current = heap.current_of(index_of(size_class));
  for (;;) {
    // The shared heap comes here for every block, so the list may well have some.
    if (current->free != nullptr) return pop_current(heap, size_class);
    if (current != &empty_slab) {
      if (take_remote_blocks(current)) continue;
      if (current->starts_over && current->carve()) continue;
      if (Slab* const used = heap.find_listed(size_class); used != nullptr) {
        take_off_queue(heap, used);
        heap.park_current(size_class);
        used->become_current();
        current = used;
        continue;
      }
      if (current->carve()) continue;
      heap.park_current(size_class);
    }
    Slab* const slab = next_slab(heap, size_class);
    if (slab == nullptr) return nullptr;
    slab->become_current();
    current = slab;
  }
}

void give_back_remotely(Slab* slab, void* pointer) noexcept {
  if (!slab->is_block_start(pointer)) return report_misuse("invalid free", pointer);
  auto* const block = static_cast<Block*>(pointer);
  // A private heap may end as soon as the last free into it has returned: nothing waits outside.
  // Nor do borrowed blocks, in the outboxes of threads that sleep. Slabs of both never change their
  // owner; others may be adopted meanwhile, by a heap that was just made. Acquire: what that heap's
  // thread wrote before; pairs with the release in adopt_slab().
  const Heap& owner = *slab->owner.load(std::memory_order_acquire);
  const HeapState state = owner.state.load(std::memory_order_relaxed);
  const bool waits = state != HeapState::kPrivate && state != HeapState::kShared &&
                     slab->block_bytes < Outbox::kBlockBytesMax;
  Heap* const heap = waits ? ensure_heap() : nullptr;
  if (heap == nullptr) return hand_over(slab, block, block);
  const BusyScope busy_scope(*heap);
  heap->outbox.add(slab, block);
}

namespace {
/// What give_back_slowly() leaves over; apart, so that what goes into a note needs no stack frame.
[[gnu::noinline]] void give_back_oddly(void* pointer) noexcept {
  if (pointer == nullptr) return;
  Slab* const slab = slab_map.find(pointer);
  if (slab == nullptr) return give_back_foreign(pointer);
  if (slab->is_large_or_huge()) return give_back_large(slab, pointer);
  // A hit after all while the map is not flat. Relaxed: see give_back().
  if (slab->owner.load(std::memory_order_relaxed) == this_heap) return give_back_own(slab, pointer);
  give_back_remotely(slab, pointer);
}

/// A block that refill_from() took, with what is known of it.
FreshBlock fresh_block(void* block, SizeClass size_class) noexcept {
  if (block == nullptr || size_of(size_class) <= kSharedSlabBlockMax) return {block, false};
  // The first block of a slab of one always comes this way; its link is a null pointer: zeros.
  Slab* const slab = slab_map.find(block);
  if (slab->is_large_or_huge()) return {block, false};  // a sample: see sampler.hpp
  const bool zero = slab->is_zero;
  slab->is_zero = false;
  return {block, zero};
}
}  // namespace

void* refill(SizeClass size_class) noexcept {
  if (this_heap->kept != nullptr) [[unlikely]] {
    void* const block = take_counted_hit(*this_heap, size_class);
    if (block != nullptr) return block;
  }
  // Class 0 has no slabs: a request of 0 bytes gets the smallest block.
  if (size_class == SizeClass{0}) return take_class(SizeClass{1});
  return refill_zeroed(size_class).pointer;
}

FreshBlock refill_zeroed(SizeClass size_class) noexcept {
  Heap* const heap = ensure_heap();
  FreshBlock block;
  if (heap != nullptr && may_borrow(*heap, size_class)) {
    block.pointer = borrow_block(*heap, size_class);
    if (block.pointer != nullptr) return block;
  }
  if (heap != nullptr) [[likely]] {
    block = fresh_block(
        is_sampled(*heap) ? take_counted(*heap, size_class) : refill_from(*heap, size_class),
        size_class);
  } else {
    block = refill_held(acquire_shared_heap(), size_class);
    release_shared_heap();
  }
  if (block.pointer == nullptr) errno = ENOMEM;
  return block;
}

FreshBlock refill_held(Heap& heap, SizeClass size_class) noexcept {
  return fresh_block(refill_from(heap, size_class), size_class);
}

void* take_above_small(std::size_t size) noexcept {
  if (size <= kMediumSizeMax) [[likely]]
    return take_class(medium_class_of(size));
  void* const block = size <= kSizeMax ? take_large(size, kMinAlignmentBytes).pointer : nullptr;
  if (block == nullptr) errno = ENOMEM;
  return block;
}

void give_back_slowly(void* pointer) noexcept {
  // The next of a thread's frees into another's slab; null's slab, or a foreign one's, has no note.
  if (this_heap->outbox.add_to_note(slab_map.find_unchecked(pointer), pointer)) return;
  give_back_oddly(pointer);
}

void countdown_reached_zero(Slab* slab) noexcept {
  // Relaxed: the caller holds the owner.
  Heap& heap = *slab->owner.load(std::memory_order_relaxed);
  const BusyScope busy_scope(heap);
  run_due_ticks();  // before anything is given back: see purge.cpp
  heap.countdown_reached_zero(slab);
  trim_if_ticked(heap);  // after: the slab was in no list that trimming knows
}

void report_double_free(void* pointer) noexcept {
  const Slab* const slab = slab_map.find(pointer);
  report_misuse(slab != nullptr && slab->is_block_start(pointer) ? "double free" : "invalid free",
                pointer);
}

}  // namespace drey::core
