// segment_store.cpp: segments are reserved when the present ones have no room, and never given up;
// their memory is. Read next: segment_store.hpp.
// SPDX-License-Identifier: MIT
#include "core/segment_store.hpp"

#include "core/metadata.hpp"
#include "core/options.hpp"
#include "core/slab_map.hpp"
#include "os/memory_node.hpp"
#include "os/os.hpp"

namespace drey::core {
constinit SegmentStore segment_store;

namespace {
constexpr std::size_t kSegmentAlignment = 2_MiB;
/// Address space that is never used, on either side of a secure build's segments.
constexpr std::size_t kGuardBytes = kSecure ? kSegmentAlignment : 0;
/// Entries of a secure build for every 16 bytes of a slice.
constexpr std::size_t kEntryBytesOfSlice =
    kSecure ? kSliceBytes / kMinAlignmentBytes * sizeof(BlockEntry) : 0;
/// Sizes tried for a new segment when the address space is short.
constexpr std::size_t kSegmentSliceSteps[] = {kSegmentSlicesMax, 256, 64, 16};

[[nodiscard]] std::size_t descriptor_bytes() noexcept {
  return align_up(sizeof(Segment), os::page_bytes());
}

/// Fails: null.
[[nodiscard]] std::byte* reserve_segment(std::size_t slices) noexcept {
  auto* const place = static_cast<std::byte*>(
      os::reserve(slices * kSliceBytes + 2 * kGuardBytes, kSegmentAlignment));
  return place == nullptr ? nullptr : place + kGuardBytes;
}

/// A heap up to this has small pages where only large heaps are to have huge ones.
constexpr std::size_t kSmallHeapBytes = 16_MiB;

/// As the option says. Its default leaves the choice to the system: with huge pages a sparse heap
/// holds what it never touched. "large" asks for them beyond the first 16 MiB and until the next
/// tick only: what grows fast gets them, and the kernel does not fill purged holes again later.
void choose_pages(Segment& segment) noexcept {
  const HugePages wanted = options.huge_pages.load(std::memory_order_relaxed);
  if (wanted == HugePages::kSystem) return;
  std::byte* start = segment.start;
  std::size_t bytes = segment.slice_count * kSliceBytes;
  if (wanted == HugePages::kLarge) {
    const std::size_t skipped = segment.index == 0 ? kSmallHeapBytes : 0;
    if (bytes <= skipped) return;
    start += skipped;
    bytes -= skipped;
    segment.wishes_huge_pages = true;
  }
  os::wish_huge_pages(start, bytes, wanted != HugePages::kNever);
}

/// See choose_pages().
void end_wish(Segment& segment) noexcept {
  if (!segment.wishes_huge_pages) return;
  segment.wishes_huge_pages = false;
  os::wish_huge_pages(segment.start, segment.slice_count * kSliceBytes, false);
}
}  // namespace

void SegmentStore::open() noexcept {
  const os::LockHolder hold(lock_);
  if (opened_) return;
  opened_ = true;
  if constexpr (kSecure) draw_secrets();
  slab_map.open();
  has_nodes_ = options.numa.load(std::memory_order_relaxed) && os::has_memory_nodes();
}

Segment* SegmentStore::add_segment(std::size_t slices_min, unsigned node) noexcept {
  if (segment_count_ == kSegmentsMax) return nullptr;
  std::size_t slices = 0;
  std::byte* start = nullptr;
  for (const std::size_t step : kSegmentSliceSteps) {
    slices = step < slices_min ? slices_min : step;
    start = reserve_segment(slices);
    if (start != nullptr || slices == slices_min) break;
  }
  if (start == nullptr) return nullptr;
  // The descriptor, and behind it a secure build's entries.
  const std::size_t place_bytes = descriptor_bytes() + slices * kEntryBytesOfSlice;
  void* const place = os::map(place_bytes, os::page_bytes());
  if (place == nullptr || !slab_map.make_writable(start, slices * kSliceBytes)) {
    if (place != nullptr) os::unmap(place, place_bytes);
    os::unmap(start - kGuardBytes, slices * kSliceBytes + 2 * kGuardBytes);
    return nullptr;
  }
  // Fresh mappings are zero, which is what every other field and descriptor begins as.
  auto* const segment = static_cast<Segment*>(place);
  segment->start = start;
  if constexpr (kSecure) {
    segment->entries =
        reinterpret_cast<BlockEntry*>(static_cast<std::byte*>(place) + descriptor_bytes());
  }
  segment->slice_count = slices;
  segment->longest_idle_max = slices;
  segment->idle.set_range(0, slices);
  segment->zero.set_range(0, slices);
  segment->index = segment_count_;
  if (node != kAnyNode) {
    segment->node = node;
    os::wish_memory_node(start, slices * kSliceBytes, node);
  }
  choose_pages(*segment);
  segments_[segment_count_++] = segment;
  return segment;
}

SegmentStore::Run SegmentStore::take_from(Segment* segment, std::size_t slices,
                                          std::size_t alignment) noexcept {
  const std::size_t first = segment->take_run(slices, alignment);
  if (first == kSegmentSlicesMax) return {};
  Slab* const slab = &segment->slabs[first];
  DREY_ASSERT(slab->state == SlabState::kIdle);
  slab->segment = segment;
  return {slab, segment->address_of_slice(first), segment->touch_run(first, slices)};
}

SegmentStore::Run SegmentStore::take_from_present(std::size_t slices, std::size_t alignment,
                                                  unsigned node) noexcept {
  for (std::size_t index = first_with_room_; index < segment_count_; ++index) {
    Segment* const segment = segments_[index];
    if (node != kAnyNode && segment->node != node) continue;
    const Run run = take_from(segment, slices, alignment);
    if (run.slab != nullptr) return run;
    if (index == first_with_room_ && segment->longest_idle_max == 0) ++first_with_room_;
  }
  return {};
}

SegmentStore::Run SegmentStore::acquire(std::size_t slices, std::size_t alignment) noexcept {
  DREY_ASSERT(slices >= 1 && slices <= kSegmentSlicesMax);
  const os::LockHolder hold(lock_);
  const unsigned node = has_nodes_ ? os::memory_node() : kAnyNode;
  Run run = take_from_present(slices, alignment, node);
  if (run.slab != nullptr) return run;
  // Alignment beyond the segment's own may cost the slices before the first multiple.
  const std::size_t slack = alignment <= kSegmentAlignment ? 0 : alignment / kSliceBytes;
  if (slices + slack <= kSegmentSlicesMax) {
    Segment* const segment = add_segment(slices + slack, node);
    if (segment != nullptr) run = take_from(segment, slices, alignment);
  }
  const bool others_may_have_some = run.slab == nullptr && node != kAnyNode;
  return others_may_have_some ? take_from_present(slices, alignment, kAnyNode) : run;
}

void SegmentStore::make_idle(Segment* segment, std::size_t first, std::size_t slices,
                             bool aged) noexcept {
  segment->give_back_run(first, slices, aged);
  if (segment->index < first_with_room_) first_with_room_ = segment->index;
}

void SegmentStore::release(Slab* slab, std::size_t slices, bool aged) noexcept {
  const os::LockHolder hold(lock_);
  slab->state = SlabState::kIdle;
  make_idle(slab->segment, slab->segment->slice_of(slab), slices, aged);
}

bool SegmentStore::extend(Slab* slab, std::size_t slices, std::size_t new_slices) noexcept {
  const os::LockHolder hold(lock_);
  Segment* const segment = slab->segment;
  const std::size_t first = segment->slice_of(slab) + slices;
  if (!segment->take_exactly(first, new_slices - slices)) return false;
  // realloc promises nothing of the new bytes; they only stop counting as zero.
  static_cast<void>(segment->touch_run(first, new_slices - slices));
  return true;
}

void SegmentStore::shorten(Slab* slab, std::size_t slices, std::size_t new_slices) noexcept {
  const os::LockHolder hold(lock_);
  make_idle(slab->segment, slab->segment->slice_of(slab) + new_slices, slices - new_slices);
}

Slab* SegmentStore::take_huge_descriptor() noexcept {
  const os::LockHolder hold(lock_);
  Slab* slab = idle_huge_descriptors_;
  if (slab != nullptr) {
    idle_huge_descriptors_ = slab->next_idle;
    return slab;
  }
  slab = static_cast<Slab*>(take_metadata(sizeof(Slab), alignof(Slab)));
  if (slab == nullptr) return nullptr;
  slab->next = huge_descriptors_;
  huge_descriptors_ = slab;
  return slab;
}

void SegmentStore::give_back_huge_descriptor(Slab* slab) noexcept {
  const os::LockHolder hold(lock_);
  slab->state = SlabState::kIdle;
  slab->next_idle = idle_huge_descriptors_;
  idle_huge_descriptors_ = slab;
}

bool SegmentStore::make_map_writable(const void* start, std::size_t bytes) noexcept {
  const os::LockHolder hold(lock_);
  return slab_map.make_writable(start, bytes);
}

int SegmentStore::claim_ticks() noexcept {
  const std::int64_t delay_ms = options.purge_delay_ms.load(std::memory_order_relaxed);
  if (delay_ms < 0) return 0;
  const std::uint64_t now = os::now_ms();
  // Relaxed: who swings it owns the ticks; the lock in tick() orders what they do.
  std::uint64_t due = next_tick_ms_.load(std::memory_order_relaxed);
  if (now < due) return 0;
  const std::uint64_t half = static_cast<std::uint64_t>(delay_ms) / 2;
  // Ticks keep to multiples of the half, however late the visits: else each would add its lateness.
  const std::uint64_t next = half == 0 ? now : now - (now - due) % half + half;
  if (!next_tick_ms_.compare_exchange_strong(due, next, std::memory_order_relaxed)) return 0;
  // Who gives memory back visits first, so what is idle was given back before `due`: if that is
  // half the delay ago, the young may go too.
  return now - due >= half ? 2 : 1;
}

void SegmentStore::purge_if_due() noexcept {
  for (int ticks = claim_ticks(); ticks > 0; --ticks) tick();
}

void SegmentStore::purge_all() noexcept {
  tick();
  tick();
}

void SegmentStore::tick() noexcept {
  for (std::size_t index = 0;; ++index) {
    // Let go after each segment: who needs slices meanwhile waits for one purge, not for all.
    const os::LockHolder hold(lock_);
    if (index == 0) tick_count_.add(1);
    if (index == segment_count_) return;
    Segment* const segment = segments_[index];
    end_wish(*segment);
    if (!segment->old.empty()) purged_bytes_.add(segment->purge(segment->old));
    segment->old = segment->young;
    segment->young.clear();
  }
}

SegmentStore::Totals SegmentStore::totals() noexcept {
  const os::LockHolder hold(lock_);
  Totals totals{};
  for (std::size_t index = 0; index < segment_count_; ++index) {
    const Segment* const segment = segments_[index];
    totals.reserved_bytes += segment->slice_count * kSliceBytes;
    totals.committed_bytes += segment->committed_count * kSliceBytes;
    totals.idle_bytes += (segment->young.count() + segment->old.count()) * kSliceBytes;
  }
  return totals;
}

bool SegmentStore::invariants_hold() noexcept {
  const os::LockHolder hold(lock_);
  for (std::size_t index = 0; index < segment_count_; ++index) {
    if (!segments_[index]->invariants_hold()) return false;
  }
  return true;
}
}  // namespace drey::core
