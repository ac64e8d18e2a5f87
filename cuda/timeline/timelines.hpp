// timelines.hpp: what the allocator knows about the order of a device's streams: epochs, the events
// that close them, what is known to be complete, and which stream waits for which.
//
// A stream's work is cut into epochs. A stamp (stream, epoch) on a freed block says: not before this
// point. An event recorded at the end of an epoch covers it and all before it, so one event serves every
// block freed since the last one, and none is recorded before somebody needs it or many blocks wait.
//
// Invariants, for each stream: complete <= closed < open; each event in flight covers an epoch in
// (complete, closed], in rising order, the last one closed itself; nobody waits for an open epoch.
// A stamp of the stream that asks, or of an epoch that is complete or waited for, is usable at once;
// any other is not before its event was recorded and waited for.
// Read next: timelines.cpp; docs/DESIGN.md, "Timelines".
// SPDX-License-Identifier: MIT
#pragma once

#include "pages/metadata_array.hpp"

#include <drey/cuda/driver_table.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
/// A stream: a place in the table, and whose turn it is there. A place is used again only when all work
/// of the stream before is known to be complete, so whatever an earlier turn left behind is past.
struct StreamIndex {
  static constexpr std::uint16_t kNone = UINT16_MAX;
  std::uint16_t place = kNone;
  std::uint32_t turn = 0;
  bool operator==(const StreamIndex&) const noexcept = default;
};

/// A point of a stream: the end of everything in the epoch.
struct Stamp {
  StreamIndex stream;
  std::uint64_t epoch = 0;
};
static_assert(sizeof(Stamp) == 16);

/// When an event is recorded though nobody asked: memory freed, or frees, since the last one. Only if
/// there is a second stream that could use the memory.
struct TimelinePolicy {
  std::uint64_t bytes_max = std::uint64_t{64} << 20;
  std::uint32_t frees_max = 64;
};

struct TimelineCounts {
  std::uint64_t events_recorded = 0;
  std::uint64_t events_queried = 0;
  std::uint64_t waits_inserted = 0;
  std::uint64_t synchronised = 0;  ///< times the host waited for an event or the device
};

/// Threads: one at a time, with the device's context current. Streams are told apart by cuStreamGetId,
/// not by handle: a handle that was destroyed and made again is another stream. Only its own thread
/// can record in a per-thread default stream; from others it looks like one that is gone.
class Timelines {
 public:
  static constexpr std::size_t kStreamsMax = 256;
  static constexpr std::size_t kEventsMax = 4096;

  Timelines() noexcept = default;
  /// Makes no driver call. See close().
  ~Timelines() = default;
  Timelines(const Timelines&) = delete;
  Timelines& operator=(const Timelines&) = delete;

  /// Fails: kOutOfMemory for the records.
  Result open(const DriverTable& driver, const TimelinePolicy& policy) noexcept;
  /// Destroys the events. Fails: as the driver; the rest stays.
  Result close() noexcept;
  void abandon() noexcept;
  [[nodiscard]] bool is_open() const noexcept { return lines_.size() != 0; }

  /// The stream's index, a new one at first sight. Cost: one driver call, cuStreamGetId; with a full
  /// table one for each stream, and a wait for the device if some were destroyed unannounced.
  /// Fails: as the driver; kOutOfMemory if kStreamsMax streams exist or are not past.
  Result find(Stream handle, StreamIndex* stream) noexcept;
  /// The stream is about to be destroyed: a last event, while that is possible, covers all of its work.
  /// Fails: as the driver, and the stream is as it was; kCaptureUnsupported while it captures.
  Result retire(StreamIndex stream) noexcept;

  /// Now, in the stream; its end, if it is gone. No driver call.
  [[nodiscard]] Stamp now(StreamIndex stream) noexcept;
  /// A block was freed with now(): records an event if the policy says so, and no stream is capturing.
  /// Fails: as the driver; the stamp is good all the same.
  Result note_free(StreamIndex stream, std::uint64_t bytes) noexcept;
  /// The same for `count` blocks, without the event. Returns: whether the policy asks for close_epoch().
  [[nodiscard]] bool count_free(StreamIndex stream, std::uint64_t bytes,
                                std::uint32_t count) noexcept;
  /// Ends the epoch by an event: all stamps so far can be waited for. Nothing to close: no call.
  /// Fails: as the driver; kInvalidHandle if the stream is gone: its stamps are complete only after
  /// complete(); kCaptureUnsupported while the stream captures.
  Result close_epoch(StreamIndex stream) noexcept;

