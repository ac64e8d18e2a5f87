// replay_report.hpp: a replay's results as text, JSON, CSV and a drawing.
// Read next: replay_report.cpp, replay_html.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "replay/replay.hpp"

#include <string>

namespace drey::bench {
[[nodiscard]] std::string replay_text(const ReplayResults& results);
[[nodiscard]] std::string replay_json(const ReplayResults& results);

/// Columns: allocator, events, wall_ns, live_bytes, resident_bytes.
[[nodiscard]] std::string replay_curve(const ReplayResults& results);

/// One self-contained page: resident memory of each allocator over the events, live bytes below.
[[nodiscard]] std::string replay_html(const ReplayResults& results);
}  // namespace drey::bench
