// captures.hpp: the captures under way, and which captured work is ordered before which.
//
// A stream in a capture is a slot. Where it stands is a point: the nodes that its next work will depend on.
// A stamp (slot, point) on a block says: the graph's work up to here uses it. It is ordered before the
// later work of a slot if each node of the point is an ancestor of what that slot stands on. The ancestors of
// each slot are remembered, so each node of the graph is looked at once for each stream.
//
// Invariants: within a slot a later point is ordered after an earlier one: a stream whose tail was taken away
// gets another slot. The driver is only asked what it answers in a capture; what it does not tell counts
// as not ordered.
// Read next: captures.cpp, policy/capture_pools.cpp; docs/DESIGN.md, "Pools for captures".
// SPDX-License-Identifier: MIT
#pragma once

#include "capture/node_table.hpp"
#include "timeline/timelines.hpp"

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
/// Slots have places behind all streams'.
inline constexpr std::uint16_t kFirstSlotPlace = 0x4000;
[[nodiscard]] constexpr bool is_slot(StreamIndex stream) noexcept {
  return stream.place >= kFirstSlotPlace && stream.place != StreamIndex::kNone;
}

/// Threads: one at a time, as Timelines.
class Captures {
 public:
  static constexpr std::size_t kCapturesMax = 16;
  static constexpr std::size_t kSlotsMax = NodeTable::kSlotsMax;  // of one capture
  static constexpr std::size_t kPointsMax = std::size_t{1} << 20;
  /// A point that nothing is ordered after.
  static constexpr std::uint64_t kNowhere = UINT64_MAX - 1;

  /// Fails: false without memory for the records.
  [[nodiscard]] bool open(const DriverTable& driver) noexcept;
  void close() noexcept;

  /// A capture of the pool will begin. Returns: its serial, never 0; 0 if there are too many.
  [[nodiscard]] std::uint32_t add(std::uint16_t pool) noexcept;
  void remove(std::uint32_t serial) noexcept;
  [[nodiscard]] bool has(std::uint32_t serial) const noexcept { return find(serial) != kNone; }
  [[nodiscard]] std::uint16_t pool_of(std::uint32_t serial) const noexcept {
    return captures_[find(serial)].pool;
  }
  /// Under way: while there are any, no event may be asked and no magazine is open.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  /// What the driver says of a stream. serial: 0 if it does not capture, or in a capture not told of.
  struct Standing {
    CaptureStatus status = CaptureStatus::kNone;
    unsigned long long driver_id = 0;
    std::uint32_t serial = 0;
  };
  /// Fails: as the driver.
  Result ask(Stream stream, Standing* standing) const noexcept;
  /// The capture has this number with the driver. False: it has another one, or another capture has it.
  [[nodiscard]] bool bind(std::uint32_t serial, unsigned long long driver_id) noexcept;

  /// The stream's slot in the capture, and where it stands now. `eager`: the stream outside of captures.
  /// Returns: no slot (place kNone) if there is none left.
  [[nodiscard]] StreamIndex enter(std::uint32_t serial, Stream stream, StreamIndex eager) noexcept;
  /// Where the slot's stream stands, asked anew; kNowhere if it does not capture any more.
  [[nodiscard]] Stamp now(StreamIndex slot) noexcept;
  [[nodiscard]] bool is_ordered(StreamIndex user, Stamp stamp) const noexcept;

  [[nodiscard]] static std::uint32_t serial_of(StreamIndex slot) noexcept { return slot.turn; }
  [[nodiscard]] StreamIndex eager_of(StreamIndex slot) const noexcept {
    return slot_at(slot).eager;
  }
  [[nodiscard]] Stream handle_of(StreamIndex slot) const noexcept { return slot_at(slot).handle; }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Slot {
    Stream handle;
    StreamIndex eager;
    std::uint64_t point;  // it was last seen at; 0: not yet
    bool is_replaced;
  };
  struct Capture {
    std::uint32_t serial;  // 0: none
    std::uint16_t pool;
    std::uint16_t slot_count;
    unsigned long long driver_id;  // 0: not known yet
    Slot slots[kSlotsMax];
    NodeTable ancestors;
  };
  struct Point {
    std::uint32_t first;  // in nodes_
    std::uint32_t count;
  };
  struct Tail {
    const GraphNode* nodes = nullptr;
    std::size_t count = 0;
  };

  [[nodiscard]] std::size_t find(std::uint32_t serial) const noexcept;
  [[nodiscard]] static std::size_t capture_of(StreamIndex slot) noexcept {
    return (slot.place - kFirstSlotPlace) / kSlotsMax;
  }
  [[nodiscard]] static std::size_t number_of(StreamIndex slot) noexcept {
    return (slot.place - kFirstSlotPlace) % kSlotsMax;
  }
  [[nodiscard]] const Slot& slot_at(StreamIndex slot) const noexcept {
    return captures_[capture_of(slot)].slots[number_of(slot)];
  }
  [[nodiscard]] bool tail_of(const Capture& capture, Stream stream, Tail* tail) const noexcept;
  [[nodiscard]] bool advance(Capture& capture, std::size_t number, const Tail& tail) noexcept;
  [[nodiscard]] std::size_t walk(Capture& capture, std::size_t number, const Tail& tail,
                                 const Point& before) noexcept;
  [[nodiscard]] bool is_at(std::uint64_t point, const Tail& tail) const noexcept;
  [[nodiscard]] std::uint64_t new_point(const Tail& tail) noexcept;

  const DriverTable* driver_ = nullptr;
  std::size_t count_ = 0;
  std::uint32_t last_serial_ = 0;
  std::uint32_t point_count_ = 1;  // 0 is none
  std::uint32_t node_count_ = 0;
  Capture captures_[kCapturesMax] = {};
  MetadataArray<Point> points_;
  MetadataArray<GraphNode> nodes_;
  MetadataArray<GraphNode> stack_;
};
}  // namespace drey::cuda