  /// Whether work put into `user` now would come after the stamp, as far as is known. No driver call.
  [[nodiscard]] bool is_ordered(StreamIndex user, Stamp stamp) const noexcept;
  /// Whether all work before the stamp is known to be complete. No driver call.
  [[nodiscard]] bool is_past(Stamp stamp) const noexcept {
    return is_past_turn(stamp) || stamp.epoch <= lines_[stamp.stream.place].complete;
  }
  /// Whether an event that was recorded covers the stamp. No driver call.
  [[nodiscard]] bool is_covered(Stamp stamp) const noexcept {
    return is_past_turn(stamp) || stamp.epoch <= lines_[stamp.stream.place].closed;
  }
  /// Whether mark() can have made it, or its place is another stream's by now.
  [[nodiscard]] bool is_point(Stamp stamp) const noexcept {
    return is_past_turn(stamp) || stamp.epoch < lines_[stamp.stream.place].open;
  }
  /// Whether the stream is, as far as is known, not destroyed.
  [[nodiscard]] bool is_here(StreamIndex stream) const noexcept {
    return lines_[stream.place].turn == stream.turn && !lines_[stream.place].is_gone;
  }
  /// The handle under which the stream was found; null if its place has another one by now.
  [[nodiscard]] Stream handle_of(StreamIndex stream) const noexcept {
    return lines_[stream.place].turn == stream.turn ? lines_[stream.place].handle : nullptr;
  }
  /// Who is at the place now.
  [[nodiscard]] StreamIndex stream_at(std::uint16_t place) const noexcept {
    return {place, lines_[place].turn};
  }
  /// A point before which all stamps of the stream lie so far, and after which all later ones will. For
  /// a program that records an event of its own: the mark first, then the event. No driver call.
  [[nodiscard]] Stamp mark(StreamIndex stream) noexcept;
  /// The program made `waiter` wait for an event that it recorded after this mark.
  void note_wait(StreamIndex waiter, Stamp mark) noexcept;

  /// Asks the driver which events are complete, oldest first, until one is not. Not while capturing:
  /// then nothing is asked. Fails: as the driver; what was known stays known.
  Result poll() noexcept;
  /// Makes `user` wait on the device until the stamp is past. Fails: as close_epoch() and the driver.
  Result make_ordered(StreamIndex user, Stamp stamp) noexcept;
  /// The host waits until the stamp is past. For a stream that is gone, until the device is idle.
  Result complete(Stamp stamp) noexcept;

  /// The host waits until the device is idle: everything so far is past.
  Result complete_all() noexcept {
    return captures_ != 0 ? Result::kCaptureUnsupported : wait_for_device();
  }

  /// While a capture is under way no event may be asked or recorded.
  void capture_began() noexcept { ++captures_; }
  void capture_ended() noexcept { --captures_; }

  /// Places in use or used before.
  [[nodiscard]] std::size_t stream_count() const noexcept { return stream_count_; }
  [[nodiscard]] const TimelineCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  static constexpr std::uint16_t kNoEvent = UINT16_MAX;

  struct Timeline {
    Stream handle;
    std::uint64_t id;        // 0: nobody was here yet
    std::uint64_t open;      // the epoch that stamps get now
    std::uint64_t closed;    // covered by the last event
    std::uint64_t complete;  // known to be past
    std::uint64_t bytes;     // freed since the last event
    std::uint32_t frees;
    std::uint16_t first_event;  // in flight, oldest first
    std::uint16_t last_event;
    std::uint32_t turn;
    bool is_gone;     // no event can be recorded in it any more
    bool is_lost;     // gone without a last event: past only when the device is idle
    bool is_stamped;  // now() gave out the open epoch
  };
  struct EventRecord {
    Event event;
    std::uint64_t epoch;
    std::uint16_t next;
  };

  [[nodiscard]] static std::size_t place_of(StreamIndex waiter, StreamIndex waited) noexcept {
    return waiter.place * kStreamsMax + waited.place;
  }
  [[nodiscard]] static std::uint64_t last_stamped(const Timeline& line) noexcept {
    return line.is_stamped ? line.open : line.open - 1;
  }
  [[nodiscard]] bool is_past_turn(Stamp stamp) const noexcept {
    return lines_[stamp.stream.place].turn != stamp.stream.turn;
  }
  Result take_event(std::uint16_t* index) noexcept;
  void give_back_event(std::uint16_t index) noexcept;
  [[nodiscard]] std::uint16_t covering_event(const Timeline& line,
                                             std::uint64_t epoch) const noexcept;
  void end_epoch(Timeline& line) noexcept;
  void note_complete(Timeline& line, std::uint64_t epoch) noexcept;
  Result check_alive(Timeline& line) noexcept;
  Result check_can_record(Timeline& line) noexcept;
  Result make_place() noexcept;
  Result cover(Stamp stamp) noexcept;
  [[nodiscard]] StreamIndex place_for_new() noexcept;
  Result wait_for_device() noexcept;

  const DriverTable* driver_ = nullptr;
  TimelinePolicy policy_;
  TimelineCounts counts_;
  std::uint16_t stream_count_ = 0;  // places ever used
  std::uint16_t captures_ = 0;
  std::uint16_t free_event_ = kNoEvent;
  std::uint16_t event_count_ = 0;  // created
  MetadataArray<Timeline> lines_;
  MetadataArray<EventRecord> events_;
  MetadataArray<std::uint64_t> waits_;
};
}  // namespace drey::cuda
