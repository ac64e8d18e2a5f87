// trace.hpp: a recorded trace as read from its file, checked.
//
// Invariants: records of a thread are in the order of the thread; every kind is known. Thread records
// are taken out: the vector a record lies in says as much.
// Read next: trace_reader.cpp, plan.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc/trace_format.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace drey::bench {
struct Trace {
  std::string program;
  std::uint32_t process = 0;
  std::uint64_t first_ticks = 0;
  double ns_per_tick = 1;
  std::uint64_t lost_count = 0;
  bool limit_reached = false;
  bool ended_in_order = false;
  std::vector<std::vector<trace::TraceRecord>> threads;  ///< by thread number

  [[nodiscard]] std::uint64_t record_count() const noexcept;
  /// Nanoseconds since the trace began.
  [[nodiscard]] double ns_of(std::uint64_t ticks) const noexcept;
};

/// Fails: BadInput, one line that names the file, the offset, what was expected and what was found.
[[nodiscard]] Trace read_trace(const std::filesystem::path& path);
}  // namespace drey::bench
