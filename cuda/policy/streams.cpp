// streams.cpp: the part of allocator_state.hpp that knows streams: which one a handle is, what is known
// of their order, and what happens when one is about to be destroyed.
// SPDX-License-Identifier: MIT
#include "policy/allocator_state.hpp"

namespace drey::cuda {
namespace {
Outcome outcome_of(Result result) noexcept {
  switch (result) {
    case Result::kSuccess:
      return {};
    case Result::kInvalidHandle:
      return {Status::kInvalidStream, result};
    case Result::kOutOfMemory:
      return {Status::kTooManyStreams, result};
    case Result::kCaptureUnsupported:
    case Result::kCaptureImplicit:
      return {Status::kCaptureForbids, result};
    default:
      return {Status::kDriver, result};
  }
}
}  // namespace

// The thread's own memory first: no driver call for a stream it has seen. A per-thread stream is another
// one in each thread, so nobody else may remember it.
Outcome AllocatorState::find_stream(Stream handle, ThreadCache* cache, DriverScope& scope,
                                    StreamIndex* stream) noexcept {
  if (cache != nullptr) {
    const Magazine* const known = cache->find(handle);
    if (known != nullptr) {
      *stream = known->stream;
      return {};
    }
  }
  const Result pushed = scope.need();
  if (pushed != Result::kSuccess) return {Status::kDriver, pushed};
  const Result found = timelines.find(handle, stream);
  if (found != Result::kSuccess) return outcome_of(found);
  if (cache != nullptr && !config.asks_stream_ids)
    static_cast<void>(magazine_for(*cache, *stream, handle));
  return {};
}

// The thread's magazine for a stream; another one of its magazines is emptied for it if it must be.
Magazine* AllocatorState::magazine_for(ThreadCache& cache, StreamIndex stream,
                                       Stream handle) noexcept {
  Magazine* magazine = cache.find(stream);
  if (magazine != nullptr) {
    if (cache.find(handle) != magazine) cache.add_entry(handle, magazine);
    return magazine;
  }
  magazine = cache.add_magazine(stream, handle);
  if (magazine != nullptr) return magazine;
  Magazine& evicted = cache.magazines[cache.next_evicted];
  cache.next_evicted =
      static_cast<std::uint8_t>((cache.next_evicted + 1) % ThreadCache::kMagazines);
  for (std::uint32_t index = 0; index < kClassCount; ++index) flush_slot(cache, evicted, index, 0);
  cache.forget(evicted);
  return cache.add_magazine(stream, handle);
}

// Records what has not been, asks what is complete, and joins what became past.
Result AllocatorState::learn(DriverScope& scope) noexcept {
  const Result pushed = scope.need();
  if (pushed != Result::kSuccess) return pushed;
  for (std::size_t place = 0; place < timelines.stream_count(); ++place) {
    const Result closed =
        timelines.close_epoch(timelines.stream_at(static_cast<std::uint16_t>(place)));
    // Streams that are gone, or capture, or are another thread's: their memory has to wait.
    const bool is_expected = closed == Result::kSuccess || closed == Result::kInvalidHandle ||
                             closed == Result::kCaptureUnsupported;
    if (!is_expected) return closed;
  }
  const Result polled = timelines.poll();
  if (polled != Result::kSuccess) return polled;
  heap.settle();
  return Result::kSuccess;
}

Outcome AllocatorState::mark(Stream waited, StreamMark* mark) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  DriverScope scope(*driver_, context_, captures.count() != 0);
  StreamIndex stream;
  const Outcome found = find_stream(waited, this_thread_cache(), scope, &stream);
  if (!found.is_ok()) return found;
  const Stamp stamp = timelines.mark(stream);
  *mark = {stamp.epoch, stamp.stream.turn, stamp.stream.place};
  return {};
}

Outcome AllocatorState::note_wait(Stream waiter, StreamMark mark) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  const Stamp stamp{{mark.place, mark.turn}, mark.epoch};
  if (mark.place >= timelines.stream_count() || !timelines.is_point(stamp))
    return misused(Status::kInvalidStream);
  DriverScope scope(*driver_, context_, captures.count() != 0);
  StreamIndex stream;
  const Outcome found = find_stream(waiter, this_thread_cache(), scope, &stream);
  if (!found.is_ok()) return found;
  timelines.note_wait(stream, stamp);
  return {};
}

// All threads' magazines of the stream are emptied and forgotten, so that the handle is asked for again.
Outcome AllocatorState::retire(Stream handle) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  DriverScope scope(*driver_, context_, captures.count() != 0);
  const Result pushed = scope.need();
  if (pushed != Result::kSuccess) return {Status::kDriver, pushed};
  StreamIndex stream;
  const Result found = timelines.find(handle, &stream);
  if (found != Result::kSuccess) return outcome_of(found);
  close_caches();
  for (ThreadCache* cache = caches; cache != nullptr; cache = cache->next) {
    Magazine* const magazine = cache->find(stream);
    if (magazine == nullptr) continue;
    for (std::uint32_t index = 0; index < kClassCount; ++index)
      flush_slot(*cache, *magazine, index, 0);
    cache->forget(*magazine);
  }
  return outcome_of(timelines.retire(stream));
}
}  // namespace drey::cuda
