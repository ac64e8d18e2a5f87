// observer.hpp: how traces and snapshots look into the device allocator.
//
// Invariants: events of one block come in the order of what happened to it: its kFree before anybody
// else's kAllocate of the same address. Without an observer each call pays for one load and branch.
// Read next: device_allocator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_types.hpp>
#include <drey/cuda/statistics.hpp>
#include <drey/cuda/status.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
enum class EventKind : std::uint8_t {
  kAllocate,      ///< bytes: as rounded
  kFree,          ///< the program gave it back; stream: where its uses end
  kRecordStream,  ///< pointer, stream
  kRecordUse,     ///< pointer, stream
  kMap,           ///< pages got memory: pointer, bytes
  kUnmap,         ///< pages lost it
  kOutOfMemory,   ///< an allocation failed: requested, stream; no pointer
  kSleep,
  kWake,
};

struct AllocatorEvent {
  EventKind kind = EventKind::kAllocate;
  LadderStep step = LadderStep::kMagazine;  ///< kAllocate: what served it
  Device device = 0;
  void* pointer = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;
  Stream stream = nullptr;
};

/// Threads: called by any, several at once. It must not call the allocator: kMap, kUnmap and
/// kOutOfMemory come while its lock is held.
struct Observer {
  void (*function)(void* context, const AllocatorEvent& event) noexcept = nullptr;
  void* context = nullptr;
};

enum class BlockKind : std::uint8_t {
  kLive,      ///< the program's
  kMagazine,  ///< free, in some thread's magazine
  kPending,   ///< free, work that uses it may still run
  kFree,      ///< free, past all work
  kPool,      ///< free, and kept for the graphs of a pool
  kHole,      ///< addresses without memory
};

/// One block, as visit_blocks() shows it.
struct BlockView {
  BlockKind kind = BlockKind::kHole;
  bool is_small = false;  ///< of a size class, at most 1 MiB
  void* pointer = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;  ///< kLive only
  Stream stream = nullptr;      ///< kLive, kMagazine: allocated for; kPending: freed in
};
}  // namespace drey::cuda
