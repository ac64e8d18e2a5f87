// deallocate.cpp: the part of allocator_state.hpp for blocks on their way back: what is wrong with a pointer,
// where its uses end, and into which magazine or list it goes.
// SPDX-License-Identifier: MIT
#include "magazines/cache_registry.hpp"
#include "policy/allocator_state.hpp"
#include "policy/coarse_clock.hpp"

#include <sched.h>

namespace drey::cuda {
Status AllocatorState::find_block(const void* pointer, BlockIndex* index) const noexcept {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(pointer) - base;
  if (offset >= arena_bytes) return Status::kForeignPointer;
  const auto granule = static_cast<std::uint32_t>(offset / kGranuleBytes);
  if (offset % kGranuleBytes == 0) *index = heap.blocks().at(granule);
  if (*index != kNoBlock) return Status::kOk;
  return Status::kInteriorPointer;
}

Outcome AllocatorState::deallocate(void* pointer, const Stream* stream,
                                   const std::size_t* bytes) noexcept {
  // Static objects free what they have when the process ends; the driver takes all of it.
  if (pointer == nullptr || cache_registry::is_exiting()) return {};
  ThreadCache* const cache = is_forked_child_ ? nullptr : cache_registry::attach(*this);
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  BlockIndex index = kNoBlock;
  const Status found = find_block(pointer, &index);
  if (found == Status::kInteriorPointer) return misused(name_mistake(pointer));
  if (found != Status::kOk) return misused(found);
  Block& block = heap.blocks()[index];
  if (BlockTable::state_of(block) != BlockState::kLive) return misused(name_mistake(pointer));
  if (bytes != nullptr && *bytes != block.requested) return misused(Status::kWrongSize);
  DriverScope scope(*driver_, context_, captures.count() != 0);
  StreamIndex owner = block.stamp.stream;
  if (stream != nullptr) {
    const Outcome known = find_stream(*stream, cache, scope, &owner);
    if (!known.is_ok()) return known;
  }
  if (block.pool != 0 || (captures.count() != 0 && stream != nullptr)) {
    const Outcome ended = free_in_pool(index, stream, owner, scope);
    if (!ended.is_ok()) return ended;
    if (is_slot(owner)) owner = captures.eager_of(owner);
  }
  if (!BlockTable::take_state(block, BlockState::kMagazine)) return misused(Status::kDoubleFree);
  tell({EventKind::kFree, LadderStep::kMagazine, config.device, pointer,
        block.granules * kGranuleBytes, block.requested, handle_of(owner)});
  const bool is_small = block.size_class != kNoClass || block.is_counted_small;
  CacheCounters& counts = !is_small          ? large_counts_
                          : cache != nullptr ? cache->counters
                                             : small_counts_;
  counts.frees.add(1);
  counts.freed_bytes.add(block.granules * kGranuleBytes);
  counts.freed_requested_bytes.add(block.requested);
  if (cache == nullptr || !put_in_magazine(index, *cache, owner, stream))
    put_in_heap(index, owner, coarse_ms());
  close_due_epochs(scope);
  open_cache(cache);
  return {};
}

// Of a pointer at which no live block begins. The way back to the block around it is for errors only.
Status AllocatorState::name_mistake(const void* pointer) const noexcept {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(pointer) - base;
  const auto granule = static_cast<std::uint32_t>(offset / kGranuleBytes);
  const Block& block = heap.blocks()[heap.blocks().around(granule)];
  switch (BlockTable::state_of(block)) {
    case BlockState::kLive:
      return Status::kInteriorPointer;
    case BlockState::kHole:
      return Status::kForeignPointer;
    default:
      return Status::kDoubleFree;
  }
}

bool AllocatorState::put_in_magazine(BlockIndex index, ThreadCache& cache, StreamIndex stream,
                                     const Stream* handle) noexcept {
  Block& block = heap.blocks()[index];
  if (block.size_class == kNoClass || block.uses != 0 || is_asleep_) return false;
  if (captures.count() != 0) return false;
  if (config.magazine_bytes_max == 0 || config.asks_stream_ids) return false;
  Magazine* magazine = cache.find(stream);
  if (magazine == nullptr) {
    // Of a stream this thread never allocated for. Another thread's own stream it never will.
    Stream known = handle != nullptr ? *handle : timelines.handle_of(stream);
    if (handle == nullptr && (known == per_thread_stream() || !timelines.is_here(stream)))
      return false;
    magazine = magazine_for(cache, stream, known);
  }
  const std::uint64_t bytes = block.granules * kGranuleBytes;
  Magazine::Slot& slot = magazine->slots[block.size_class];
  if (slot.count == slot.count_max)
    flush_slot(cache, *magazine, block.size_class, slot.count_max / 2);
  if (cache.counters.magazine_bytes.value() + bytes > cache.bytes_max) flush(cache);
  block.stamp.stream = stream;
  block.next = slot.head;
  slot.head = index;
  ++slot.count;
  cache.counters.magazine_bytes.add(bytes);
  return true;
}

// A use until the free ends now. What is past, or in the block's own stream, needs no stamp.
void AllocatorState::settle_uses(Block& block, StreamIndex stream) noexcept {
  BlockTable& blocks = heap.blocks();
  bool is_needed = false;
  for (std::uint32_t number = block.uses; number != 0; number = blocks.use(number).next) {
    Use& use = blocks.use(number);
    if (use.epoch == Use::kUntilFree) use.epoch = timelines.now(use.stream).epoch;
    is_needed = is_needed ||
                !(use.stream == stream || timelines.is_ordered(stream, {use.stream, use.epoch}));
    static_cast<void>(timelines.count_free(use.stream, 0, 1));
  }
  if (!is_needed) blocks.drop_uses(block);
}

void AllocatorState::put_in_heap(BlockIndex index, StreamIndex stream,
                                 std::uint32_t now_ms) noexcept {
  Block& block = heap.blocks()[index];
  const std::uint64_t bytes = block.granules * kGranuleBytes;
  if (block.pool == 0) {
    if (block.uses != 0) settle_uses(block, stream);
    block.stamp = timelines.now(stream);
  }  // else free_in_pool() has said what it waits for
  heap.give_back(index, now_ms);
  note_freed(stream, bytes, 1);
}

void AllocatorState::note_freed(StreamIndex stream, std::uint64_t bytes,
                                std::uint32_t count) noexcept {
  kept_.active.freed += count;
  kept_.active_bytes.freed += bytes;
  if (!timelines.count_free(stream, bytes, count) || is_asleep_) return;
  is_epoch_due_ = true;
  due_stream_ = stream;
}

// An event, if so much was freed that one is due. The stamps are good without it.
void AllocatorState::close_due_epochs(DriverScope& scope) noexcept {
  if (!is_epoch_due_) return;
  is_epoch_due_ = false;
  if (scope.need() == Result::kSuccess) static_cast<void>(timelines.close_epoch(due_stream_));
}

void AllocatorState::flush_slot(ThreadCache& cache, Magazine& magazine, std::uint32_t size_class,
                                std::uint32_t kept) noexcept {
  Magazine::Slot& slot = magazine.slots[size_class];
  if (slot.count <= kept) return;
  const std::uint32_t now_ms = coarse_ms();
  const Stamp stamp = timelines.now(magazine.stream);
  const std::uint32_t count = slot.count - kept;
  const std::uint64_t bytes = count * (granules_of_class(size_class) * kGranuleBytes);
  while (slot.count > kept) {
    const BlockIndex index = slot.head;
    Block& block = heap.blocks()[index];
    slot.head = block.next;
    --slot.count;
    block.stamp = stamp;
    heap.give_back(index, now_ms);
  }
  cache.counters.magazine_bytes.subtract(bytes);
  note_freed(magazine.stream, bytes, count);
}

std::uint64_t AllocatorState::flush(ThreadCache& cache) noexcept {
  const std::uint64_t bytes = cache.counters.magazine_bytes.value();
  for (Magazine& magazine : cache.magazines) {
    if (!magazine.is_used) continue;
    for (std::uint32_t index = 0; index < kClassCount; ++index)
      flush_slot(cache, magazine, index, 0);
  }
  return bytes;
}

void AllocatorState::close_caches() noexcept {
  if (caches == nullptr) return;
  bool any_open = false;
  for (ThreadCache* cache = caches; cache != nullptr; cache = cache->next) {
    // Relaxed: the barrier below orders it for the owner.
    any_open = any_open || cache->turn.load(std::memory_order_relaxed) != 0;
    cache->turn.store(0, std::memory_order_relaxed);
  }
  if (!any_open) return;
  cache_registry::barrier_in_all_threads();
  for (const ThreadCache* cache = caches; cache != nullptr; cache = cache->next) {
    // Acquire, pairs with leave(). The owner is within some twenty instructions.
    while (cache->busy.load(std::memory_order_acquire) != 0) ::sched_yield();
  }
}

std::uint64_t AllocatorState::flush_all() noexcept {
  close_caches();
  std::uint64_t bytes = 0;
  for (ThreadCache* cache = caches; cache != nullptr; cache = cache->next) bytes += flush(*cache);
  return bytes;
}

// The caller's own.
void AllocatorState::open_cache(ThreadCache* cache) noexcept {
  if (cache == nullptr || is_asleep_ || is_closing_) return;
  if (captures.count() != 0 || cache->scope_count != 0) return;
  if (config.magazine_bytes_max == 0 || config.asks_stream_ids) return;
  // Relaxed: the owner reads it itself; who closes it has the lock.
  cache->turn.store(turn, std::memory_order_relaxed);
}

// In a capture the graph says where the use ends, and no event is recorded.
Outcome AllocatorState::add_use(Block& block, Stream handle, StreamIndex stream, bool is_precise,
                                DriverScope& scope) noexcept {
  std::uint32_t serial = 0;
  const Outcome asked = find_capture(handle, scope, &serial);
  if (!asked.is_ok()) return asked;
  if (serial != 0 && block.pool != 0) {
    stream = captures.enter(serial, handle, stream);
    if (stream.place == StreamIndex::kNone) return {Status::kTooManyStreams};
  }
  if (stream == block.stamp.stream) return {};
  const Stamp now = ending_in(stream);
  if (is_precise && serial == 0) {
    Result closed = scope.need();
    if (closed == Result::kSuccess) closed = timelines.close_epoch(stream);
    // While others capture the event has to wait; the stamp is good, and later than need be.
    if (closed == Result::kCaptureUnsupported && captures.count() != 0) closed = Result::kSuccess;
    if (closed == Result::kCaptureUnsupported) return {Status::kCaptureForbids, closed};
    if (closed != Result::kSuccess) return {Status::kDriver, closed};
  }
  if (!heap.blocks().add_use(block, stream, is_precise ? now.epoch : Use::kUntilFree))
    return {Status::kNoMetadata};
  return {};
}

Outcome AllocatorState::record(void* pointer, Stream handle, bool is_precise) noexcept {
  ThreadCache* const cache = is_forked_child_ ? nullptr : cache_registry::attach(*this);
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  BlockIndex index = kNoBlock;
  const Status found = find_block(pointer, &index);
  if (found == Status::kForeignPointer) return misused(found);
  if (found != Status::kOk || BlockTable::state_of(heap.blocks()[index]) != BlockState::kLive)
    return misused(name_mistake(pointer));
  Block& block = heap.blocks()[index];
  DriverScope scope(*driver_, context_, captures.count() != 0);
  StreamIndex stream;
  const Outcome known = find_stream(handle, cache, scope, &stream);
  if (!known.is_ok()) return known;
  const Outcome added = add_use(block, handle, stream, is_precise, scope);
  if (!added.is_ok()) return added;
  tell({is_precise ? EventKind::kRecordUse : EventKind::kRecordStream, LadderStep::kMagazine,
        config.device, pointer, block.granules * kGranuleBytes, block.requested, handle});
  return {};
}
}  // namespace drey::cuda
