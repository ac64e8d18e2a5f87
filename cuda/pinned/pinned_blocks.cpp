// pinned_blocks.cpp: the part of pinned_state.hpp that says until when a block is used.
// SPDX-License-Identifier: MIT
#include "pinned/pinned_state.hpp"

namespace drey::cuda {
Outcome pinned_outcome_of(Result result) noexcept {
  switch (result) {
    case Result::kSuccess:
      return {};
    case Result::kInvalidHandle:
      return {Status::kInvalidStream, result};
    case Result::kCaptureUnsupported:
    case Result::kCaptureImplicit:
      return {Status::kCaptureForbids, result};
    default:
      return {Status::kDriver, result};
  }
}

Outcome PinnedState::misused(Status status) noexcept {
  ++counts_.misuse;
  return {status};
}

// What a capture does with memory comes to pass when its graph runs, of which nobody tells this cache.
Outcome PinnedState::check_not_capturing(Stream handle) const noexcept {
  CaptureStatus status = CaptureStatus::kNone;
  const Result asked = driver_->stream_is_capturing(handle, &status);
  if (asked != Result::kSuccess) return pinned_outcome_of(asked);
  return {status == CaptureStatus::kNone ? Status::kOk : Status::kCaptureForbids};
}

Outcome PinnedState::find_stream(Stream handle, DriverScope& scope, StreamIndex* stream) noexcept {
  const Result pushed = scope.need();
  if (pushed != Result::kSuccess) return {Status::kDriver, pushed};
  const Outcome allowed = check_not_capturing(handle);
  if (!allowed.is_ok()) return allowed;
  const Result found = timelines_.find(handle, stream);
  if (found == Result::kOutOfMemory) return {Status::kTooManyStreams, found};
  return pinned_outcome_of(found);
}

Outcome PinnedState::find_live(void* pointer, PinnedIndex* index) noexcept {
  const Status found = table_.find(pointer, index);
  if (found != Status::kOk) return misused(found);
  if (table_.block(*index).state != PinnedBlockState::kLive) return misused(Status::kDoubleFree);
  return {};
}

bool PinnedState::is_past(const PinnedBlock& block) const noexcept {
  for (std::uint8_t place = 0; place < block.stamp_count; ++place) {
    if (!timelines_.is_past(block.stamps[place])) return false;
  }
  return true;
}

bool PinnedState::is_ordered(StreamIndex user, const PinnedBlock& block) const noexcept {
  for (std::uint8_t place = 0; place < block.stamp_count; ++place) {
    if (!timelines_.is_ordered(user, block.stamps[place])) return false;
  }
  return true;
}

// Stamps that are past make room. False: too many are not.
bool PinnedState::add_stamp(PinnedBlock& block, Stamp stamp) noexcept {
  std::uint8_t kept = 0;
  for (std::uint8_t place = 0; place < block.stamp_count; ++place) {
    const Stamp old = block.stamps[place];
    const bool is_same = old.stream == stamp.stream;
    if (is_same && stamp.epoch < old.epoch) stamp = old;
    if (!is_same && !timelines_.is_past(old)) block.stamps[kept++] = old;
  }
  block.stamp_count = kept;
  if (kept == PinnedBlock::kStampsMax) return false;
  block.stamps[block.stamp_count++] = stamp;
  return true;
}

// Of the stream that a free names, or of the one that the block was allocated for.
Outcome PinnedState::add_end_of(PinnedBlock& block, const Stream* stream,
                                DriverScope& scope) noexcept {
  StreamIndex user = block.stream;
  if (stream != nullptr) {
    const Outcome found = find_stream(*stream, scope, &user);
    if (!found.is_ok()) return found;
  } else if (user.place == StreamIndex::kNone) {
    return {};
  } else if (timelines_.is_here(user)) {
    const Result pushed = scope.need();
    if (pushed != Result::kSuccess) return {Status::kDriver, pushed};
    const Outcome allowed = check_not_capturing(timelines_.handle_of(user));
    // A stream that was destroyed has no more work than its stamps say.
    if (!allowed.is_ok() && allowed.status != Status::kInvalidStream) return allowed;
  }
  if (!add_stamp(block, timelines_.now(user))) return {Status::kTooManyStreams};
  note_free(user);
  return {};
}

// The stamp is good even if the event fails: it is recorded when somebody looks for memory.
void PinnedState::note_free(StreamIndex stream) noexcept {
  if (++frees_[stream.place] < config_.frees_per_event) return;
  if (timelines_.close_epoch(stream) == Result::kSuccess) frees_[stream.place] = 0;
}

Outcome PinnedState::deallocate(void* pointer, const Stream* stream,
                                const std::size_t* bytes) noexcept {
  const MutexHolder holder(lock);
  if (is_forked_child_) return {Status::kForkedChild};
  if (pinned_registry::is_exiting()) return {};
  if (is_closing_) return {Status::kClosed};
  PinnedIndex index = kNoPinned;
  const Outcome found = find_live(pointer, &index);
  if (!found.is_ok()) return found;
  PinnedBlock& block = table_.block(index);
  if (bytes != nullptr && *bytes != block.requested) return misused(Status::kWrongSize);
  DriverScope scope(*driver_, context_, true);
  const Outcome added = add_end_of(block, stream, scope);
  if (!added.is_ok()) return added;
  --counts_.live_blocks;
  counts_.live_bytes -= bytes_of_class(table_.slab_of(index).size_class);
  counts_.requested_bytes -= block.requested;
  table_.give_back(index, is_past(block));
  return {};
}

Outcome PinnedState::record_use(void* pointer, Stream handle) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  PinnedIndex index = kNoPinned;
  const Outcome live = find_live(pointer, &index);
  if (!live.is_ok()) return live;
  DriverScope scope(*driver_, context_, true);
  StreamIndex stream;
  const Outcome found = find_stream(handle, scope, &stream);
  if (!found.is_ok()) return found;
  const Stamp now = timelines_.now(stream);
  const Result closed = timelines_.close_epoch(stream);
  if (closed != Result::kSuccess) return pinned_outcome_of(closed);
  frees_[stream.place] = 0;
  return {add_stamp(table_.block(index), now) ? Status::kOk : Status::kTooManyStreams};
}

Outcome PinnedState::retire(Stream handle) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  DriverScope scope(*driver_, context_, true);
  StreamIndex stream;
  const Outcome found = find_stream(handle, scope, &stream);
  return found.is_ok() ? pinned_outcome_of(timelines_.retire(stream)) : found;
}
}  // namespace drey::cuda
