// snapshot.hpp: the state of an allocator at one moment and what led to it, as PyTorch's memory viewer
// reads it (torch.cuda.memory._snapshot(), memory_viz).
//
// Invariants: a segment's blocks lie in it one behind the other, without gaps. What is written uses
// protocol 2 of pickle and only the opcodes that the viewer's own reader knows.
// Source: the keys and states as PyTorch 2.11 writes them.
// Read next: pickle_text.hpp, statistics.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace drey::cuda::trace {
enum class BlockState : std::uint8_t {
  kActive,   ///< "active_allocated"
  kPending,  ///< "active_pending_free": freed, yet another stream may still use it
  kInactive  ///< "inactive"
};

struct SnapshotBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requested_bytes = 0;
  BlockState state = BlockState::kInactive;
};

struct SnapshotSegment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;
  std::uint64_t stream = 0;
  bool is_large = true;
  bool is_expandable = true;
  std::uint64_t pool_id[2] = {0, 0};
  std::vector<SnapshotBlock> blocks;
};

enum class SnapshotAction : std::uint8_t {
  kAllocate,       ///< "alloc"
  kFreeRequested,  ///< "free_requested": the program's free
  kFreeCompleted,  ///< "free_completed": the block may be used again
  kSegmentAllocate,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOutOfMemory  ///< "oom": `address` is what the device had free
};

struct SnapshotEvent {
  SnapshotAction action = SnapshotAction::kAllocate;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;
  std::uint64_t time_us = 0;
};

struct Snapshot {
  std::vector<SnapshotSegment> segments;
  std::vector<std::vector<SnapshotEvent>> device_traces;  ///< one a device
};

/// The pickle. Cost: about 60 bytes an event.
[[nodiscard]] std::string pickle_of(const Snapshot& snapshot);
}  // namespace drey::cuda::trace
