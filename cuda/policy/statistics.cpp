// statistics.cpp: the counts of all threads added up, and every block shown; see statistics.hpp.
// SPDX-License-Identifier: MIT
#include "policy/allocator_state.hpp"

#include <algorithm>

namespace drey::cuda {
namespace {
void add(Stat& stat, std::uint64_t allocated, std::uint64_t freed) noexcept {
  stat.allocated += allocated;
  stat.freed += freed;
}

// Numbers of other threads are read one after the other: a free may be seen without its allocation.
void finish(Stat& stat, Stat& kept) noexcept {
  stat.current = stat.allocated > stat.freed ? stat.allocated - stat.freed : 0;
  kept.peak = std::max(kept.peak, stat.current);
  stat.peak = kept.peak;
}

void finish(StatByPool& pools, StatByPool& kept) noexcept {
  add(pools.all, pools.small.allocated, pools.small.freed);
  add(pools.all, pools.large.allocated, pools.large.freed);
  finish(pools.all, kept.all);
  finish(pools.small, kept.small);
  finish(pools.large, kept.large);
}

void add(const CacheCounters& counts, Stat& blocks, Stat& bytes, Stat& requested) noexcept {
  // Frees first: see finish().
  const std::uint64_t freed[] = {counts.frees.value(), counts.freed_bytes.value(),
                                 counts.freed_requested_bytes.value()};
  add(blocks, counts.allocations.value(), freed[0]);
  add(bytes, counts.allocated_bytes.value(), freed[1]);
  add(requested, counts.requested_bytes.value(), freed[2]);
}
}  // namespace

// What is held has changed, maybe: segments and their peak.
void AllocatorState::note_sizes() noexcept {
  const std::uint64_t held = store.counts().held();
  Stat& pages = kept_.segment;
  if (held > pages.current) pages.allocated += held - pages.current;
  if (held < pages.current) pages.freed += pages.current - held;
  pages.current = held;
  pages.peak = std::max(pages.peak, held);
  for (Stat* const active : {&kept_.active, &kept_.active_bytes}) {
    active->current = active->allocated - active->freed;
    active->peak = std::max(active->peak, active->current);
  }
}

// Free memory that cannot go back by itself: a neighbour that is not free lies on one of its pages, or it is a
// pool's. What magazines have is not free here, so nobody's cache is touched.
void AllocatorState::note_splits() noexcept {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  const BlockTable& blocks = heap.blocks();
  const std::uint32_t page = heap.granules_of_page();
  for (BlockIndex index = blocks.first(); index != kNoBlock; index = blocks[index].after) {
    const Block& block = blocks[index];
    if (BlockTable::state_of(block) != BlockState::kFree) continue;
    if (block.pool == 0 && block.first % page == 0 && block.end() % page == 0) continue;
    ++count;
    bytes += block.granules * kGranuleBytes;
  }
  const auto set = [](Stat& stat, std::uint64_t now) {
    if (now > stat.current) stat.allocated += now - stat.current;
    if (now < stat.current) stat.freed += stat.current - now;
    stat.current = now;
    stat.peak = std::max(stat.peak, now);
  };
  set(kept_.inactive_split, count);
  set(kept_.inactive_split_bytes, bytes);
}

Statistics AllocatorState::statistics() noexcept {
  const MutexHolder holder(lock);
  note_sizes();
  if (!is_forked_child_ && !is_closing_) note_splits();
  Statistics sum = kept_;
  sum.allocation = sum.allocated_bytes = sum.requested_bytes = {};
  add(large_counts_, sum.allocation.large, sum.allocated_bytes.large, sum.requested_bytes.large);
  add(small_counts_, sum.allocation.small, sum.allocated_bytes.small, sum.requested_bytes.small);
  sum.served_by[0] = 0;
  for (const ThreadCache* cache = caches; cache != nullptr; cache = cache->next) {
    add(cache->counters, sum.allocation.small, sum.allocated_bytes.small,
        sum.requested_bytes.small);
    sum.magazine_bytes += cache->counters.magazine_bytes.value();
  }
  finish(sum.allocation, kept_.allocation);
  finish(sum.allocated_bytes, kept_.allocated_bytes);
  finish(sum.requested_bytes, kept_.requested_bytes);
  std::uint64_t served = 0;
  for (const std::uint64_t by_step : sum.served_by) served += by_step;
  if (sum.allocation.all.allocated > served)
    sum.served_by[0] = sum.allocation.all.allocated - served;
  const auto in_bytes = [&](std::uint64_t pages) { return pages * store.page_bytes(); };
  sum.reserved_bytes = {in_bytes(sum.segment.current), in_bytes(sum.segment.peak),
                        in_bytes(sum.segment.allocated), in_bytes(sum.segment.freed)};
  sum.events_recorded = timelines.counts().events_recorded;
  sum.events_queried = timelines.counts().events_queried;
  sum.waits_inserted = timelines.counts().waits_inserted;
  sum.synchronised = timelines.counts().synchronised;
  sum.pages_mapped = heap.counts().pages_mapped;
  sum.pages_moved = heap.counts().pages_moved;
  return sum;
}

void AllocatorState::reset_peaks() noexcept {
  static_cast<void>(statistics());
  const MutexHolder holder(lock);
  kept_.segment.peak = kept_.segment.current;
  kept_.active.peak = kept_.active.current;
  kept_.active_bytes.peak = kept_.active_bytes.current;
  kept_.inactive_split.peak = kept_.inactive_split.current;
  kept_.inactive_split_bytes.peak = kept_.inactive_split_bytes.current;
  for (StatByPool* const pools :
       {&kept_.allocation, &kept_.allocated_bytes, &kept_.requested_bytes})
    pools->all.peak = pools->small.peak = pools->large.peak = 0;
}

void AllocatorState::visit(void (*function)(void*, const BlockView&) noexcept,
                           void* context) noexcept {
  const MutexHolder holder(lock);
  if (is_forked_child_ || is_closing_) return;
  close_caches();
  const BlockTable& blocks = heap.blocks();
  for (BlockIndex index = blocks.first(); index != kNoBlock; index = blocks[index].after) {
    const Block& block = blocks[index];
    BlockView view;
    view.pointer = pointer_to(block);
    view.bytes = block.granules * kGranuleBytes;
    view.is_small = block.size_class != kNoClass || block.is_small;
    switch (BlockTable::state_of(block)) {
      case BlockState::kLive:
        view.kind = BlockKind::kLive;
        view.requested = block.requested;
        view.stream = handle_of(block.stamp.stream);
        break;
      case BlockState::kMagazine:
        view.kind = BlockKind::kMagazine;
        view.stream = timelines.handle_of(block.stamp.stream);
        break;
      case BlockState::kFree:
        view.kind = block.pool != 0       ? BlockKind::kPool
                    : heap.is_past(block) ? BlockKind::kFree
                                          : BlockKind::kPending;
        if (view.kind == BlockKind::kPending) view.stream = timelines.handle_of(block.stamp.stream);
        break;
      default:
        view.kind = BlockKind::kHole;
    }
    function(context, view);
  }
}

// All memory without a gap around the pointer: what a library may register as one.
Outcome AllocatorState::base_of(const void* pointer, void** start, std::size_t* bytes) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(pointer) - base;
  if (offset >= arena_bytes ||
      !store.is_mapped(static_cast<std::uint32_t>(offset / store.page_bytes())))
    return misused(Status::kForeignPointer);
  auto first = static_cast<std::uint32_t>(offset / store.page_bytes());
  std::uint32_t end = first + 1;
  while (first != 0 && store.is_mapped(first - 1)) --first;
  while (end != store.page_count() && store.is_mapped(end)) ++end;
  *start = reinterpret_cast<void*>(store.address_of(first));
  *bytes = (end - first) * store.page_bytes();
  return {};
}

bool AllocatorState::invariants_hold() noexcept {
  const MutexHolder holder(lock);
  if (is_forked_child_ || is_closing_) return true;
  close_caches();
  if (!store.invariants_hold() || !timelines.invariants_hold() || !heap.invariants_hold())
    return false;
  // What the magazines hold is what the blocks say.
  std::uint64_t held = 0;
  std::uint64_t told = 0;
  std::uint64_t listed = 0;
  const BlockTable& blocks = heap.blocks();
  for (BlockIndex index = blocks.first(); index != kNoBlock; index = blocks[index].after) {
    if (BlockTable::state_of(blocks[index]) == BlockState::kMagazine)
      held += blocks[index].granules * kGranuleBytes;
  }
  for (const ThreadCache* cache = caches; cache != nullptr; cache = cache->next) {
    told += cache->counters.magazine_bytes.value();
    for (const Magazine& magazine : cache->magazines) {
      if (!magazine.is_used) continue;
      for (const Magazine::Slot& slot : magazine.slots) {
        for (BlockIndex index = slot.head; index != kNoBlock; index = blocks[index].next)
          listed += blocks[index].granules * kGranuleBytes;
      }
    }
  }
  return held == told && listed == held;
}
}  // namespace drey::cuda
