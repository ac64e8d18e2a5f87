// allocator_views.hpp: a device allocator as PyTorch's tools see one: its blocks and what was recorded as
// a snapshot, its statistics by PyTorch's names.
// Read next: snapshot.hpp, statistics.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/device_allocator.hpp>
#include <drey/cuda/trace/snapshot.hpp>
#include <drey/cuda/trace/statistics.hpp>
#include <drey/cuda/trace_recorder.hpp>

#include <span>

namespace drey::cuda::trace {
/// A segment for each run of addresses with memory; blocks in magazines count as inactive. `records`: of
/// any threads and devices; those of the allocator's device become its trace. `begin` and `end` give
/// the ticks their length. Threads: any; the allocator's lock is held while its blocks are read.
[[nodiscard]] Snapshot snapshot_of(const DeviceAllocator& allocator,
                                   std::span<const TraceRecord> records, const TraceMoment& begin,
                                   const TraceMoment& end);

[[nodiscard]] MemoryStatistics memory_statistics(const Statistics& statistics);
}  // namespace drey::cuda::trace
