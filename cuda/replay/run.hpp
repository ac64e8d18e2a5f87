// run.hpp: a trace on a policy, and the least capacity on which it still runs.
// Read next: policy.hpp, report.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "replay/policy.hpp"

#include <drey/cuda/trace/device_trace.hpp>

#include <cstdint>

namespace drey::cuda::replay {
struct Run {
  bool fits = false;
  std::size_t failed_event = 0;  ///< the allocation that failed
  PolicyCounts counts;
  double cpu_ns_per_event = 0;  ///< of the thread, the driver's and the replay's own part included
};

/// Runs the first `count` events, or until an allocation fails.
[[nodiscard]] Run run_events(const trace::DeviceTrace& trace, Policy& policy, std::size_t count);

/// Runs the trace once. Without limit: kNoLimit.
inline constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 48;
[[nodiscard]] Run run_trace(const trace::DeviceTrace& trace, MakePolicy make,
                            std::uint64_t capacity);

/// What search_capacity() found.
struct Capacity {
  std::uint64_t bytes = 0;  ///< the least on which the trace ran; multiple of step
  Run run;                  ///< on these
  std::uint32_t runs = 0;
};

/// By bisection between the live bytes and what a run without limit reserved, so it is the least one
/// only if more capacity never makes a policy fail. Units: bytes; step is a power of two.
/// Cost: about 12 runs.
[[nodiscard]] Capacity search_capacity(const trace::DeviceTrace& trace, MakePolicy make,
                                       std::uint64_t step);
}  // namespace drey::cuda::replay
