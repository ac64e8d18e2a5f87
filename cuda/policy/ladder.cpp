// ladder.cpp: the part of allocator_state.hpp that finds memory: the steps of LadderStep, in order.
//
// The first three are the life of a program that has memory enough. What comes after growing is for
// when there is none left, and looks at everything: it may be slow, and it must not fail while memory for
// the request could be had. It fails only if the limit, less the pages that live blocks lie on, is
// smaller than the request rounded to pages.
// Read next: pressure.cpp.
// SPDX-License-Identifier: MIT
#include "policy/allocator_state.hpp"

#include <algorithm>

namespace drey::cuda {
void AllocatorState::fail(Climb& climb, Result result) noexcept {
  climb.last_driver = result;
  const bool is_capture = result == Result::kCaptureUnsupported || result == Result::kCapturedEvent;
  climb.outcome = {is_capture ? Status::kCaptureForbids : Status::kDriver, result};
}

BlockIndex AllocatorState::take(Climb& climb, LadderStep step, Reach reach,
                                std::uint32_t scan_max) noexcept {
  const BlockIndex index = heap.take(climb.request, reach, scan_max);
  if (index != kNoBlock) climb.step = step;
  return index;
}

BlockIndex AllocatorState::climb(Climb& climb, DriverScope& scope) noexcept {
  BlockIndex index = take(climb, LadderStep::kSameStream, Reach::kOwn, kScanMax);
  if (index != kNoBlock) return index;
  std::size_t next_callback = 0;
  while (true) {
    const Result pushed = scope.need();
    if (pushed != Result::kSuccess) {
      fail(climb, pushed);
      return kNoBlock;
    }
    index = climb_quietly(climb, scope);
    if (index != kNoBlock || climb.is_over()) return index;
    climb.was_retried = true;
    ++kept_.num_alloc_retries;
    index = climb_under_pressure(climb, scope);
    if (index != kNoBlock || climb.is_over()) return index;
    if (!call_back(climb.bytes, &next_callback)) break;
    climb.outcome = check_usable();
    if (!climb.is_over() && is_asleep_) climb.outcome = {Status::kAsleep};
    if (climb.is_over()) return kNoBlock;
  }
  // Last of all what is set apart, and free.
  const std::uint64_t pooled = take_back_pools();
  climb.gained[static_cast<std::size_t>(LadderStep::kPools)] += pooled;
  if (pooled != 0) index = climb_under_pressure(climb, scope);
  if (index != kNoBlock) climb.step = LadderStep::kPools;
  if (index == kNoBlock && !climb.is_over()) climb.outcome = {Status::kOutOfMemory};
  return index;
}

// Until growing: nothing of anybody's is disturbed.
BlockIndex AllocatorState::climb_quietly(Climb& climb, DriverScope& scope) noexcept {
  if (timelines.stream_count() > 1 || climb.was_retried) {
    const BlockIndex others = take_of_others(climb);
    if (others != kNoBlock || climb.is_over()) return others;
  }
  const std::uint64_t held = store.counts().held();
  const std::uint64_t pages =
      (climb.request.granules + heap.granules_of_page() - 1) / heap.granules_of_page();
  const std::uint64_t soft = config.limits.soft / store.page_bytes();
  if (soft != 0 && held + pages > soft && captures.count() == 0) {
    Result result = learn(scope);
    if (result == Result::kSuccess)
      climb.gained[static_cast<std::size_t>(LadderStep::kCollect)] +=
          give_pages_back(soft > pages ? soft - pages : 0, kNoMax, &result) * store.page_bytes();
    if (result != Result::kSuccess) {
      fail(climb, result);
      return kNoBlock;
    }
  }
  return grow(climb, LadderStep::kGrow);
}

// What other streams freed, if it is past or they are waited for. If it is neither, events are recorded,
// so that the next who asks may find it past.
BlockIndex AllocatorState::take_of_others(Climb& climb) noexcept {
  const Result polled = timelines.poll();
  if (polled != Result::kSuccess) {
    fail(climb, polled);
    return kNoBlock;
  }
  const BlockIndex index = take(climb, LadderStep::kOtherStream, Reach::kOrdered, kScanMax);
  if (index != kNoBlock) return index;
  const BlockIndex wanted = heap.look(climb.request, Reach::kAny, kScanMax);
  if (wanted == kNoBlock) return kNoBlock;
  const Stamp stamp = heap.blocks()[wanted].stamp;
  if (!timelines.is_covered(stamp)) static_cast<void>(timelines.close_epoch(stamp.stream));
  return kNoBlock;
}

// Pages that may be created, of `wanted`.
std::uint64_t AllocatorState::room_pages(std::uint64_t wanted) noexcept {
  const std::uint64_t held = store.counts().held();
  std::uint64_t room = store.limit_pages() > held ? store.limit_pages() - held : 0;
  room = std::min(room, wanted);
  if (room == 0 || config.limits.headroom == 0) return room;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (driver_->mem_get_info(&free_bytes, &total_bytes) != Result::kSuccess) return room;
  const std::uint64_t usable =
      free_bytes > config.limits.headroom ? free_bytes - config.limits.headroom : 0;
  return std::min(room, usable / store.page_bytes());
}

// New memory, or spare, where the fewest pages are missing.
BlockIndex AllocatorState::grow(Climb& climb, LadderStep step) noexcept {
  const Place place = heap.find_place(climb.request, false, climb.was_retried ? kNoMax : kScanMax);
  if (place.hole == kNoBlock) return kNoBlock;
  const std::uint64_t spare = store.counts().spare;
  const std::uint64_t missing = place.pages.count > spare ? place.pages.count - spare : 0;
  if (missing > room_pages(missing)) return kNoBlock;
  return fill(climb, step, place);
}

BlockIndex AllocatorState::fill(Climb& climb, LadderStep step, const Place& place) noexcept {
  Result result = Result::kSuccess;
  const BlockIndex index = heap.fill(place, climb.request, &result);
  if (index != kNoBlock) {
    climb.gained[static_cast<std::size_t>(step)] += place.pages.count * store.page_bytes();
    climb.step = step;
    return index;
  }
  climb.last_driver = result;
  if (result != Result::kOutOfMemory) fail(climb, result);
  return kNoBlock;
}

// Idle pages become spare, spare ones go to the driver, until so many are held.
std::uint64_t AllocatorState::give_pages_back(std::uint64_t pages_kept, std::uint32_t before_ms,
                                              Result* result) noexcept {
  *result = Result::kSuccess;
  const std::uint64_t held = store.counts().held();
  if (held <= pages_kept) return 0;
  const std::uint64_t surplus = held - pages_kept;
  if (store.counts().spare < surplus)
    heap.make_spare(surplus - store.counts().spare, {}, before_ms, result);
  const std::uint64_t spare = store.counts().spare;
  const std::uint64_t released = store.release_spares(spare > surplus ? spare - surplus : 0);
  kept_.pages_returned += released;
  return released;
}

// Without the lock, one after the other, until one says that it freed something.
bool AllocatorState::call_back(std::uint64_t needed, std::size_t* next) noexcept {
  while (*next < callback_count_) {
    const Callback callback = callbacks_[(*next)++];
    lock.release();
    const bool has_freed = callback.function(callback.context, needed);
    lock.acquire();
    if (has_freed) return true;
  }
  return false;
}
}  // namespace drey::cuda
