// statistics.hpp: the counters and the per-class map, as struct, text and JSON.
//
// Live blocks are not counted by malloc or free: they are what the slabs' equations say when asked.
// Equations, at quiet points: live_bytes + free_slab_bytes == slab_bytes + large_bytes; a class's
// live + free == its slabs' capacity. While other threads run each figure is of about now.
// Threads: any. Read next: survey.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/report_writer.hpp"

#include <drey/alloc.h>

namespace drey::core {
void add_statistics_text(ReportWriter& report) noexcept;
void add_statistics_json(ReportWriter& report) noexcept;

/// A line a class that has slabs: blocks, bytes, how much of them is not used.
void add_class_map(ReportWriter& report) noexcept;
}  // namespace drey::core
