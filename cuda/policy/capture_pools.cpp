// capture_pools.cpp: the part of allocator_state.hpp for pools and captures as such: who uses a pool, when a
// capture begins and ends, and how a pool's memory becomes everybody's again.
//
// A pool is used by its creator, by the scopes and captures in it and by the graphs that came of captures. With the
// last use its blocks join the heap; only for replays that may still run the device is waited for.
// Read next: capture_blocks.cpp.
// SPDX-License-Identifier: MIT
#include "magazines/cache_registry.hpp"
#include "policy/allocator_state.hpp"

namespace drey::cuda {
namespace {
// An id: the allocator's turn, the pool's generation, its number.
constexpr unsigned kNumberBits = 8;
constexpr unsigned kGenerationBits = 28;
constexpr std::uint64_t kGenerationMask = (std::uint64_t{1} << kGenerationBits) - 1;
static_assert(CentralHeap::kPoolsMax <= 1U << kNumberBits);

// What becomes of a block's stamps when a capture ends.
struct Settling {
  BlockTable& blocks;
  const Captures& captures;
  std::uint32_t serial;
  std::uint16_t kept_pool;  // 0: there is no graph
};

bool is_of(const Settling& settling, StreamIndex stream) noexcept {
  return is_slot(stream) && Captures::serial_of(stream) == settling.serial;
}

void settle_block(void* context, Block& block) noexcept {
  const auto& settling = *static_cast<const Settling*>(context);
  bool is_touched = is_of(settling, block.stamp.stream);
  bool has_uses = false;
  for (std::uint32_t number = block.uses; number != 0; number = settling.blocks.use(number).next) {
    Use& use = settling.blocks.use(number);
    const bool is_captured = is_of(settling, use.stream);
    is_touched = is_touched || is_captured;
    if (is_captured && use.epoch == Use::kUntilFree) {
      use.stream = settling.captures.eager_of(use.stream);
    } else if (is_captured) {
      use.stream = kPastStamp.stream;
      use.epoch = kPastStamp.epoch;
    }
    has_uses = has_uses || use.epoch != kPastStamp.epoch;
  }
  if (!has_uses) settling.blocks.drop_uses(block);
  if (is_of(settling, block.stamp.stream)) {
    const bool is_live = BlockTable::state_of(block) == BlockState::kLive;
    block.stamp = is_live ? Stamp{settling.captures.eager_of(block.stamp.stream), 0} : kPastStamp;
  }
  if (is_touched && block.pool == settling.kept_pool) block.is_in_graphs = true;
}

struct Emptying {
  BlockTable& blocks;
  const Stamp* after;  // null: all work is past but what the blocks say themselves
  bool has_failed = false;
};

void empty_block(void* context, Block& block) noexcept {
  auto& emptying = *static_cast<Emptying*>(context);
  if (emptying.after != nullptr && block.is_in_graphs) {
    const bool is_past = BlockTable::state_of(block) == BlockState::kFree && block.uses == 0 &&
                         block.stamp.epoch == kPastStamp.epoch;
    if (is_past) {
      block.stamp = *emptying.after;
    } else if (!emptying.blocks.add_use(block, emptying.after->stream, emptying.after->epoch)) {
      emptying.has_failed = true;
      return;
    }
  }
  block.pool = 0;
  block.is_in_graphs = false;
}
}  // namespace

PoolId AllocatorState::id_of(std::uint16_t number) const noexcept {
  const std::uint64_t generation = pools_[number].generation & kGenerationMask;
  return {(turn << kGenerationBits | generation) << kNumberBits | number};
}

// 0: no pool of this allocator.
std::uint16_t AllocatorState::place_of(PoolId pool) const noexcept {
  const std::uint64_t number = pool.value & ((std::uint64_t{1} << kNumberBits) - 1);
  if (number == 0 || number >= CentralHeap::kPoolsMax) return 0;
  const auto place = static_cast<std::uint16_t>(number);
  const bool is_here = pools_[place].is_used && pools_[place].uses != 0;
  return is_here && id_of(place).value == pool.value ? place : std::uint16_t{0};
}

// 0: no capture of this allocator that is under way.
std::uint32_t AllocatorState::serial_of(CaptureId capture) const noexcept {
  const auto serial = static_cast<std::uint32_t>(capture.value);
  return capture.value >> 32 == (turn & UINT32_MAX) && captures.has(serial) ? serial : 0;
}

Outcome AllocatorState::create_pool(bool is_for_oom, PoolId* pool) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  for (std::uint16_t number = 1; number < CentralHeap::kPoolsMax; ++number) {
    if (pools_[number].is_used) continue;
    pools_[number] = {pools_[number].generation + 1, 1, true, false, false, is_for_oom};
    *pool = id_of(number);
    return {};
  }
  return {Status::kTooManyPools};
}

Outcome AllocatorState::retain_pool(PoolId pool) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  const std::uint16_t number = place_of(pool);
  if (number == 0) return misused(Status::kInvalidPool);
  ++pools_[number].uses;
  return {};
}

Outcome AllocatorState::release_pool(PoolId pool, const Stream* after) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  const std::uint16_t number = place_of(pool);
  if (number == 0) return misused(Status::kInvalidPool);
  DriverScope scope(*driver_, context_, captures.count() != 0);
  Stamp end;
  if (after != nullptr) {
    StreamIndex stream;
    const Outcome known = find_stream(*after, this_thread_cache(), scope, &stream);
    if (!known.is_ok()) return known;
    end = timelines.now(stream);
  }
  drop_use(number, scope, after != nullptr ? &end : nullptr);
  return {};
}

