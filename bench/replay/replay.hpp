// replay.hpp: a plan against each allocator, every replay a process of its own, rounds interleaved.
//
// Time: processor time of the whole replay, less waiting, less that of an empty replay, over the
// events. Memory: anonymous resident memory beyond what there was before the first event, a thousand
// times in a replay of its own, which is not timed and in which each block's bytes are checked.
// Read next: replay.cpp, replay_report.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/machine.hpp"
#include "race/results.hpp"
#include "replay/plan.hpp"
#include "replay/replay_options.hpp"
#include "replay/trace.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace drey::bench {
struct CurvePoint {
  std::uint64_t events = 0;
  std::uint64_t wall_ns = 0;
  double live_bytes = 0;
  double resident_bytes = 0;
};

struct ReplayRow {
  ReplayAllocator allocator;
  std::string loaded;             ///< the file malloc was found in
  std::vector<double> cpu_ns;     ///< of a replay, less waiting; a sample a round
  std::vector<double> wall_ns;    ///< of a replay
  std::vector<double> event_ns;   ///< (cpu_ns - the empty replay's median) / events
  std::vector<CurvePoint> curve;  ///< in order of events

  [[nodiscard]] double resident_bytes_max() const;
  [[nodiscard]] double resident_bytes_at_end() const;
};

struct ReplayResults {
  ReplayOptions options;
  Machine machine;
  std::string program;  ///< that was recorded
  std::uint32_t process = 0;
  std::uint64_t lost_count = 0;
  bool ended_in_order = false;
  PlanHeader header{};
  PlanFacts facts;
  std::vector<double> empty_cpu_ns;
  std::vector<ReplayRow> rows;
  std::vector<Refusal> absent;
};

/// Fails: BadInput for a damaged trace, an allocator that cannot be preloaded, a missing drey-replay;
/// RaceFailed if a replay fails.
[[nodiscard]] ReplayResults replay_trace(const ReplayOptions& options, Machine machine);

/// The whole command with its reports. Returns the exit code.
int run_replay(const ReplayOptions& options, Machine machine);
}  // namespace drey::bench
