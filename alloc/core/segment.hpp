// segment.hpp: an aligned run of 64 KiB slices: which are idle, which of those still hold memory.
//
// Invariants: young and old are subsets of idle, and disjoint; zero slices read as zero; slices
// from committed_count on were never made accessible, and are idle, zero and neither young nor old.
// Threads: under the store's lock. Read next: segment_store.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/bitmap.hpp"
#include "core/slab.hpp"

#include <cstddef>

namespace drey::core {
inline constexpr std::size_t kSegmentSlicesMax = 1024;
inline constexpr std::size_t kSegmentBytesMax = kSegmentSlicesMax * kSliceBytes;
using SliceSet = Bitmap<kSegmentSlicesMax>;

struct Segment {
  std::byte* start;
  std::size_t index;  ///< in the store
  std::size_t slice_count;
  std::size_t committed_count;    ///< slices from the start that are accessible
  std::size_t longest_idle_max;   ///< no idle run is longer than this: skips hopeless searches
  bool wishes_huge_pages;         ///< until the next tick: see choose_pages()
  unsigned node;                  ///< memory node that its pages come from; 0 where there is one
  SliceSet idle;                  ///< held by nobody
  SliceSet young;                 ///< idle since the last purge tick, memory still resident
  SliceSet old;                   ///< idle since before it
  SliceSet zero;                  ///< never touched, or purged
  BlockEntry* entries;            ///< secure builds: one for every 16 bytes of it
  Slab slabs[kSegmentSlicesMax];  ///< descriptor of the slab that begins at each slice

  [[nodiscard]] bool contains(const void* pointer) const noexcept {
    return address_of(pointer) - address_of(start) < slice_count * kSliceBytes;
  }
  [[nodiscard]] std::size_t slice_of(const Slab* slab) const noexcept {
    return static_cast<std::size_t>(slab - slabs);
  }
  [[nodiscard]] std::byte* address_of_slice(std::size_t slice) const noexcept {
    return start + slice * kSliceBytes;
  }

  [[nodiscard]] BlockEntry* entries_at(const std::byte* block) const noexcept {
    return entries + (block - start) / static_cast<std::ptrdiff_t>(kMinAlignmentBytes);
  }

  /// Takes the lowest idle run of `slices` that starts on `alignment` bytes, committed.
  /// Returns: its first slice; kSegmentSlicesMax if there is none or the system refused.
  [[nodiscard]] std::size_t take_run(std::size_t slices, std::size_t alignment) noexcept;

  /// Takes exactly [first, first + slices) if all of it is idle. Fails: false.
  [[nodiscard]] bool take_exactly(std::size_t first, std::size_t slices) noexcept;

  /// Makes slices idle; they count as touched, and as idle since before the last tick if `aged`.
  void give_back_run(std::size_t first, std::size_t slices, bool aged = false) noexcept;

  /// True if every slice of the run reads as zero; afterwards they count as touched.
  [[nodiscard]] bool touch_run(std::size_t first, std::size_t slices) noexcept;

  /// Gives the memory of the slices in `which` (young or old) back to the system.
  /// Returns: bytes purged. Cost: a system call a run.
  std::size_t purge(SliceSet& which) noexcept;

  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  [[nodiscard]] bool commit_to(std::size_t end) noexcept;
};
}  // namespace drey::core
