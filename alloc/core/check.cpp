// check.cpp: the walk of check.hpp. Allocates nothing; sets of blocks are bits on the stack.
// Read next: check.hpp.
// SPDX-License-Identifier: MIT
#include "core/check.hpp"

#include "core/heap.hpp"
#include "core/parcel.hpp"
#include "core/private_heap.hpp"
#include "core/segment_store.hpp"
#include "core/slab_map.hpp"

namespace drey::core {
namespace {
/// More blocks than any slab has.
constexpr std::size_t kBlocksMax = kSliceBytes / kMinAlignmentBytes;
static_assert(kMediumSlabSlices * kSliceBytes / kSmallSizeMax <= kBlocksMax);
using BlockSet = Bitmap<kBlocksMax>;

/// Adds a block of a list to `seen`. Returns: null, or what is wrong with it.
const char* add_block(const Slab& slab, const Block* block, BlockSet& seen) noexcept {
  const std::uintptr_t offset = address_of(block) - address_of(slab.start);
  if (offset / slab.block_bytes >= slab.carved) return "a list holds a block never carved";
  if (offset % slab.block_bytes != 0) return "a list holds what is no block";
  const std::size_t index = offset / slab.block_bytes;
  if (seen.test(index)) return "a block is in the lists twice";
  seen.set_range(index, 1);
  return nullptr;
}

const char* add_list(const Slab& slab, const Block* block, BlockSet& seen) noexcept {
  const char* fault = nullptr;
  for (; block != nullptr && fault == nullptr; block = next_of(block)) {
    fault = add_block(slab, block, seen);
  }
  return fault;
}

const char* lists_fault(const Slab& slab) noexcept {
  BlockSet seen;
  const char* fault = add_list(slab, slab.free, seen);
  if (fault != nullptr) return fault;
  // Relaxed: the caller says that no other thread is about.
  const std::uintptr_t word = slab.remote.load(std::memory_order_relaxed);
  visit_parcels(slab, reinterpret_cast<const Block*>(word & ~Slab::kAnnounced), [&](auto* block) {
    fault = add_block(slab, block, seen);
    return fault == nullptr;
  });
  return fault;
}

/// True if the slab is where its state says, in its owner's lists.
bool is_in_its_place(const Slab& slab, const Heap& owner) noexcept {
  const std::size_t index = index_of(slab.size_class);
  if (slab.state == SlabState::kCurrent) return owner.current_of(index) == &slab;
  if (owner.current_of(index) == &slab) return false;
  if (slab.state == SlabState::kFull) return slab.next == nullptr && slab.previous == nullptr;
  for (const Slab* queued = owner.with_room[index]; queued != nullptr; queued = queued->next) {
    if (queued == &slab) return true;
  }
  return false;
}

/// True if a private heap finds `slab` in its list; any other heap has no such list.
bool is_held(const Slab& slab, const Heap& owner) noexcept {
  if (!is_private(owner)) return true;
  const bool large = slab.is_large_or_huge();
  const auto& heap = static_cast<const PrivateHeap&>(owner);
  const Slab* held = large ? heap.large : heap.slabs;
  while (held != nullptr && held != &slab) held = held->next_held;
  return held != nullptr;
}

const char* slab_fault(const Slab& slab) noexcept {
  const Heap* const owner = slab.owner.load(std::memory_order_relaxed);
  if (owner == nullptr) return "a slab of blocks has no owner";
  if (slab.slice_count != slab_slices_of(slab.size_class)) return "a slab has a wrong length";
  if (slab.block_bytes != size_of(slab.size_class)) return "a slab has a wrong block size";
  if (!slab.invariants_hold()) return "a slab's equations do not hold";
  const char* const fault = lists_fault(slab);
  if (fault != nullptr) return fault;
  if (!is_held(slab, *owner)) return "a private heap does not know its slab";
  return is_in_its_place(slab, *owner) ? nullptr : "a slab is not where its state says";
}

/// Checks the run that begins at `first`. Returns: null, or what is wrong.
const char* run_fault(const Segment& segment, std::size_t first) noexcept {
  const Slab& slab = segment.slabs[first];
  if (slab.state == SlabState::kIdle) return "a slice is taken, but no run begins there";
  if (slab.state == SlabState::kHuge) return "a huge block has a descriptor of a segment";
  if (slab.run_start() != segment.address_of_slice(first))
    return "a run does not start at its slice";
  if (slab.segment != &segment) return "a run does not know its segment";
  if (slab.slice_count == 0 || first + slab.slice_count > segment.slice_count) {
    return "a run has no length, or ends outside its segment";
  }
  const bool cached = slab.state == SlabState::kCached;
  // What holds one block is known by its first slice only: a pointer into the others is found out.
  const bool single = slab.is_large_or_huge() || slab.has_one_block() || cached;
  for (std::size_t slice = first; slice < first + slab.slice_count; ++slice) {
    if (segment.idle.test(slice)) return "a slice of a run is idle";
    const bool mapped = !cached && (slice == first || !single);
    if (slab_map.find(segment.address_of_slice(slice)) != (mapped ? &slab : nullptr)) {
      return "the map does not say what the descriptor says";
    }
    if (slice != first && segment.slabs[slice].state != SlabState::kIdle) return "two runs overlap";
  }
  if (slab.state != SlabState::kLarge && !cached) return slab_fault(slab);
  const Heap* const owner = slab.owner.load(std::memory_order_relaxed);
  if (owner != nullptr && !is_private(*owner)) return "a large block is a thread's";
  if (owner != nullptr && !is_held(slab, *owner)) return "a private heap does not know its block";
  const bool fits = slab.run_bytes != 0 && slab.run_bytes <= slab.slice_count * kSliceBytes;
  return cached || fits ? nullptr : "a large block's size is off";
}

const char* idle_fault(const Segment& segment, std::size_t slice) noexcept {
  const Slab& slab = segment.slabs[slice];
  if (slab.state != SlabState::kIdle) return "a run begins at an idle slice";
  if (slab.owner.load(std::memory_order_relaxed) != nullptr) return "an idle slice has an owner";
  if (slab.remote.load(std::memory_order_relaxed) != 0) return "an idle slice has remote frees";
  const bool mapped = slab_map.find(segment.address_of_slice(slice)) != nullptr;
  return mapped ? "an idle slice is in the map" : nullptr;
}

/// Adds what `segment` holds to the report; stops at the first thing that does not hold.
void check_segment(const Segment& segment, CoreReport& report) noexcept {
  report.where = &segment;
  if (!segment.invariants_hold()) {
    report.broken = "a segment's sets of slices contradict each other";
    return;
  }
  for (std::size_t slice = 0; slice < segment.slice_count;) {
    const Slab& slab = segment.slabs[slice];
    report.where = &slab;
    const bool idle = segment.idle.test(slice);
    report.broken = idle ? idle_fault(segment, slice) : run_fault(segment, slice);
    if (report.broken != nullptr) return;
    const std::size_t slices = idle ? 1 : slab.slice_count;
    if (idle || slab.state == SlabState::kCached) {
      report.idle_bytes += slices * kSliceBytes;
    } else if (slab.state == SlabState::kLarge) {
      report.large_bytes += slab.run_bytes;
    } else {
      report.slab_bytes += slices * kSliceBytes;
      report.live_blocks += slab.live();
    }
    slice += slices;
  }
}
}  // namespace

CoreReport check_core() noexcept {
  const os::LockHolder hold(segment_store.lock());
  CoreReport report;
  for (std::size_t index = 0; segment_store.segment(index) != nullptr; ++index) {
    check_segment(*segment_store.segment(index), report);
    if (report.broken != nullptr) return report;
  }
  report.where = nullptr;
  return report;
}
}  // namespace drey::core
