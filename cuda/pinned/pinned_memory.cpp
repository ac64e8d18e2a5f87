// pinned_memory.cpp: the part of pinned_state.hpp that finds memory: what is past, what the driver says is past by
// now, new memory, and what is left when there is none.
// SPDX-License-Identifier: MIT
#include "pinned/pinned_state.hpp"

#include <algorithm>

namespace drey::cuda {
// Blocks that are past by what is known.
void PinnedState::settle(std::uint32_t size_class, std::uint32_t scan_max) noexcept {
  PinnedIndex index = table_.oldest_pending(size_class);
  for (std::uint32_t seen = 0; index != kNoPinned && seen < scan_max; ++seen) {
    const PinnedIndex next = table_.block(index).next;
    if (is_past(table_.block(index))) table_.settle(index);
    index = next;
  }
}

void PinnedState::settle_all() noexcept {
  for (std::uint32_t size_class = 0; size_class < kPinnedClassCount; ++size_class)
    settle(size_class, UINT32_MAX);
}

// Blocks that the stream may have though they are not past leave those that are to the host.
PinnedIndex PinnedState::take_free(const PinnedNeed& need) noexcept {
  PinnedIndex index = need.is_for_host() ? kNoPinned : table_.newest_pending(need.size_class);
  for (std::uint32_t seen = 0; index != kNoPinned && seen < kScanMax; ++seen) {
    if (is_ordered(need.user, table_.block(index))) return index;
    index = table_.block(index).previous;
  }
  if (table_.first_past(need.size_class) == kNoPinned) settle(need.size_class, kScanMax);
  return table_.first_past(need.size_class);
}

// An event in every stream that has none behind its last free.
Result PinnedState::close_epochs() noexcept {
  for (std::size_t place = 0; place < timelines_.stream_count(); ++place) {
    const StreamIndex stream = timelines_.stream_at(static_cast<std::uint16_t>(place));
    if (!timelines_.is_here(stream)) continue;
    // An event in a capture would be the graph's.
    const Outcome allowed = check_not_capturing(timelines_.handle_of(stream));
    if (allowed.status == Status::kDriver) return allowed.driver;
    if (allowed.status == Status::kCaptureForbids) continue;
    const Result closed = timelines_.close_epoch(stream);
    // Streams that are gone, or another thread's: their memory has to wait.
    if (closed != Result::kSuccess && closed != Result::kInvalidHandle) return closed;
    frees_[place] = 0;
  }
  return Result::kSuccess;
}

// First what events there are say, then new ones.
PinnedIndex PinnedState::take_after_asking(PinnedNeed& need, DriverScope& scope) noexcept {
  if (table_.oldest_pending(need.size_class) == kNoPinned) return kNoPinned;
  Result result = scope.need();
  for (int round = 0; round < 2 && result == Result::kSuccess; ++round) {
    if (round == 1) result = close_epochs();
    if (result == Result::kSuccess) result = timelines_.poll();
    const PinnedIndex index = take_free(need);
    if (index != kNoPinned) return index;
  }
  need.outcome = pinned_outcome_of(result);
  return kNoPinned;
}

// Blocks of a new slab: as many as the limit has room for. 0: not even one.
std::uint32_t PinnedState::count_that_fits(const PinnedNeed& need,
                                           std::uint32_t least) const noexcept {
  const std::uint64_t bytes = bytes_of_class(need.size_class);
  const std::uint32_t wanted = std::min(blocks_of_slab(need.size_class), least);
  if (config_.bytes_max == 0) return wanted;
  if (counts_.held_bytes >= config_.bytes_max) return 0;
  const std::uint64_t pages = (config_.bytes_max - counts_.held_bytes) / kHostPageBytes;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(wanted, pages * kHostPageBytes / bytes));
}

Result PinnedState::add_slab(const PinnedNeed& need, std::uint32_t count) noexcept {
  const std::uint64_t bytes = count * bytes_of_class(need.size_class);
  const std::uint64_t rounded = (bytes + kHostPageBytes - 1) / kHostPageBytes * kHostPageBytes;
  void* base = nullptr;
  const Result result = driver_->mem_host_alloc(&base, rounded, kHostAllocPortable);
  if (result != Result::kSuccess) return result;
  table_.add(static_cast<char*>(base), rounded, need.size_class, count);
  ++counts_.driver_allocs;
  counts_.held_bytes += rounded;
  counts_.held_bytes_peak = std::max(counts_.held_bytes_peak, counts_.held_bytes);
  return Result::kSuccess;
}

Result PinnedState::release_until(std::uint64_t bytes_kept) noexcept {
  while (counts_.held_bytes > bytes_kept && table_.oldest_idle() != kNoPinned) {
    const std::uint32_t slab = table_.oldest_idle();
    const std::uint64_t bytes = table_.slab(slab).bytes;
    const Result result = driver_->mem_free_host(table_.slab(slab).base);
    if (result != Result::kSuccess) return result;
    table_.remove(slab);
    counts_.held_bytes -= bytes;
    ++counts_.driver_frees;
  }
  return Result::kSuccess;
}

