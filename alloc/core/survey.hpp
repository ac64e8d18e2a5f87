// survey.hpp: every run of the process, one after another: slabs, large blocks, cached runs, and then
// huge blocks. What statistics, the heap walk and the leak report stand on.
//
// A run is seen as its descriptor says at that moment. Descriptors are never unmapped, so any thread
// may look at any time; counts of slabs that other threads use meanwhile are of about now, and exact
// at quiet points. Blocks that another thread freed count as live until their owner takes them back.
// Threads: any; takes the store's lock for each step, none between steps.
// Read next: segment.hpp, statistics.hpp, walk.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"

#include <cstddef>
#include <cstdint>

namespace drey::core {
/// A descriptor's contents, copied.
struct RunView {
  const Slab* slab = nullptr;
  const Heap* owner = nullptr;  ///< null for large, cached and huge
  const std::byte* start = nullptr;
  std::size_t bytes = 0;        ///< of the whole run; of a large or huge block what may be used
  std::size_t block_bytes = 0;  ///< of a slab's blocks; else 0
  SizeClass size_class{};
  SlabState state = SlabState::kIdle;
  std::uint32_t capacity = 0;  ///< blocks; 1 for large and huge, 0 for cached
  std::uint32_t live = 0;      ///< at most capacity

  [[nodiscard]] bool is_slab() const noexcept { return block_bytes != 0; }
};

class RunCursor {
 public:
  /// The next run. Returns: false past the last.
  [[nodiscard]] bool next(RunView& run) noexcept;

 private:
  [[nodiscard]] bool next_in_segments(RunView& run) noexcept;
  [[nodiscard]] bool next_huge(RunView& run) noexcept;

  std::size_t segment_ = 0;
  std::size_t slice_ = 0;
  const Slab* huge_ = nullptr;
  bool past_segments_ = false;
  bool past_huge_ = false;
};

/// What a survey counts by class; index 0 is unused.
struct ClassCounts {
  std::size_t slabs, slab_bytes, capacity, live;
};
struct Survey {
  ClassCounts classes[kClassCount];
  std::size_t large_blocks, large_bytes;
  std::size_t huge_blocks, huge_bytes;
  std::size_t cached_runs, cached_bytes;

  /// Blocks of slabs, large and huge ones together, and their bytes.
  [[nodiscard]] std::size_t live_blocks() const noexcept;
  [[nodiscard]] std::size_t live_bytes() const noexcept;
  /// Bytes of slabs that no live block holds.
  [[nodiscard]] std::size_t free_slab_bytes() const noexcept;
};
/// Cost: every descriptor in use, and the lists of current slabs.
void take_survey(Survey& survey) noexcept;
}  // namespace drey::core
