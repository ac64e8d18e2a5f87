// plan.hpp: makes a plan out of a trace: puts the threads' records into one order, gives each block
// its slot, and leaves out what cannot be replayed.
//
// Order: by stamp; but a free waits until its block has been made, and a block at an address that is
// still taken waits until that is free: stamps of two cores differ a little. Who waits longer than
// kWaitMaxNs of trace time waits for something that was never recorded.
// Read next: plan.cpp, plan_format.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "replay/plan_format.hpp"
#include "replay/trace.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace drey::bench {
inline constexpr double kWaitMaxNs = 2e6;

struct PlanFacts {
  std::uint64_t events = 0;
  std::uint64_t mallocs = 0;
  std::uint64_t callocs = 0;
  std::uint64_t aligned = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t failed = 0;            ///< calls that returned null: left out
  std::uint64_t unknown_frees = 0;     ///< of blocks from before the trace, or a parent's: left out
  std::uint64_t unrecorded_frees = 0;  ///< an address came again without a free: freed then
  std::uint64_t put_in_order = 0;      ///< records that waited for another thread's
  std::uint64_t live_blocks_at_end = 0;
  std::uint64_t live_bytes_at_end = 0;
  std::uint64_t live_bytes_max = 0;
  std::uint64_t freed_by_other_thread = 0;
  std::uint64_t threads = 0;  ///< with at least one event
  double seconds = 0;         ///< from the first record to the last
};

struct Plan {
  PlanHeader header{};
  std::vector<std::vector<Operation>> threads;
  PlanFacts facts;

  /// The bytes drey-replay reads.
  [[nodiscard]] std::string bytes() const;
};

/// `sequential`: all in one thread, in the order above.
[[nodiscard]] Plan make_plan(const Trace& trace, bool sequential);
}  // namespace drey::bench