// Until all that can be past is. Not for streams that capture: an event there would be the graph's.
Result PinnedState::wait_for_pending() noexcept {
  Result result = close_epochs();
  for (std::uint32_t size_class = 0; size_class < kPinnedClassCount; ++size_class) {
    PinnedIndex index = table_.oldest_pending(size_class);
    for (; index != kNoPinned; index = table_.block(index).next) {
      const PinnedBlock& block = table_.block(index);
      for (std::uint8_t place = 0; place < block.stamp_count; ++place) {
        if (result != Result::kSuccess) return result;
        const Stamp stamp = block.stamps[place];
        if (timelines_.is_covered(stamp) || !timelines_.is_here(stamp.stream))
          result = timelines_.complete(stamp);
      }
    }
  }
  return result;
}

// A whole slab; then what there is room for, with what is idle given back; then the same when all was waited for.
PinnedIndex PinnedState::grow(PinnedNeed& need, DriverScope& scope) noexcept {
  const std::uint32_t full = blocks_of_slab(need.size_class);
  const std::uint64_t full_bytes = full * bytes_of_class(need.size_class);
  const std::uint64_t limit = config_.bytes_max;
  bool is_driver_short = false;
  Result result = scope.need();
  for (int round = 0; round < 3 && result == Result::kSuccess; ++round) {
    if (round == 2) {
      result = wait_for_pending();
      if (result != Result::kSuccess) break;
      settle_all();
      if (table_.first_past(need.size_class) != kNoPinned)
        return table_.first_past(need.size_class);
    }
    if (round != 0) {
      if (round == 1) settle_all();
      const std::uint64_t room = limit > full_bytes ? limit - full_bytes : 0;
      const bool may_keep = limit != 0 && !is_driver_short;
      result = release_until(may_keep ? room : 0);
      if (result != Result::kSuccess) break;
    }
    if (!table_.has_room()) {
      need.outcome = {Status::kNoMetadata};
      continue;
    }
    const std::uint32_t count = count_that_fits(need, round == 2 && is_driver_short ? 1 : full);
    if (count == 0 || (count < full && round == 0)) continue;
    result = add_slab(need, count);
    if (result == Result::kSuccess) return table_.first_past(need.size_class);
    if (result != Result::kOutOfMemory) break;
    is_driver_short = true;
    result = Result::kSuccess;
  }
  // While a capture forbids to wait, what is not past cannot be had.
  const bool is_short = result == Result::kSuccess || result == Result::kCaptureUnsupported;
  if (!is_short) need.outcome = {Status::kDriver, result};
  if (need.outcome.is_ok()) need.outcome = {Status::kOutOfPinnedMemory};
  return kNoPinned;
}

Allocation PinnedState::allocate(std::size_t bytes, std::size_t alignment,
                                 const Stream* stream) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return {nullptr, usable};
  if (alignment == 0 || alignment > PinnedCache::kAlignmentMax ||
      (alignment & (alignment - 1)) != 0)
    return {nullptr, misused(Status::kInvalidAlignment)};
  if (bytes > kPinnedBytesMax) return {nullptr, misused(Status::kInvalidSize)};
  if (bytes == 0) return {};
  DriverScope scope(*driver_, context_, true);
  PinnedNeed need;
  need.requested = bytes;
  need.size_class = pinned_class_for(bytes, alignment);
  if (stream != nullptr) {
    const Outcome found = find_stream(*stream, scope, &need.user);
    if (!found.is_ok()) return {nullptr, found};
  }
  const std::uint64_t driver_allocs = counts_.driver_allocs;
  PinnedIndex index = take_free(need);
  if (index == kNoPinned) index = take_after_asking(need, scope);
  if (index == kNoPinned && need.outcome.is_ok()) index = grow(need, scope);
  if (index == kNoPinned) return {nullptr, need.outcome};
  table_.take(index);
  PinnedBlock& block = table_.block(index);
  block.requested = bytes;
  block.stream = need.user;
  ++counts_.allocations;
  counts_.hits += counts_.driver_allocs == driver_allocs ? 1 : 0;
  ++counts_.live_blocks;
  counts_.live_bytes += bytes_of_class(need.size_class);
  counts_.requested_bytes += bytes;
  return {table_.pointer_to(index), {}};
}

Outcome PinnedState::trim(std::uint64_t bytes_kept, std::uint64_t* released) noexcept {
  if (released != nullptr) *released = 0;
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  DriverScope scope(*driver_, context_, true);
  Result result = scope.need();
  if (result == Result::kSuccess) result = close_epochs();
  if (result == Result::kSuccess) result = timelines_.poll();
  if (result != Result::kSuccess) return pinned_outcome_of(result);
  settle_all();
  const std::uint64_t before = counts_.held_bytes;
  result = release_until(bytes_kept);
  if (released != nullptr) *released = before - counts_.held_bytes;
  return pinned_outcome_of(result);
}

Outcome PinnedState::set_bytes_max(std::uint64_t bytes_max) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (usable.is_ok()) config_.bytes_max = bytes_max;
  return usable;
}

PinnedStatistics PinnedState::statistics() noexcept {
  const MutexHolder holder(lock);
  PinnedStatistics all = counts_;
  all.cached_bytes = all.held_bytes - all.live_bytes;
  all.events_recorded = timelines_.counts().events_recorded;
  all.events_queried = timelines_.counts().events_queried;
  all.synchronised = timelines_.counts().synchronised;
  return all;
}

bool PinnedState::invariants_hold() noexcept {
  const MutexHolder holder(lock);
  return table_.invariants_hold() && timelines_.invariants_hold() &&
         counts_.held_bytes >= counts_.live_bytes && counts_.live_bytes >= counts_.requested_bytes;
}
}  // namespace drey::cuda
