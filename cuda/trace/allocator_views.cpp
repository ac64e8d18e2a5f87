// allocator_views.cpp: see allocator_views.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/allocator_views.hpp>

#include <algorithm>
#include <map>

namespace drey::cuda::trace {
namespace {
struct Collector {
  Snapshot snapshot;
  Device device = 0;

  void add(const BlockView& view) {
    if (view.kind == BlockKind::kHole) return;
    const auto address = reinterpret_cast<std::uint64_t>(view.pointer);
    SnapshotBlock block{address, view.bytes, view.requested, BlockState::kInactive};
    if (view.kind == BlockKind::kLive) block.state = BlockState::kActive;
    if (view.kind == BlockKind::kPending) block.state = BlockState::kPending;
    auto& segments = snapshot.segments;
    const bool is_next = !segments.empty() &&
                         segments.back().address + segments.back().bytes == address &&
                         segments.back().is_large != view.is_small;
    if (!is_next) {
      SnapshotSegment segment;
      segment.address = address;
      segment.device = static_cast<std::uint32_t>(device);
      segment.is_large = !view.is_small;
      segments.push_back(segment);
    }
    segments.back().bytes += view.bytes;
    segments.back().blocks.push_back(block);
  }
};

void collect(void* context, const BlockView& view) noexcept {
  static_cast<Collector*>(context)->add(view);
}

SnapshotAction action_of(TraceAction action) {
  switch (action) {
    case TraceAction::kFree:
    case TraceAction::kFreeOn:
      return SnapshotAction::kFreeCompleted;
    case TraceAction::kMap:
      return SnapshotAction::kSegmentMap;
    case TraceAction::kUnmap:
      return SnapshotAction::kSegmentUnmap;
    case TraceAction::kOutOfMemory:
      return SnapshotAction::kOutOfMemory;
    default:
      return SnapshotAction::kAllocate;
  }
}

PoolFigures figures_of(const StatByPool& from) {
  const auto figure = [](const Stat& stat) {
    return Figure{stat.current, stat.peak, stat.allocated, stat.freed};
  };
  return {figure(from.all), figure(from.small), figure(from.large)};
}

// Pages serve both pools, so these have one figure; PyTorch's tools show it as the large pool's.
PoolFigures figures_of(const Stat& from) {
  const Figure figure{from.current, from.peak, from.allocated, from.freed};
  return {figure, {}, figure};
}
}  // namespace

Snapshot snapshot_of(const DeviceAllocator& allocator, std::span<const TraceRecord> records,
                     const TraceMoment& begin, const TraceMoment& end) {
  Collector collector;
  collector.device = allocator.device();
  allocator.visit_blocks(collect, &collector);
  const double us_a_tick = end.ticks > begin.ticks
                               ? static_cast<double>(end.ns - begin.ns) / 1000.0 /
                                     static_cast<double>(end.ticks - begin.ticks)
                               : 0.001;
  std::vector<TraceRecord> sorted(records.begin(), records.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  const auto device = static_cast<std::size_t>(allocator.device());
  collector.snapshot.device_traces.resize(device + 1);
  std::map<std::uint64_t, std::uint64_t> bytes_of;
  for (const TraceRecord& record : sorted) {
    const bool is_use =
        record.action == TraceAction::kRecordStream || record.action == TraceAction::kRecordUse;
    if (record.device != device || is_use) continue;
    SnapshotEvent event{action_of(record.action), record.pointer, record.bytes, record.stream, 0};
    const double ticks =
        record.ticks > begin.ticks ? static_cast<double>(record.ticks - begin.ticks) : 0.0;
    event.time_us = static_cast<std::uint64_t>(ticks * us_a_tick);
    if (record.action == TraceAction::kAllocate) bytes_of[record.pointer] = record.bytes;
    auto& events = collector.snapshot.device_traces[device];
    if (event.action == SnapshotAction::kFreeCompleted) {
      // The viewer pairs it with its allocation by address and size, and wants both words for it.
      event.bytes = bytes_of[record.pointer];
      events.push_back(event);
      events.back().action = SnapshotAction::kFreeRequested;
    }
    events.push_back(event);
  }
  return std::move(collector.snapshot);
}

MemoryStatistics memory_statistics(const Statistics& from) {
  MemoryStatistics to;
  to.allocation = figures_of(from.allocation);
  to.allocated_bytes = figures_of(from.allocated_bytes);
  to.requested_bytes = figures_of(from.requested_bytes);
  to.segment = figures_of(from.segment);
  to.reserved_bytes = figures_of(from.reserved_bytes);
  to.active = figures_of(from.active);
  to.active_bytes = figures_of(from.active_bytes);
  to.inactive_split = figures_of(from.inactive_split);
  to.inactive_split_bytes = figures_of(from.inactive_split_bytes);
  to.num_alloc_retries = from.num_alloc_retries;
  to.num_ooms = from.num_ooms;
  to.num_sync_all_streams = from.synchronised;
  to.num_device_alloc = from.pages_mapped;
  to.num_device_free = from.pages_returned;
  return to;
}
}  // namespace drey::cuda::trace
