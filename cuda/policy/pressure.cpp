// pressure.cpp: the steps of ladder.cpp for when there is no memory left: other threads' magazines, pages
// that lie idle elsewhere, memory that work may still use.
// Read next: oom_report.cpp.
// SPDX-License-Identifier: MIT
#include "policy/allocator_state.hpp"

#include <algorithm>

namespace drey::cuda {
namespace {
constexpr std::size_t number_of(LadderStep step) noexcept {
  return static_cast<std::size_t>(step);
}
}  // namespace

BlockIndex AllocatorState::climb_under_pressure(Climb& climb, DriverScope& scope) noexcept {
  drain_pools(scope);
  climb.gained[number_of(LadderStep::kFlush)] += flush_all();
  const Result learnt = learn(scope);
  if (learnt != Result::kSuccess) {
    fail(climb, learnt);
    return kNoBlock;
  }
  BlockIndex index = take(climb, LadderStep::kFlush, Reach::kOrdered, kNoMax);
  if (index == kNoBlock) index = grow(climb, LadderStep::kFlush);
  if (index == kNoBlock && !climb.is_over()) index = steal(climb, LadderStep::kSteal);
  if (index == kNoBlock && !climb.is_over()) index = make_dependent(climb);
  if (index == kNoBlock && !climb.is_over()) index = wait_for_pending(climb);
  if (index == kNoBlock && !climb.is_over()) index = release_and_grow(climb);
  return index;
}

// Pages of free blocks that are past, for a place where a few are missing.
BlockIndex AllocatorState::steal(Climb& climb, LadderStep step) noexcept {
  const Place place = heap.find_place(climb.request, true, kNoMax);
  if (place.hole == kNoBlock) return kNoBlock;
  const std::uint64_t spare = store.counts().spare;
  const std::uint64_t missing = place.pages.count > spare ? place.pages.count - spare : 0;
  const std::uint64_t room = room_pages(missing);
  if (missing > room) {
    const std::uint64_t wanted = missing - room;
    if (heap.idle_pages(place) < wanted) return kNoBlock;
    Result result = Result::kSuccess;
    const std::uint64_t moved = heap.make_spare(wanted, place, kNoMax, &result);
    heap.count_moved(moved);
    if (moved < wanted) {
      if (result != Result::kSuccess) fail(climb, result);
      return kNoBlock;
    }
  }
  return fill(climb, step, place);
}

// All stamps of a free block: past for the host, or before the stream's later work.
Result AllocatorState::order_stamps(const Block& block, StreamIndex user, bool on_host) noexcept {
  const auto order = [&](Stamp stamp) {
    return on_host ? timelines.complete(stamp) : timelines.make_ordered(user, stamp);
  };
  Result result = order(block.stamp);
  for (std::uint32_t number = block.uses; number != 0 && result == Result::kSuccess;
       number = heap.blocks().use(number).next)
    result = order({heap.blocks().use(number).stream, heap.blocks().use(number).epoch});
  return result;
}

// The stream waits on the device for a block that fits.
BlockIndex AllocatorState::make_dependent(Climb& climb) noexcept {
  if (!config.may_insert_waits) return kNoBlock;
  const BlockIndex found = heap.look(climb.request, Reach::kAny, kNoMax);
  if (found == kNoBlock) return kNoBlock;
  const Result result = order_stamps(heap.blocks()[found], climb.request.stream, false);
  if (result == Result::kSuccess)
    return take(climb, LadderStep::kDependency, Reach::kOrdered, kNoMax);
  // Where no event can be recorded or awaited, the host waits.
  if (result != Result::kInvalidHandle && result != Result::kCaptureUnsupported)
    fail(climb, result);
  return kNoBlock;
}

BlockIndex AllocatorState::largest_pending() const noexcept {
  const BlockTable& blocks = heap.blocks();
  BlockIndex largest = kNoBlock;
  for (BlockIndex index = blocks.first(); index != kNoBlock; index = blocks[index].after) {
    const bool is_pending = BlockTable::state_of(blocks[index]) == BlockState::kFree &&
                            blocks[index].pool == 0 && !heap.is_past(blocks[index]);
    if (!is_pending) continue;
    if (largest == kNoBlock || blocks[index].granules > blocks[largest].granules) largest = index;
  }
  return largest;
}

// The host waits: for the one block that fits, else for the largest, until the request can be met. What
// became past is joined and moved each time, so no more is waited for than is needed.
BlockIndex AllocatorState::wait_for_pending(Climb& climb) noexcept {
  while (true) {
    BlockIndex pending = heap.look(climb.request, Reach::kAny, kNoMax);
    if (pending == kNoBlock || heap.is_past(heap.blocks()[pending])) pending = largest_pending();
    if (pending == kNoBlock) return kNoBlock;
    const std::uint64_t bytes = heap.blocks()[pending].granules * kGranuleBytes;
    const Result result = order_stamps(heap.blocks()[pending], climb.request.stream, true);
    if (result != Result::kSuccess) {
      fail(climb, result);
      return kNoBlock;
    }
    climb.gained[number_of(LadderStep::kSynchronise)] += bytes;
    heap.settle();
    BlockIndex index = take(climb, LadderStep::kSynchronise, Reach::kOrdered, kNoMax);
    if (index == kNoBlock) index = steal(climb, LadderStep::kSynchronise);
    if (index != kNoBlock || climb.is_over()) return index;
  }
}

// Everything idle goes back to the driver, who may make something of it that spare handles are not.
BlockIndex AllocatorState::release_and_grow(Climb& climb) noexcept {
  Result result = Result::kSuccess;
  const std::uint64_t released = give_pages_back(0, kNoMax, &result);
  climb.gained[number_of(LadderStep::kRelease)] += released * store.page_bytes();
  if (result != Result::kSuccess) {
    fail(climb, result);
    return kNoBlock;
  }
  return released == 0 ? kNoBlock : grow(climb, LadderStep::kRelease);
}
}  // namespace drey::cuda