// With the last use the pool ends, now or when that is possible.
void AllocatorState::drop_use(std::uint16_t number, DriverScope& scope,
                              const Stamp* after) noexcept {
  Pool& pool = pools_[number];
  if (--pool.uses != 0) return;
  const bool may_empty = captures.count() == 0 && (after != nullptr || !pool.has_graphs);
  if (may_empty && empty_pool(number, after)) return;
  pool.is_draining = true;
  ++draining_count_;
  drain_pools(scope);
}

bool AllocatorState::empty_pool(std::uint16_t number, const Stamp* after) noexcept {
  Emptying emptying{heap.blocks(), after};
  heap.change_pool(number, empty_block, &emptying);
  if (emptying.has_failed) return false;
  if (pools_[number].is_draining) --draining_count_;
  pools_[number].is_used = pools_[number].is_draining = false;
  return true;
}

// Pools without uses. The device is waited for, for replays in streams that nobody told of.
void AllocatorState::drain_pools(DriverScope& scope) noexcept {
  if (draining_count_ == 0 || captures.count() != 0) return;
  bool is_idle = false;
  for (std::uint16_t number = 1; number < CentralHeap::kPoolsMax; ++number) {
    if (!pools_[number].is_draining) continue;
    if (pools_[number].has_graphs && !is_idle) {
      if (scope.need() != Result::kSuccess || timelines.complete_all() != Result::kSuccess) return;
      is_idle = true;
    }
    static_cast<void>(empty_pool(number, nullptr));
  }
  if (is_idle) heap.settle();
}

Outcome AllocatorState::begin_pool(PoolId pool) noexcept {
  ThreadCache* const cache = is_forked_child_ ? nullptr : cache_registry::attach(*this);
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  const std::uint16_t number = place_of(pool);
  if (number == 0) return misused(Status::kInvalidPool);
  if (cache == nullptr) return {Status::kNoMetadata};
  if (cache->scope_count == ThreadCache::kScopesMax) return {Status::kTooManyPools};
  ++pools_[number].uses;
  cache->scopes[cache->scope_count++] = number;
  // Relaxed: it is this thread's own; open_cache() leaves it closed.
  cache->turn.store(0, std::memory_order_relaxed);
  return {};
}

Outcome AllocatorState::end_pool(PoolId pool) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  const std::uint16_t number = place_of(pool);
  ThreadCache* const cache = this_thread_cache();
  if (number == 0 || cache == nullptr || cache->scope_count == 0 ||
      cache->scopes[cache->scope_count - 1] != number)
    return misused(Status::kInvalidPool);
  --cache->scope_count;
  DriverScope scope(*driver_, context_, captures.count() != 0);
  drop_use(number, scope, nullptr);
  return {};
}

void AllocatorState::leave_scopes(ThreadCache& cache) noexcept {
  while (cache.scope_count != 0) {
    const std::uint16_t number = cache.scopes[--cache.scope_count];
    if (--pools_[number].uses != 0) continue;
    pools_[number].is_draining = true;
    ++draining_count_;
  }
}

// Before the driver's capture begins: what may be asked of the device is asked now.
Outcome AllocatorState::begin_capture(PoolId pool, CaptureId* capture) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  if (driver_->stream_get_capture_info == nullptr)
    return {Status::kCaptureForbids, Result::kNotSupported};
  const std::uint16_t number = place_of(pool);
  if (number == 0) return misused(Status::kInvalidPool);
  if (captures.count() == 0 && !is_asleep_) {
    DriverScope scope(*driver_, context_);
    flush_all();
    is_epoch_due_ = false;
    const Result learnt = learn(scope);
    if (learnt != Result::kSuccess) return {Status::kDriver, learnt};
  }
  const std::uint32_t serial = captures.add(number);
  if (serial == 0) return {Status::kTooManyPools};
  close_caches();
  ++pools_[number].uses;
  timelines.capture_began();
  *capture = {(turn & UINT32_MAX) << 32 | serial};
  return {};
}

Outcome AllocatorState::bind_capture(CaptureId capture, Stream stream) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  const std::uint32_t serial = serial_of(capture);
  if (serial == 0) return misused(Status::kInvalidPool);
  DriverScope scope(*driver_, context_, true);
  Result result = scope.need();
  Captures::Standing standing;
  if (result == Result::kSuccess) result = captures.ask(stream, &standing);
  if (result == Result::kInvalidHandle) return misused(Status::kInvalidStream);
  if (result != Result::kSuccess) return {Status::kDriver, result};
  if (standing.status != CaptureStatus::kActive || !captures.bind(serial, standing.driver_id))
    return misused(Status::kInvalidStream);
  return {};
}

void AllocatorState::settle_capture(std::uint32_t serial, bool is_kept) noexcept {
  const std::uint16_t number = captures.pool_of(serial);
  Settling settling{heap.blocks(), captures, serial, is_kept ? number : std::uint16_t{0}};
  // Blocks of other pools were freed in this capture, maybe.
  for (std::uint16_t other = 1; other < CentralHeap::kPoolsMax; ++other) {
    if (pools_[other].is_used) heap.change_pool(other, settle_block, &settling);
  }
  captures.remove(serial);
  timelines.capture_ended();
}

// Whether there is a graph or not, everything of the capture itself ends here.
Outcome AllocatorState::end_capture(CaptureId capture, bool is_kept) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  const std::uint32_t serial = serial_of(capture);
  if (serial == 0) return misused(Status::kInvalidPool);
  const std::uint16_t number = captures.pool_of(serial);
  settle_capture(serial, is_kept);
  DriverScope scope(*driver_, context_, captures.count() != 0);
  if (is_kept) {
    pools_[number].has_graphs = true;
  } else {
    drop_use(number, scope, nullptr);
  }
  drain_pools(scope);
  return {};
}
}  // namespace drey::cuda
