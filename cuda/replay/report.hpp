// report.hpp: what a replay found, as a table and as JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include "replay/policies.hpp"
#include "replay/run.hpp"

#include <drey/cuda/trace/device_trace.hpp>

#include <string>
#include <vector>

namespace drey::cuda::replay {
struct PolicyResult {
  PolicyKind kind;
  Run unlimited;                ///< as much memory as it likes
  Capacity least;               ///< and on as little as it needs
  double cpu_ns_per_event = 0;  ///< without limit, and without a driver's time
};

struct Report {
  std::string source;
  std::size_t events = 0;
  std::uint32_t blocks = 0;
  std::uint32_t streams = 0;
  std::uint64_t peak_live_bytes = 0;
  std::vector<PolicyResult> results;
};

inline constexpr std::uint64_t kSearchStep = std::uint64_t{2} << 20;

/// Replays the trace on each policy. Cost: about 13 runs each.
[[nodiscard]] Report replay_all(const std::string& source, const trace::DeviceTrace& trace,
                                const std::vector<PolicyKind>& kinds);
[[nodiscard]] std::string table_of(const Report& report);
[[nodiscard]] std::string json_of(const Report& report);
}  // namespace drey::cuda::replay
