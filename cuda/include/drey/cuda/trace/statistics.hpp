// statistics.hpp: an allocator's statistics under the names that torch.cuda.memory_stats() has, so that
// what reads those reads these.
// Invariants of each figure: current = allocated - freed <= peak; all = small pool + large pool, but
// for the peaks.
// Read next: json_text.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace drey::cuda::trace {
struct Figure {
  std::uint64_t current = 0;
  std::uint64_t peak = 0;
  std::uint64_t allocated = 0;  ///< sum of all that came
  std::uint64_t freed = 0;      ///< sum of all that went

  void grow(std::uint64_t amount) {
    current += amount;
    allocated += amount;
    peak = std::max(peak, current);
  }
  void shrink(std::uint64_t amount) {
    current -= amount;
    freed += amount;
  }
};

/// By pool: blocks up to 1 MiB are of the small one.
struct PoolFigures {
  Figure all;
  Figure small_pool;
  Figure large_pool;

  void grow(std::uint64_t amount, bool is_large) {
    all.grow(amount);
    (is_large ? large_pool : small_pool).grow(amount);
  }
  void shrink(std::uint64_t amount, bool is_large) {
    all.shrink(amount);
    (is_large ? large_pool : small_pool).shrink(amount);
  }
};

struct MemoryStatistics {
  PoolFigures allocation;      ///< blocks that the program has
  PoolFigures segment;         ///< of memory from the driver
  PoolFigures active;          ///< blocks that are allocated, or pending
  PoolFigures inactive_split;  ///< free parts of segments that are in use
  PoolFigures allocated_bytes;
  PoolFigures reserved_bytes;
  PoolFigures active_bytes;
  PoolFigures inactive_split_bytes;
  PoolFigures requested_bytes;
  std::uint64_t num_alloc_retries = 0;
  std::uint64_t num_ooms = 0;
  std::uint64_t num_sync_all_streams = 0;
  std::uint64_t num_device_alloc = 0;
  std::uint64_t num_device_free = 0;
};

/// One flat object: "allocated_bytes.all.current" and so on.
[[nodiscard]] std::string json_of(const MemoryStatistics& statistics);
}  // namespace drey::cuda::trace
