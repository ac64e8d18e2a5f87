// timelines.cpp: see timelines.hpp.
//
// Not used: that a stream which waits for another has thereby waited for all the other waited for. Each
// pair is known by itself, which costs a wait now and then and never a hazard.
// Read next: timeline_events.cpp.
// SPDX-License-Identifier: MIT
#include "timeline/timelines.hpp"

#include <drey/base/assert.hpp>

namespace drey::cuda {
Result Timelines::open(const DriverTable& driver, const TimelinePolicy& policy) noexcept {
  driver_ = &driver;
  policy_ = policy;
  if (lines_.take(kStreamsMax) && events_.take(kEventsMax) &&
      waits_.take(kStreamsMax * kStreamsMax))
    return Result::kSuccess;
  abandon();
  return Result::kOutOfMemory;
}

void Timelines::abandon() noexcept {
  lines_.give_back();
  events_.give_back();
  waits_.give_back();
  stream_count_ = 0;
  captures_ = 0;
  free_event_ = kNoEvent;
  event_count_ = 0;
}

// The lowest place whose stream is gone with all of its work known to be past, or a new one.
StreamIndex Timelines::place_for_new() noexcept {
  for (std::uint16_t place = 0; place < stream_count_; ++place) {
    const Timeline& line = lines_[place];
    if (line.is_gone && !line.is_lost && line.complete == last_stamped(line))
      return {place, line.turn + 1};
  }
  if (stream_count_ == kStreamsMax) return {};
  return {stream_count_++, 1};
}

// The table is full: looks for streams that were destroyed without a word.
Result Timelines::make_place() noexcept {
  Result result = poll();
  bool any_lost = false;
  for (std::size_t place = 0; place < stream_count_ && result == Result::kSuccess; ++place) {
    if (!lines_[place].is_gone) result = check_alive(lines_[place]);
    if (result == Result::kInvalidHandle) result = Result::kSuccess;
    any_lost = any_lost || lines_[place].is_lost;
  }
  if (result != Result::kSuccess || !any_lost || captures_ != 0) return result;
  return wait_for_device();
}

Result Timelines::find(Stream handle, StreamIndex* stream) noexcept {
  unsigned long long id = 0;
  const Result told = driver_->stream_get_id(handle, &id);
  if (told != Result::kSuccess) return told;
  // A driver may number from 0; here 0 is nobody.
  const std::uint64_t key = id + 1;
  for (std::uint16_t place = 0; place < stream_count_; ++place) {
    if (lines_[place].id != key || lines_[place].is_gone) continue;
    *stream = {place, lines_[place].turn};
    return Result::kSuccess;
  }
  StreamIndex found = place_for_new();
  if (found.place == StreamIndex::kNone) {
    const Result made = make_place();
    if (made != Result::kSuccess) return made;
    found = place_for_new();
  }
  if (found.place == StreamIndex::kNone) return Result::kOutOfMemory;
  Timeline& line = lines_[found.place];
  const std::uint64_t past = line.open == 0 ? 0 : last_stamped(line);
  line = {};
  line.handle = handle;
  line.id = key;
  line.turn = found.turn;
  line.open = past + 1;
  line.closed = line.complete = past;
  line.first_event = line.last_event = kNoEvent;
  // The new stream waits for nobody; that others waited for the old one there stays true.
  for (std::uint16_t other = 0; other < kStreamsMax; ++other) waits_[place_of(found, {other})] = 0;
  *stream = found;
  return Result::kSuccess;
}

Result Timelines::retire(StreamIndex stream) noexcept {
  Timeline& line = lines_[stream.place];
  if (line.turn != stream.turn || line.is_gone) return Result::kSuccess;
  static_cast<void>(
      now(stream));  // so that there is an epoch to close: live blocks have no stamp yet
  const Result closed = close_epoch(stream);
  if (closed == Result::kSuccess) line.is_gone = true;
  return closed;
}

Stamp Timelines::now(StreamIndex stream) noexcept {
  Timeline& line = lines_[stream.place];
  if (line.turn != stream.turn || (line.is_gone && !line.is_lost))
    return {stream, line.turn != stream.turn ? 0 : last_stamped(line)};
  line.is_stamped = true;
  return {stream, line.open};
}

Stamp Timelines::mark(StreamIndex stream) noexcept {
  Timeline& line = lines_[stream.place];
  DREY_ASSERT(line.turn == stream.turn);
  end_epoch(line);
  return {stream, line.open - 1};
}

void Timelines::note_wait(StreamIndex waiter, Stamp mark) noexcept {
  if (is_past_turn(mark)) return;
  DREY_ASSERT(mark.epoch < lines_[mark.stream.place].open);
  std::uint64_t& known = waits_[place_of(waiter, mark.stream)];
  if (known < mark.epoch) known = mark.epoch;
}

// Of a stream whose place is another one's by now nothing is known: the waits there are the other one's.
bool Timelines::is_ordered(StreamIndex user, Stamp stamp) const noexcept {
  if (is_past_turn(stamp) || stamp.epoch <= lines_[stamp.stream.place].complete) return true;
  if (lines_[user.place].turn != user.turn) return false;
  return user == stamp.stream || stamp.epoch <= waits_[place_of(user, stamp.stream)];
}

bool Timelines::count_free(StreamIndex stream, std::uint64_t bytes, std::uint32_t count) noexcept {
  Timeline& line = lines_[stream.place];
  if (line.turn != stream.turn || line.is_gone) return false;
  line.bytes += bytes;
  line.frees += count;
  const bool is_due = line.bytes > policy_.bytes_max || line.frees > policy_.frees_max;
  return is_due && stream_count_ >= 2 && captures_ == 0;
}

Result Timelines::note_free(StreamIndex stream, std::uint64_t bytes) noexcept {
  return count_free(stream, bytes, 1) ? close_epoch(stream) : Result::kSuccess;
}

Result Timelines::poll() noexcept {
  if (captures_ != 0) return Result::kSuccess;
  for (std::size_t place = 0; place < stream_count_; ++place) {
    Timeline& line = lines_[place];
    while (line.first_event != kNoEvent) {
      const EventRecord& oldest = events_[line.first_event];
      ++counts_.events_queried;
      const Result result = driver_->event_query(oldest.event);
      if (result == Result::kNotReady) break;
      if (result != Result::kSuccess) return result;
      note_complete(line, oldest.epoch);
    }
  }
  return Result::kSuccess;
}

Result Timelines::make_ordered(StreamIndex user, Stamp stamp) noexcept {
  if (is_ordered(user, stamp)) return Result::kSuccess;
  // A wait for work outside a capture would break it.
  if (captures_ != 0) return Result::kCaptureUnsupported;
  const Result covered = cover(stamp);
  if (covered != Result::kSuccess) return covered;
  const EventRecord& event = events_[covering_event(lines_[stamp.stream.place], stamp.epoch)];
  const Result result = driver_->stream_wait_event(lines_[user.place].handle, event.event, 0);
  if (result != Result::kSuccess) return result;
  ++counts_.waits_inserted;
  note_wait(user, {stamp.stream, event.epoch});
  return Result::kSuccess;
}

Result Timelines::complete(Stamp stamp) noexcept {
  Timeline& line = lines_[stamp.stream.place];
  if (is_past_turn(stamp) || stamp.epoch <= line.complete) return Result::kSuccess;
  if (captures_ != 0) return Result::kCaptureUnsupported;
  const Result covered = cover(stamp);
  if (covered == Result::kInvalidHandle) return wait_for_device();
  if (covered != Result::kSuccess) return covered;
  const EventRecord& event = events_[covering_event(line, stamp.epoch)];
  const Result result = driver_->event_synchronize(event.event);
  if (result != Result::kSuccess) return result;
  ++counts_.synchronised;
  note_complete(line, event.epoch);
  return Result::kSuccess;
}

bool Timelines::invariants_hold() const noexcept {
  for (std::size_t place = 0; place < stream_count_; ++place) {
    const Timeline& line = lines_[place];
    if (line.complete > line.closed || line.closed >= line.open) return false;
    std::uint64_t covered = line.complete;
    for (std::uint16_t index = line.first_event; index != kNoEvent; index = events_[index].next) {
      if (events_[index].epoch <= covered) return false;
      covered = events_[index].epoch;
      if (events_[index].next == kNoEvent && index != line.last_event) return false;
    }
    if (covered != line.closed) return false;
    for (std::uint16_t waiter = 0; waiter < stream_count_; ++waiter) {
      if (waits_[place_of({waiter}, {static_cast<std::uint16_t>(place)})] >= line.open)
        return false;
    }
  }
  return true;
}
}  // namespace drey::cuda
