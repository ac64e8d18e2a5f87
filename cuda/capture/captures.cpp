// captures.cpp: see captures.hpp.
// SPDX-License-Identifier: MIT
#include "capture/captures.hpp"

namespace drey::cuda {
namespace {
// Nodes asked for at once. What has more before it is known by these alone, and so counts as less ordered.
constexpr std::size_t kBeforeMax = 64;
}  // namespace

bool Captures::open(const DriverTable& driver) noexcept {
  driver_ = &driver;
  if (points_.take(kPointsMax) && nodes_.take(kPointsMax) && stack_.take(kPointsMax)) return true;
  close();
  return false;
}

void Captures::close() noexcept {
  for (Capture& capture : captures_) {
    capture.ancestors.clear();
    capture.serial = 0;
  }
  count_ = 0;
  points_.give_back();
  nodes_.give_back();
  stack_.give_back();
}

std::size_t Captures::find(std::uint32_t serial) const noexcept {
  for (std::size_t place = 0; place < kCapturesMax && serial != 0; ++place) {
    if (captures_[place].serial == serial) return place;
  }
  return kNone;
}

std::uint32_t Captures::add(std::uint16_t pool) noexcept {
  for (Capture& capture : captures_) {
    if (capture.serial != 0) continue;
    if (count_++ == 0) {
      point_count_ = 1;
      node_count_ = 0;
    }
    capture.serial = ++last_serial_;
    capture.pool = pool;
    capture.slot_count = 0;
    capture.driver_id = 0;
    return capture.serial;
  }
  return 0;
}

void Captures::remove(std::uint32_t serial) noexcept {
  const std::size_t place = find(serial);
  if (place == kNone) return;
  captures_[place].ancestors.clear();
  captures_[place].serial = 0;
  --count_;
}

Result Captures::ask(Stream stream, Standing* standing) const noexcept {
  *standing = {};
  if (driver_->stream_get_capture_info == nullptr) return Result::kNotSupported;
  const GraphEdge* edges = nullptr;
  const GraphNode* nodes = nullptr;
  Graph graph = nullptr;
  std::size_t count = 0;
  const Result asked = driver_->stream_get_capture_info(
      stream, &standing->status, &standing->driver_id, &graph, &nodes, &edges, &count);
  // The legacy stream, while another one captures, is in no capture itself.
  if (asked == Result::kCaptureImplicit) {
    *standing = {};
    return Result::kSuccess;
  }
  if (asked != Result::kSuccess || standing->status != CaptureStatus::kActive) return asked;
  for (const Capture& capture : captures_) {
    if (capture.serial != 0 && capture.driver_id == standing->driver_id)
      standing->serial = capture.serial;
  }
  return Result::kSuccess;
}

bool Captures::bind(std::uint32_t serial, unsigned long long driver_id) noexcept {
  for (const Capture& capture : captures_) {
    if (capture.serial != 0 && capture.serial != serial && capture.driver_id == driver_id)
      return false;
  }
  Capture& capture = captures_[find(serial)];
  if (capture.driver_id != 0 && capture.driver_id != driver_id) return false;
  capture.driver_id = driver_id;
  return true;
}

// False if the stream is not in this capture, or any more.
bool Captures::tail_of(const Capture& capture, Stream stream, Tail* tail) const noexcept {
  CaptureStatus status = CaptureStatus::kNone;
  unsigned long long id = 0;
  Graph graph = nullptr;
  const GraphEdge* edges = nullptr;
  const Result asked = driver_->stream_get_capture_info(stream, &status, &id, &graph, &tail->nodes,
                                                        &edges, &tail->count);
  return asked == Result::kSuccess && status == CaptureStatus::kActive && id == capture.driver_id;
}

bool Captures::is_at(std::uint64_t point, const Tail& tail) const noexcept {
  if (point == 0 || points_[point].count != tail.count) return false;
  for (std::size_t index = 0; index < tail.count; ++index) {
    if (nodes_[points_[point].first + index] != tail.nodes[index]) return false;
  }
  return true;
}

std::uint64_t Captures::new_point(const Tail& tail) noexcept {
  if (point_count_ == points_.size() || tail.count > nodes_.size() - node_count_) return kNowhere;
  points_[point_count_] = {node_count_, static_cast<std::uint32_t>(tail.count)};
  for (std::size_t index = 0; index < tail.count; ++index)
    nodes_[node_count_++] = tail.nodes[index];
  return point_count_++;
}

// Marks all ancestors that are not marked yet. Returns: how many nodes of `before` the way leads to, from
// which on all is marked; kNone if there was no room for all.
std::size_t Captures::walk(Capture& capture, std::size_t number, const Tail& tail,
                           const Point& before) noexcept {
  std::uint64_t reached = 0;  // nodes of `before`, by index
  std::size_t depth = 0;
  bool is_full = false;
  const auto visit = [&](GraphNode node) {
    const NodeTable::Marked marked = capture.ancestors.mark(node, number);
    for (std::uint32_t index = 0; index < before.count; ++index) {
      if (nodes_[before.first + index] == node) reached |= std::uint64_t{1} << index;
    }
    is_full = is_full || marked == NodeTable::Marked::kFull ||
              (marked == NodeTable::Marked::kNew && depth == stack_.size());
    if (marked == NodeTable::Marked::kNew && !is_full) stack_[depth++] = node;
  };
  for (std::size_t index = 0; index < tail.count; ++index) visit(tail.nodes[index]);
  while (depth != 0 && !is_full) {
    GraphNode nodes[kBeforeMax] = {};
    std::size_t count = kBeforeMax;
    const Result told = driver_->graph_node_get_dependencies(stack_[--depth], nodes, &count);
    if (told != Result::kSuccess) continue;
    for (std::size_t index = 0; index < count && index < kBeforeMax; ++index) visit(nodes[index]);
  }
  return is_full ? kNone : static_cast<std::size_t>(__builtin_popcountll(reached));
}

// False if the stream does not stand after where it was last seen.
bool Captures::advance(Capture& capture, std::size_t number, const Tail& tail) noexcept {
  Slot& slot = capture.slots[number];
  if (is_at(slot.point, tail)) return true;
  const Point before = slot.point != 0 ? points_[slot.point] : Point{0, 0};
  if (before.count > kBeforeMax) return false;
  if (walk(capture, number, tail, before) != before.count) return false;
  const std::uint64_t point = new_point(tail);
  if (point == kNowhere) return false;
  slot.point = point;
  return true;
}

StreamIndex Captures::enter(std::uint32_t serial, Stream stream, StreamIndex eager) noexcept {
  const std::size_t place = find(serial);
  Capture& capture = captures_[place];
  Tail tail;
  if (!tail_of(capture, stream, &tail)) return {};
  const auto index_of = [&](std::size_t number) -> StreamIndex {
    return {static_cast<std::uint16_t>(kFirstSlotPlace + place * kSlotsMax + number), serial};
  };
  for (std::size_t number = 0; number < capture.slot_count; ++number) {
    Slot& slot = capture.slots[number];
    if (slot.is_replaced || !(slot.eager == eager)) continue;
    if (advance(capture, number, tail)) return index_of(number);
    slot.is_replaced = true;
    break;
  }
  if (capture.slot_count == kSlotsMax) return {};
  const std::size_t number = capture.slot_count++;
  capture.slots[number] = {stream, eager, 0, false};
  if (advance(capture, number, tail)) return index_of(number);
  capture.slots[number].is_replaced = true;
  return {};
}

Stamp Captures::now(StreamIndex slot) noexcept {
  Capture& capture = captures_[capture_of(slot)];
  const std::size_t number = number_of(slot);
  Tail tail;
  if (capture.serial != slot.turn || capture.slots[number].is_replaced ||
      !tail_of(capture, capture.slots[number].handle, &tail))
    return {slot, kNowhere};
  if (advance(capture, number, tail)) return {slot, capture.slots[number].point};
  capture.slots[number].is_replaced = true;
  return {slot, kNowhere};
}

bool Captures::is_ordered(StreamIndex user, Stamp stamp) const noexcept {
  if (stamp.epoch == kNowhere || user.turn != stamp.stream.turn ||
      capture_of(user) != capture_of(stamp.stream))
    return false;
  if (user == stamp.stream) return true;
  const Point& point = points_[stamp.epoch];
  for (std::uint32_t index = 0; index < point.count; ++index) {
    if (!captures_[capture_of(user)].ancestors.has(nodes_[point.first + index], number_of(user)))
      return false;
  }
  return true;
}
}  // namespace drey::cuda
