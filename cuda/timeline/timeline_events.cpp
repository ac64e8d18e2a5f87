// timeline_events.cpp: the events of timelines.hpp: recorded, kept in a list for each stream, used again.
// Invariant: an event is in a stream's list, or in the list of free ones, or was not created yet.
// SPDX-License-Identifier: MIT
#include "timeline/timelines.hpp"

#include <drey/base/assert.hpp>

namespace drey::cuda {
Result Timelines::close() noexcept {
  for (std::uint16_t index = 0; index < event_count_; ++index) {
    if (events_[index].event == nullptr) continue;
    const Result result = driver_->event_destroy(events_[index].event);
    if (result != Result::kSuccess) return result;
    events_[index].event = nullptr;
  }
  abandon();
  return Result::kSuccess;
}

Result Timelines::take_event(std::uint16_t* index) noexcept {
  if (free_event_ == kNoEvent && event_count_ == kEventsMax) {
    const Result polled = poll();
    if (polled != Result::kSuccess) return polled;
  }
  if (free_event_ != kNoEvent) {
    *index = free_event_;
    free_event_ = events_[free_event_].next;
    return Result::kSuccess;
  }
  if (event_count_ == kEventsMax) return Result::kOutOfMemory;
  Event event = nullptr;
  const Result created = driver_->event_create(&event, kEventDisableTiming);
  if (created != Result::kSuccess) return created;
  *index = event_count_++;
  events_[*index] = {event, 0, kNoEvent};
  return Result::kSuccess;
}

void Timelines::give_back_event(std::uint16_t index) noexcept {
  events_[index].next = free_event_;
  free_event_ = index;
}

void Timelines::end_epoch(Timeline& line) noexcept {
  if (!line.is_stamped) return;
  ++line.open;
  line.is_stamped = false;
}

// Whether the stream can be reached, from this thread and now. kInvalidHandle: not.
Result Timelines::check_alive(Timeline& line) noexcept {
  unsigned long long id = 0;
  const Result told = driver_->stream_get_id(line.handle, &id);
  if (told != Result::kSuccess && told != Result::kInvalidHandle) return told;
  if (told == Result::kSuccess && id + 1 == line.id) return Result::kSuccess;
  // Of a per-thread stream, it may be that only the thread is another one.
  if (line.handle != per_thread_stream()) line.is_gone = line.is_lost = true;
  return Result::kInvalidHandle;
}

Result Timelines::check_can_record(Timeline& line) noexcept {
  if (line.is_gone) return Result::kInvalidHandle;
  const Result alive = check_alive(line);
  if (alive != Result::kSuccess) return alive;
  if (captures_ == 0) return Result::kSuccess;
  if (line.handle == nullptr || line.handle == legacy_stream()) return Result::kCaptureUnsupported;
  CaptureStatus status = CaptureStatus::kNone;
  const Result asked = driver_->stream_is_capturing(line.handle, &status);
  if (asked != Result::kSuccess) return asked;
  return status == CaptureStatus::kNone ? Result::kSuccess : Result::kCaptureUnsupported;
}

Result Timelines::close_epoch(StreamIndex stream) noexcept {
  Timeline& line = lines_[stream.place];
  const std::uint64_t covered = last_stamped(line);
  if (line.turn != stream.turn || covered <= line.closed) return Result::kSuccess;
  const Result checked = check_can_record(line);
  if (checked != Result::kSuccess) return checked;
  std::uint16_t index = kNoEvent;
  const Result taken = take_event(&index);
  if (taken != Result::kSuccess) return taken;
  const Result recorded = driver_->event_record(events_[index].event, line.handle);
  if (recorded != Result::kSuccess) {
    give_back_event(index);
    return recorded;
  }
  ++counts_.events_recorded;
  events_[index].epoch = covered;
  events_[index].next = kNoEvent;
  if (line.first_event == kNoEvent) {
    line.first_event = index;
  } else {
    events_[line.last_event].next = index;
  }
  line.last_event = index;
  line.closed = covered;
  line.bytes = 0;
  line.frees = 0;
  end_epoch(line);
  return Result::kSuccess;
}

// After this, the stamp is complete or an event in flight covers it.
Result Timelines::cover(Stamp stamp) noexcept {
  const Timeline& line = lines_[stamp.stream.place];
  DREY_ASSERT(stamp.epoch <= line.open);
  return stamp.epoch <= line.closed ? Result::kSuccess : close_epoch(stamp.stream);
}

std::uint16_t Timelines::covering_event(const Timeline& line, std::uint64_t epoch) const noexcept {
  std::uint16_t index = line.first_event;
  while (index != kNoEvent && events_[index].epoch < epoch) index = events_[index].next;
  DREY_CHECK(index != kNoEvent, "no event covers an epoch that is closed and not complete");
  return index;
}

void Timelines::note_complete(Timeline& line, std::uint64_t epoch) noexcept {
  if (line.complete < epoch) line.complete = epoch;
  if (line.closed < epoch) line.closed = epoch;
  while (line.first_event != kNoEvent && events_[line.first_event].epoch <= line.complete) {
    const std::uint16_t past = line.first_event;
    line.first_event = events_[past].next;
    give_back_event(past);
  }
  if (line.first_event == kNoEvent) line.last_event = kNoEvent;
}

// For streams in which no event can be recorded: all of the device.
Result Timelines::wait_for_device() noexcept {
  const Result result = driver_->ctx_synchronize();
  if (result != Result::kSuccess) return result;
  ++counts_.synchronised;
  for (std::size_t place = 0; place < stream_count_; ++place) {
    Timeline& line = lines_[place];
    note_complete(line, last_stamped(line));
    end_epoch(line);
    line.is_lost = false;
  }
  return Result::kSuccess;
}
}  // namespace drey::cuda
