// device_trace.hpp: what a program asked of a device allocator, in order, whatever file it came from.
//
// Invariants: blocks, streams and threads are numbered from 0 in the order of their first event; a block
// is allocated once, before its other events, and freed at most once, as its last. Every event is about
// a live block. Sizes are 1 to kBlockBytesMax, and all live blocks together are not more.
// Read next: trace_builder.hpp, trace_files.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/trace_record.hpp>

#include <cstdint>
#include <vector>

namespace drey::cuda::trace {
inline constexpr std::uint64_t kBlockBytesMax = std::uint64_t{1} << 48;

struct Event {
  TraceAction action = TraceAction::kAllocate;  ///< kAllocate to kSynchronize
  std::uint32_t stream = 0;
  std::uint32_t thread = 0;
  std::uint32_t block = 0;    ///< of kWait: the stream that is waited for; of kSynchronize: 0
  std::uint64_t bytes = 0;    ///< of kAllocate only
  std::uint64_t time_ns = 0;  ///< since the first event, never less than the one before
  bool operator==(const Event&) const = default;
};

struct DeviceTrace {
  std::vector<Event> events;
  std::uint32_t blocks = 0;
  std::uint32_t streams = 0;
  std::uint32_t threads = 0;
  bool operator==(const DeviceTrace&) const = default;
};

/// The most bytes that were live at once, as asked for. Units: bytes.
[[nodiscard]] std::uint64_t peak_live_bytes(const DeviceTrace& trace);
}  // namespace drey::cuda::trace
