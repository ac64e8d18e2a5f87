// memory_table.hpp: how many bytes each part of a run holds, for --stats and --stats-json.
// Sizes are those that the parts know of themselves; what the process takes beyond them (code, libraries,
// the allocator's own) is the rest up to the peak resident size.
// Read next: report.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace drey::trainer {
class Agent;

/// Threads: one at a time.
class MemoryTable {
 public:
  struct Row {
    std::string name;
    std::size_t bytes;
  };

  void add(const std::string& name, std::size_t bytes) { rows_.push_back({name, bytes}); }
  void add_conversions(std::uint64_t count) { conversions_ += count; }

  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  [[nodiscard]] std::size_t total_bytes() const {
    std::size_t total = 0;
    for (const Row& row : rows_) total += row.bytes;
    return total;
  }
  /// Rows of features made into what the network sees.
  [[nodiscard]] std::uint64_t conversions() const { return conversions_; }

 private:
  std::vector<Row> rows_;
  std::uint64_t conversions_ = 0;
};

/// Adds replay, networks, optimiser, batch buffers, pools and monitor.
void add_memory(MemoryTable& table, Agent& agent);
}  // namespace drey::trainer
