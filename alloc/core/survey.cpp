// survey.cpp: see survey.hpp.
// SPDX-License-Identifier: MIT
#include "core/survey.hpp"

#include "core/segment_store.hpp"
#include "core/shared_heap.hpp"

namespace drey::core {
namespace {
/// Blocks in a list of `slab`, which its owner may be changing. A link is followed only to where a block
/// of the slab is, and the memory there stays readable for ever; at most as many as the slab has.
[[gnu::no_sanitize_thread]] std::uint32_t length_of(const Slab& slab, const RunView& run) noexcept {
  std::uint32_t length = 0;
  const Block* block = slab.free;
  while (block != nullptr && length < run.capacity) {
    const std::uintptr_t offset = address_of(block) - address_of(run.start);
    if (offset / run.block_bytes >= run.capacity || offset % run.block_bytes != 0) break;
    ++length;
    block = next_of(block);
  }
  return length;
}

/// The equations of slab.hpp, believed as far as they make sense.
[[gnu::no_sanitize_thread]] std::uint32_t live_of(const Slab& slab, const RunView& run) noexcept {
  // Not slab.live(): it would look at the state again, which may be another by now.
  const std::uint32_t countdown = slab.countdown;
  if (run.state == SlabState::kQueued) return countdown;
  if (run.state == SlabState::kFull) {
    const std::uint32_t threshold = run.capacity >= 8 ? run.capacity / 8 : 1;
    return run.capacity - (threshold - countdown);
  }
  const std::uint32_t carved = slab.carved;
  const std::uint32_t free = length_of(slab, run);
  return carved > free ? carved - free : 0;
}

/// Copies a descriptor. Its owner may be changing it: each field is read once and believed only as
/// far as it makes sense, so that nothing worse than a count of a moment ago can come out.
[[gnu::no_sanitize_thread]] bool view(const Slab& slab, RunView& run) noexcept {
  run = {};
  run.slab = &slab;
  run.state = slab.state;
  run.start = slab.start;
  switch (run.state) {
    case SlabState::kIdle:
    case SlabState::kEmpty:
      return false;
    case SlabState::kGuarded:
      run.state = SlabState::kHuge;  // to who looks from outside
      [[fallthrough]];
    case SlabState::kLarge:
    case SlabState::kHuge:
      run.bytes = slab.run_bytes;
      run.capacity = 1;
      run.live = 1;
      return true;
    case SlabState::kCached:
      run.bytes = std::size_t{slab.slice_count} * kSliceBytes;
      return true;
    default:
      break;
  }
  run.owner = slab.owner.load(std::memory_order_relaxed);
  run.size_class = slab.size_class;
  run.capacity = slab.capacity;
  run.bytes = std::size_t{slab.slice_count} * kSliceBytes;
  if (index_of(run.size_class) == 0 || index_of(run.size_class) >= kClassCount) return false;
  run.block_bytes = size_of(run.size_class);
  const std::uint32_t live = live_of(slab, run);
  run.live = live < run.capacity ? live : run.capacity;
  return true;
}

[[gnu::no_sanitize_thread]] std::size_t slices_of(const Slab& slab) noexcept {
  return slab.state == SlabState::kIdle || slab.slice_count == 0 ? 1 : slab.slice_count;
}
}  // namespace

bool RunCursor::next_in_segments(RunView& run) noexcept {
  const os::LockHolder hold(segment_store.lock());
  for (; const Segment* const segment = segment_store.segment(segment_); ++segment_, slice_ = 0) {
    for (;;) {
      slice_ = segment->idle.find_first(false, slice_);
      if (slice_ >= segment->committed_count) break;
      const Slab& slab = segment->slabs[slice_];
      slice_ += slices_of(slab);
      if (view(slab, run)) return true;
    }
  }
  return false;
}

bool RunCursor::next_huge(RunView& run) noexcept {
  const os::LockHolder hold(segment_store.lock());
  do {
    huge_ = huge_ == nullptr ? segment_store.huge_descriptors() : huge_->next;
    if (huge_ == nullptr) return false;
  } while (!view(*huge_, run));
  return true;
}

bool RunCursor::next(RunView& run) noexcept {
  if (!past_segments_) {
    if (next_in_segments(run)) return true;
    past_segments_ = true;
  }
  if (past_huge_) return false;
  past_huge_ = !next_huge(run);
  return !past_huge_;
}

std::size_t Survey::live_blocks() const noexcept {
  std::size_t total = large_blocks + huge_blocks;
  for (const ClassCounts& counts : classes) total += counts.live;
  return total;
}

std::size_t Survey::live_bytes() const noexcept {
  std::size_t total = large_bytes + huge_bytes;
  for (std::size_t index = 1; index < kClassCount; ++index) {
    total += classes[index].live * size_of(static_cast<SizeClass>(index));
  }
  return total;
}

std::size_t Survey::free_slab_bytes() const noexcept {
  std::size_t total = 0;
  for (std::size_t index = 1; index < kClassCount; ++index) {
    total +=
        classes[index].slab_bytes - classes[index].live * size_of(static_cast<SizeClass>(index));
  }
  return total;
}

void take_survey(Survey& survey) noexcept {
  serve_shared_heap();  // what threads borrowed and gave back is not live
  survey = {};
  RunCursor cursor;
  for (RunView run; cursor.next(run);) {
    if (run.is_slab()) {
      ClassCounts& counts = survey.classes[index_of(run.size_class)];
      counts.slabs += 1;
      counts.slab_bytes += run.bytes;
      counts.capacity += run.capacity;
      counts.live += run.live;
    } else if (run.state == SlabState::kLarge) {
      survey.large_blocks += 1;
      survey.large_bytes += run.bytes;
    } else if (run.state == SlabState::kHuge) {
      survey.huge_blocks += 1;
      survey.huge_bytes += run.bytes;
    } else {
      survey.cached_runs += 1;
      survey.cached_bytes += run.bytes;
    }
  }
}
}  // namespace drey::core
