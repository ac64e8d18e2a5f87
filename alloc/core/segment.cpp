// segment.cpp: taking, giving back and purging slices of one segment.
// Read next: segment.hpp.
// SPDX-License-Identifier: MIT
#include "core/segment.hpp"

#include "os/os.hpp"

namespace drey::core {
namespace {
/// Committed ahead of need, so that a growing heap makes one system call a MiB, not one a slab.
/// A secure build rather has what lies beyond the last slab inaccessible.
constexpr std::size_t kCommitAheadSlices = kSecure ? 0 : 16;
}  // namespace

bool Segment::commit_to(std::size_t end) noexcept {
  if (end <= committed_count) return true;
  std::size_t target = end + kCommitAheadSlices;
  if (target > slice_count) target = slice_count;
  std::byte* const from = address_of_slice(committed_count);
  if (!os::commit(from, (target - committed_count) * kSliceBytes)) {
    target = end;  // perhaps just what is needed is granted
    if (!os::commit(from, (target - committed_count) * kSliceBytes)) return false;
  }
  committed_count = target;
  return true;
}

std::size_t Segment::take_run(std::size_t slices, std::size_t alignment) noexcept {
  if (slices > longest_idle_max) return kSegmentSlicesMax;
  const std::size_t step = alignment <= kSliceBytes ? 1 : alignment / kSliceBytes;
  // First slice whose address is a multiple of the alignment, modulo the step.
  const std::size_t phase = (step - (address_of(start) / kSliceBytes) % step) & (step - 1);
  const std::size_t first =
      step <= kSegmentSlicesMax ? idle.find_run(slices, step, phase) : SliceSet::kNone;
  if (first == SliceSet::kNone) {
    if (step == 1) longest_idle_max = slices - 1;
    return kSegmentSlicesMax;
  }
  if (!commit_to(first + slices)) return kSegmentSlicesMax;
  idle.clear_range(first, slices);
  young.clear_range(first, slices);
  old.clear_range(first, slices);
  return first;
}

bool Segment::take_exactly(std::size_t first, std::size_t slices) noexcept {
  if (first + slices > slice_count || !idle.all_set(first, slices)) return false;
  if (!commit_to(first + slices)) return false;
  idle.clear_range(first, slices);
  young.clear_range(first, slices);
  old.clear_range(first, slices);
  return true;
}

void Segment::give_back_run(std::size_t first, std::size_t slices, bool aged) noexcept {
  idle.set_range(first, slices);
  (aged ? old : young).set_range(first, slices);
  longest_idle_max = slice_count;
}

bool Segment::touch_run(std::size_t first, std::size_t slices) noexcept {
  const bool all_zero = zero.all_set(first, slices);
  zero.clear_range(first, slices);
  return all_zero;
}

std::size_t Segment::purge(SliceSet& which) noexcept {
  std::size_t purged_slices = 0;
  std::size_t first = 0;
  while ((first = which.find_first(true, first)) != SliceSet::kNone) {
    const std::size_t end = which.find_first(false, first);
    const std::size_t slices = (end < slice_count ? end : slice_count) - first;
    if (os::purge(address_of_slice(first), slices * kSliceBytes)) {
      zero.set_range(first, slices);
      purged_slices += slices;
    }
    first += slices;
  }
  which.clear();
  return purged_slices * kSliceBytes;
}

bool Segment::invariants_hold() const noexcept {
  if (committed_count > slice_count || slice_count > kSegmentSlicesMax) return false;
  for (std::size_t slice = 0; slice < kSegmentSlicesMax; ++slice) {
    const bool dirty = young.test(slice) || old.test(slice);
    if (dirty && !idle.test(slice)) return false;
    if (young.test(slice) && old.test(slice)) return false;
    if (slice >= slice_count && idle.test(slice)) return false;
    if (slice < slice_count && slice >= committed_count &&
        (!idle.test(slice) || !zero.test(slice) || dirty)) {
      return false;
    }
  }
  return true;
}
}  // namespace drey::core
