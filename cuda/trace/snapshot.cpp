// snapshot.cpp: see snapshot.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/pickle_text.hpp>
#include <drey/cuda/trace/snapshot.hpp>

#include <iterator>

namespace drey::cuda::trace {
namespace {
const char* name_of(BlockState state) {
  static constexpr const char* kNames[] = {"active_allocated", "active_pending_free", "inactive"};
  return kNames[static_cast<std::size_t>(state)];
}

const char* name_of(SnapshotAction action) {
  static constexpr const char* kNames[] = {
      "alloc",        "free_requested", "free_completed", "segment_alloc",
      "segment_free", "segment_map",    "segment_unmap",  "oom"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(SnapshotAction::kOutOfMemory) + 1);
  return kNames[static_cast<std::size_t>(action)];
}

void add_no_frames(PickleText& text) {
  text.add("frames").open_list().close_list();
}

void add_block(PickleText& text, const SnapshotBlock& block) {
  text.open_dict();
  text.add("address").add(block.address);
  text.add("size").add(block.bytes);
  text.add("requested_size").add(block.requested_bytes);
  text.add("state").add(name_of(block.state));
  add_no_frames(text);
  text.close_dict();
}

void add_segment(PickleText& text, const SnapshotSegment& segment) {
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t requested = 0;
  for (const SnapshotBlock& block : segment.blocks) {
    if (block.state == BlockState::kInactive) continue;
    active += block.bytes;
    if (block.state != BlockState::kActive) continue;
    allocated += block.bytes;
    requested += block.requested_bytes;
  }
  text.open_dict();
  text.add("device").add(std::uint64_t{segment.device});
  text.add("address").add(segment.address);
  text.add("total_size").add(segment.bytes);
  text.add("allocated_size").add(allocated);
  text.add("active_size").add(active);
  text.add("requested_size").add(requested);
  text.add("stream").add(segment.stream);
  text.add("segment_type").add(segment.is_large ? "large" : "small");
  text.add("segment_pool_id").add(segment.pool_id[0]).add(segment.pool_id[1]).make_pair();
  text.add("is_expandable").add(segment.is_expandable);
  add_no_frames(text);
  text.add("blocks").open_list();
  for (const SnapshotBlock& block : segment.blocks) add_block(text, block);
  text.close_list();
  text.close_dict();
}

void add_event(PickleText& text, const SnapshotEvent& event) {
  text.open_dict();
  text.add("action").add(name_of(event.action));
  text.add(event.action == SnapshotAction::kOutOfMemory ? "device_free" : "addr")
      .add(event.address);
  text.add("size").add(event.bytes);
  text.add("stream").add(event.stream);
  text.add("time_us").add(event.time_us);
  text.add("compile_context").add("N/A");
  text.add("user_metadata").add("");
  add_no_frames(text);
  text.close_dict();
}
}  // namespace

std::string pickle_of(const Snapshot& snapshot) {
  PickleText text;
  text.open_dict();
  text.add("segments").open_list();
  for (const SnapshotSegment& segment : snapshot.segments) add_segment(text, segment);
  text.close_list();
  text.add("device_traces").open_list();
  for (const auto& events : snapshot.device_traces) {
    text.open_list();
    for (const SnapshotEvent& event : events) add_event(text, event);
    text.close_list();
  }
  text.close_list();
  text.add("allocator_settings").open_dict();
  text.add("backend").add("drey");
  text.add("expandable_segments").add(true);
  text.close_dict();
  text.add("external_annotations").open_list().close_list();
  text.close_dict();
  return text.finish();
}
}  // namespace drey::cuda::trace
