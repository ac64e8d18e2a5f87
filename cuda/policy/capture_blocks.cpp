// capture_blocks.cpp: the part of allocator_state.hpp for blocks of pools: which pool an allocation is of, where
// its memory comes from, and what a block that was freed waits for.
//
// In a capture memory is what the pool has and the graph orders, or what is past, or new: nothing is waited
// for, asked, or taken from the device. Pools get whole pages.
// Read next: capture_pools.cpp.
// SPDX-License-Identifier: MIT
#include "policy/allocator_state.hpp"
#include "policy/coarse_clock.hpp"

#include <algorithm>

namespace drey::cuda {
// Where the uses of a block end: outside of captures, in one, or both.
struct AllocatorState::Ending {
  StreamIndex eager;
  StreamIndex slot;
  [[nodiscard]] bool has_eager() const noexcept { return eager.place != StreamIndex::kNone; }
  [[nodiscard]] bool has_slot() const noexcept { return slot.place != StreamIndex::kNone; }
};

// The capture that the stream is in; 0: none. One that was not told of is refused: its graph may use the memory
// at any time, and nobody says when that ends. One that broke makes no graph.
Outcome AllocatorState::find_capture(Stream stream, DriverScope& scope,
                                     std::uint32_t* serial) noexcept {
  *serial = 0;
  if (captures.count() == 0) return {};
  Result result = scope.need();
  Captures::Standing standing;
  if (result == Result::kSuccess) result = captures.ask(stream, &standing);
  if (result != Result::kSuccess) return {Status::kDriver, result};
  *serial = standing.serial;
  const bool is_unknown = standing.status == CaptureStatus::kActive && standing.serial == 0;
  return is_unknown ? Outcome{Status::kCaptureForbids} : Outcome{};
}

Outcome AllocatorState::choose_pool(Climb& climb, DriverScope& scope, PoolId asked) noexcept {
  climb.eager = climb.request.stream;
  std::uint16_t pool = place_of(asked);
  if (asked.value != 0 && pool == 0) return misused(Status::kInvalidPool);
  if (asked.value == 0 && climb.cache != nullptr && climb.cache->scope_count != 0)
    pool = climb.cache->scopes[climb.cache->scope_count - 1];
  if (captures.count() != 0) {
    Result result = scope.need();
    Captures::Standing standing;
    if (result == Result::kSuccess) result = captures.ask(climb.handle, &standing);
    if (result != Result::kSuccess) return {Status::kDriver, result};
    if (standing.status != CaptureStatus::kNone) {
      if (standing.serial == 0) return {Status::kCaptureForbids};
      // Before any scope: the memory has to last as long as the graph.
      const std::uint16_t of_capture = captures.pool_of(standing.serial);
      if (asked.value != 0 && pool != of_capture) return misused(Status::kInvalidPool);
      pool = of_capture;
      climb.request.stream = captures.enter(standing.serial, climb.handle, climb.eager);
      if (!climb.is_captured()) return {Status::kTooManyStreams};
    }
  }
  if (pool == 0) return {};
  climb.request.pool = pool;
  climb.is_pooled_small = climb.request.granules <= kClassGranulesMax;
  climb.size_class = kNoClass;  // never in magazines
  return {};
}

BlockIndex AllocatorState::climb_in_pool(Climb& climb, DriverScope& scope) noexcept {
  BlockIndex index = take(climb, LadderStep::kSameStream, Reach::kOrdered, kNoMax);
  if (index != kNoBlock) return index;
  const Result pushed = scope.need();
  if (pushed != Result::kSuccess) {
    fail(climb, pushed);
    return kNoBlock;
  }
  const std::uint64_t page = heap.granules_of_page();
  const PoolId asked_for = id_of(climb.request.pool);
  Climb pages = climb;
  pages.request.granules =
      static_cast<std::uint32_t>((climb.request.granules + page - 1) / page * page);
  pages.request.alignment_granules = std::max(page, climb.request.alignment_granules);
  pages.request.pool = 0;
  index = climb.is_captured() ? climb_captured(pages) : this->climb(pages, scope);
  const Request request = climb.request;
  climb = pages;
  climb.request = request;
  if (index == kNoBlock) return kNoBlock;
  Block& block = heap.blocks()[index];
  block.stamp = climb.is_captured() ? kPastStamp : timelines.now(climb.eager);
  block.is_in_graphs = false;
  // A callback may have released it.
  const bool is_here = place_of(asked_for) == request.pool;
  if (!is_here) {
    heap.give_back(index, coarse_ms());
    climb.outcome = {Status::kInvalidPool};
    return kNoBlock;
  }
  block.pool = request.pool;
  index = heap.take_from(index, request);
  if (index == kNoBlock) climb.outcome = {Status::kNoMetadata};
  return index;
}

BlockIndex AllocatorState::climb_captured(Climb& climb) noexcept {
  climb.was_retried = true;  // looks at all holes
  BlockIndex index = take(climb, LadderStep::kOtherStream, Reach::kPast, kNoMax);
  if (index == kNoBlock) index = grow(climb, LadderStep::kGrow);
  if (index != kNoBlock || climb.is_over()) return index;
  const std::uint64_t pooled = take_back_pools();
  climb.gained[static_cast<std::size_t>(LadderStep::kPools)] += pooled;
  if (pooled != 0) index = take(climb, LadderStep::kPools, Reach::kPast, kNoMax);
  if (index == kNoBlock) climb.outcome = {Status::kOutOfMemory};
  return index;
}

// Free memory of the pools that are for this, but for what graphs use.
std::uint64_t AllocatorState::take_back_pools() noexcept {
  struct Taking {
    BlockTable& blocks;
    std::uint64_t bytes = 0;
  } taking{heap.blocks()};
  for (std::uint16_t number = 1; number < CentralHeap::kPoolsMax; ++number) {
    if (!pools_[number].is_used || !pools_[number].is_for_oom) continue;
    heap.change_pool(
        number,
        [](void* context, Block& block) noexcept {
          auto& taken = *static_cast<Taking*>(context);
          bool is_captured = block.is_in_graphs || is_slot(block.stamp.stream);
          for (std::uint32_t use = block.uses; use != 0; use = taken.blocks.use(use).next)
            is_captured = is_captured || is_slot(taken.blocks.use(use).stream);
          if (is_captured || BlockTable::state_of(block) != BlockState::kFree) return;
          block.pool = 0;
          taken.bytes += block.granules * kGranuleBytes;
        },
        &taking);
  }
  return taking.bytes;
}

// `eager`: the stream that was named, or else the block's own.
Outcome AllocatorState::find_ending(const Block& block, const Stream* stream, StreamIndex eager,
                                    DriverScope& scope, Ending* ending) noexcept {
  const StreamIndex born = block.stamp.stream;
  std::uint32_t serial = 0;
  if (stream != nullptr) {
    const Outcome asked = find_capture(*stream, scope, &serial);
    if (!asked.is_ok()) return asked;
  } else if (!is_slot(born) && timelines.handle_of(born) != per_thread_stream() &&
             timelines.is_here(born)) {
    // Its own stream captures now, maybe; a handle that is another's by now is not asked.
    if (!find_capture(timelines.handle_of(born), scope, &serial).is_ok()) serial = 0;
  }
  if (serial != 0) {
    ending->slot = captures.enter(serial, handle_of(eager), eager);
    if (!ending->has_slot()) return {Status::kTooManyStreams};
    if (!is_slot(born) || Captures::serial_of(born) != serial) ending->eager = eager;
    return {};
  }
  if (is_slot(born)) ending->slot = born;
  if (!is_slot(eager)) {
    ending->eager = eager;
  } else if (captures.now(born).epoch == Captures::kNowhere) {
    // Not in the capture any more: what it did since counts too.
    ending->eager = captures.eager_of(born);
  }
  return {};
}

// A use until the free, recorded outside, of a stream that is in a capture by now: also up to there.
Outcome AllocatorState::add_captured_uses(Block& block, DriverScope& scope) noexcept {
  if (captures.count() == 0) return {};
  BlockTable& blocks = heap.blocks();
  for (std::uint32_t number = block.uses; number != 0; number = blocks.use(number).next) {
    const Use use = blocks.use(number);
    if (use.epoch != Use::kUntilFree || is_slot(use.stream) || !timelines.is_here(use.stream))
      continue;
    Stream handle = timelines.handle_of(use.stream);
    std::uint32_t serial = 0;
    if (handle == per_thread_stream() || !find_capture(handle, scope, &serial).is_ok()) continue;
    if (serial == 0) continue;
    const StreamIndex slot = captures.enter(serial, handle, use.stream);
    if (slot.place == StreamIndex::kNone) return {Status::kTooManyStreams};
    if (!blocks.add_use(block, slot, captures.now(slot).epoch)) return {Status::kNoMetadata};
  }
  return {};
}

// Of a block of the heap only whether it may be freed in this stream. One of a pool gets its stamps.
Outcome AllocatorState::free_in_pool(BlockIndex index, const Stream* stream, StreamIndex eager,
                                     DriverScope& scope) noexcept {
  Block& block = heap.blocks()[index];
  if (block.pool == 0) {
    std::uint32_t serial = 0;
    return find_capture(*stream, scope, &serial);
  }
  Ending ending;
  const Outcome found = find_ending(block, stream, eager, scope, &ending);
  if (!found.is_ok()) return found;
  BlockTable& blocks = heap.blocks();
  const Outcome captured = add_captured_uses(block, scope);
  if (!captured.is_ok()) return captured;
  const StreamIndex born = block.stamp.stream;
  const bool is_elsewhere = is_slot(born) && !(born == ending.slot);
  if (is_elsewhere && !blocks.add_use(block, born, captures.now(born).epoch))
    return {Status::kNoMetadata};
  if (ending.has_slot() && ending.has_eager() &&
      !blocks.add_use(block, ending.eager, timelines.now(ending.eager).epoch))
    return {Status::kNoMetadata};
  for (std::uint32_t number = block.uses; number != 0; number = blocks.use(number).next) {
    Use& use = blocks.use(number);
    if (use.epoch == Use::kUntilFree) use.epoch = ending_in(use.stream).epoch;
    if (!is_slot(use.stream)) static_cast<void>(timelines.count_free(use.stream, 0, 1));
  }
  block.stamp = ending_in(ending.has_slot() ? ending.slot : ending.eager);
  return {};
}
}  // namespace drey::cuda
