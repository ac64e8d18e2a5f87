// large.cpp: see large.hpp.
// SPDX-License-Identifier: MIT
#include "core/large.hpp"

#include "core/fast_path.hpp"
#include "core/guarded.hpp"
#include "core/misuse.hpp"
#include "core/options.hpp"
#include "core/private_heap.hpp"
#include "core/profile.hpp"
#include "core/purge.hpp"
#include "core/sampler.hpp"
#include "core/segment_store.hpp"
#include "core/slab_map.hpp"
#include "core/thread_heap.hpp"
#include "os/os.hpp"

#include <cstring>

namespace drey::core {
namespace {
/// Calls between two looks at the clock: the tick is due in hundreds of milliseconds.
constexpr std::uint32_t kVisitsPerClockRead = 32;

[[nodiscard]] std::size_t slices_for(std::size_t size) noexcept {
  return divide_up(size, kSliceBytes);
}

[[nodiscard]] std::size_t pages_for(std::size_t size) noexcept {
  return align_up(size, os::page_bytes());
}

/// A run from this thread's cache or from the store, with what is known of its contents.
[[nodiscard]] SegmentStore::Run find_run(std::size_t slices, std::size_t alignment) noexcept {
  Heap* const heap = ensure_heap();
  if (heap != nullptr && alignment <= kSliceBytes) {
    Slab* const cached = heap->runs.take(slices);
    if (cached != nullptr) return {cached, cached->start, false};
  }
  purge_if_due();
  SegmentStore::Run run = segment_store.acquire(slices, alignment);
  if (run.slab != nullptr) {
    run.slab->start = run.start;
    run.slab->block_bytes = 0;
    run.slab->sample = nullptr;
    run.slab->slice_count = static_cast<std::uint16_t>(slices);
  }
  return run;
}

[[nodiscard]] LargeBlock take_run(std::size_t size, std::size_t alignment) noexcept {
  const SegmentStore::Run run = find_run(slices_for(size), alignment);
  if (run.slab == nullptr) return {};
  Slab* const slab = run.slab;
  // Of a longer run from the cache only what was asked for: usable is good_large_size(), always.
  slab->run_bytes = slices_for(size) * kSliceBytes;
  slab->state = SlabState::kLarge;
  slab_map.set(run.start, 1, slab);
  return {run.start, run.zero};
}

void give_back_run(Slab* slab) noexcept {
  Heap* const heap = this_heap;
  if (heap->state.load(std::memory_order_relaxed) != HeapState::kOwned) {
    purge_if_due();  // before anything is given back: see purge.cpp
    return segment_store.release(slab, slab->slice_count);
  }
  if (++heap->large_visits % kVisitsPerClockRead == 0) purge_if_due();
  slab->state = SlabState::kCached;
  if (heap->runs.put(slab)) return;
  purge_if_due();  // as above
  segment_store.release(slab, slab->slice_count);
}

[[nodiscard]] LargeBlock take_mapping(std::size_t size, std::size_t alignment) noexcept {
  // Opens the slab map if this is the process's first block: an entry made before would be lost.
  static_cast<void>(ensure_heap());
  purge_if_due();
  const std::size_t bytes = good_large_size(size);
  Slab* const slab = segment_store.take_huge_descriptor();
  if (slab == nullptr) return {};
  void* const start = os::map(bytes, alignment < kSliceBytes ? kSliceBytes : alignment);
  if (start == nullptr || !segment_store.make_map_writable(start, 1)) {
    if (start != nullptr) os::unmap(start, bytes);
    segment_store.give_back_huge_descriptor(slab);
    return {};
  }
  slab->start = static_cast<std::byte*>(start);
  slab->block_bytes = 0;
  slab->sample = nullptr;
  slab->slice_count = 0;
  slab->run_bytes = bytes;
  slab->state = SlabState::kHuge;
  slab_map.set(start, 1, slab);
  return {start, true};
}

/// True if blocks of this length have guard pages.
[[nodiscard]] bool is_guarded() noexcept {
  return kSecure || options.guard_large.load(std::memory_order_relaxed);
}

[[nodiscard]] LargeBlock take_guarded(std::size_t size, std::size_t alignment,
                                      bool has_room) noexcept {
  static_cast<void>(ensure_heap());  // as in take_mapping()
  purge_if_due();
  Slab* const slab = segment_store.take_huge_descriptor();
  if (slab == nullptr) return {};
  const GuardedBlock block = map_guarded(size, alignment, has_room);
  if (block.start == nullptr || !segment_store.make_map_writable(block.start, 1)) {
    if (block.start != nullptr) unmap_guarded(block, size);
    segment_store.give_back_huge_descriptor(slab);
    return {};
  }
  slab->start = block.start;
  slab->capacity = static_cast<std::uint32_t>(block.reserved_pages);
  slab->block_bytes = 0;
  slab->slice_count = 0;
  slab->run_bytes = size;
  slab->state = SlabState::kGuarded;
  slab_map.set(block.start, 1, slab);
  return {block.start, true};
}

/// Requires: it is out of the map.
void give_back_guarded(Slab* slab) noexcept {
  if (!guarded_tail_is_intact(slab->start, slab->run_bytes)) {
    return report_finding("overflow", slab->start, "was written to past its end");
  }
  unmap_guarded({slab->start, slab->capacity}, slab->run_bytes);
  segment_store.give_back_huge_descriptor(slab);
}

/// Grows into its room, or stays where it shrinks by little.
[[nodiscard]] void* resize_guarded(Slab* slab, std::size_t size) noexcept {
  const std::size_t old_size = slab->run_bytes;
  if (size <= old_size) return size >= old_size / 2 ? slab->start : nullptr;
  if (!guarded_tail_is_intact(slab->start, old_size)) return nullptr;  // its free will tell
  if (!grow_guarded({slab->start, slab->capacity}, old_size, size)) return nullptr;
  slab->run_bytes = size;
  return slab->start;
}

[[nodiscard]] void* resize_run(Slab* slab, std::size_t size) noexcept {
  const std::size_t slices = slab->slice_count;
  const std::size_t new_slices = slices_for(size);
  if (size > kLargeSizeMax) return nullptr;
  if (new_slices > slices && !segment_store.extend(slab, slices, new_slices)) return nullptr;
  if (new_slices < slices) {
    purge_if_due();  // before anything is given back: see purge.cpp
    segment_store.shorten(slab, slices, new_slices);
  }
  slab->slice_count = static_cast<std::uint16_t>(new_slices);
  slab->run_bytes = new_slices * kSliceBytes;
  return slab->start;
}

[[nodiscard]] void* resize_mapping(Slab* slab, std::size_t size) noexcept {
  if (size < kMappedGrowthMin) return nullptr;  // small enough for a segment: copied there
  const std::size_t old_bytes = slab->run_bytes;
  const std::size_t bytes = good_large_size(size);
  if (bytes == old_bytes) return slab->start;
  std::byte* const old_start = slab->start;
  void* start = os::remap(old_start, old_bytes, bytes, false);
  if (start == nullptr) {
    if (bytes < old_bytes) return old_start;  // it is long enough, and stays as it is
    // The old entry goes first: once the mapping has moved, its place may be anybody's.
    slab_map.set(old_start, 1, nullptr);
    start = os::remap(old_start, old_bytes, bytes, true);
    if (start == nullptr) {
      slab_map.set(old_start, 1, slab);
      return nullptr;
    }
    if (!segment_store.make_map_writable(start, 1)) {
      // Without an entry it could not be freed: back to where it was, whose entry is writable.
      DREY_CHECK(os::move_to(start, bytes, old_start, old_bytes), "out of memory for the slab map");
      slab_map.set(old_start, 1, slab);
      return nullptr;
    }
    slab_map.set(start, 1, slab);
  }
  slab->start = static_cast<std::byte*>(start);
  slab->run_bytes = bytes;
  return start;
}

/// For the profile a block that was resized is a new one.
void count_again(Slab* slab) noexcept {
  if (slab->sample != nullptr) forget_sample(slab);
  if (profile_is_on.load(std::memory_order_relaxed)) count_large(slab->start);
}
}  // namespace

LargeBlock take_large(std::size_t size, std::size_t alignment) noexcept {
  if (size == 0) size = 1;
  LargeBlock block;
  if (is_guarded()) {
    block = take_guarded(size, alignment, false);
  } else if (size <= kLargeSizeMax && alignment <= kLargeSizeMax) {
    block = take_run(size, alignment);
  }
  if (block.pointer == nullptr && !is_guarded()) block = take_mapping(size, alignment);
  // Relaxed: see profile_is_on.
  if (profile_is_on.load(std::memory_order_relaxed) && block.pointer != nullptr) [[unlikely]]
    count_large(block.pointer);
  return block;
}

void* take_growing(std::size_t size) noexcept {
  if (is_guarded() && size > (kSecure ? kSharedSlabBlockMax : kMediumSizeMax)) {
    const LargeBlock block = take_guarded(size, kMinAlignmentBytes, true);
    if (block.pointer != nullptr) return block.pointer;
  } else if (size >= kMappedGrowthMin) {
    const LargeBlock block = take_mapping(size, kMinAlignmentBytes);
    if (block.pointer != nullptr) {
      // What grew so far is filled from its start: no huge page of it stays sparse.
      if (options.huge_pages.load(std::memory_order_relaxed) != HugePages::kNever)
        os::wish_huge_pages(block.pointer, good_large_size(size), true);
      return block.pointer;
    }
  }
  return take(size);
}

void give_back_large(Slab* slab, void* pointer) noexcept {
  if (pointer != slab->start) {
    if (slab->state == SlabState::kHuge && address_of(pointer) < address_of(slab->start)) {
      return give_back_foreign(pointer);  // the slice's first pages are somebody else's
    }
    return report_misuse("invalid free", pointer);
  }
  if (slab->sample != nullptr) [[unlikely]]
    forget_sample(slab);
  slab_map.set(slab->start, 1, nullptr);
  // Relaxed: set before the block went out; its way to this thread orders it.
  if (slab->owner.load(std::memory_order_relaxed) != nullptr) let_go_of_large(slab);
  if (slab->state == SlabState::kLarge) return give_back_run(slab);
  if (slab->state == SlabState::kGuarded) return give_back_guarded(slab);
  os::unmap(slab->start, slab->run_bytes);
  segment_store.give_back_huge_descriptor(slab);
}

std::size_t good_large_size(std::size_t size) noexcept {
  if (is_guarded()) return size;
  return size <= kLargeSizeMax ? slices_for(size) * kSliceBytes : pages_for(size);
}

void* resize_large(Slab* slab, std::size_t size) noexcept {
  if (slab->state == SlabState::kGuarded) {
    void* const grown = resize_guarded(slab, size);
    if (grown != nullptr) count_again(slab);
    return grown;
  }
  void* const block =
      slab->state == SlabState::kLarge ? resize_run(slab, size) : resize_mapping(slab, size);
  if (block != nullptr) count_again(slab);
  return block;
}

bool extend_large(Slab* slab, std::size_t size) noexcept {
  DREY_ASSERT(size > slab->run_bytes);
  if (slab->state == SlabState::kLarge) {
    if (resize_run(slab, size) == nullptr) return false;
    count_again(slab);
    return true;
  }
  if (slab->state == SlabState::kGuarded) return resize_guarded(slab, size) != nullptr;
  const std::size_t old_bytes = slab->run_bytes;
  const std::size_t bytes = pages_for(size);
  if (os::remap(slab->start, old_bytes, bytes, false) == nullptr) return false;
  slab->run_bytes = bytes;
  count_again(slab);
  return true;
}

void* zero_large(void* block, std::size_t bytes) noexcept {
  constexpr std::size_t kProbes = 4;
  auto* const first = static_cast<std::byte*>(block);
  bool resident = false;
  for (std::size_t probe = 0; probe < kProbes && !resident; ++probe) {
    resident = os::is_resident(first + bytes / kProbes * probe + bytes / kProbes / 2);
  }
  if (!resident && os::purge(block, bytes)) return block;
  return std::memset(block, 0, bytes);
}
}  // namespace drey::core
