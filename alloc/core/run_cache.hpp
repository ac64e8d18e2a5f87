// run_cache.hpp: a heap's few last freed large runs, so that a loop of malloc(2 MiB) and free takes
// no lock.
//
// Invariants: a cached run is held (not idle in its segment), has no map entry, and was touched; a
// word is the descriptor's address, its slice count above, its age in the lowest bit; 0 is an empty
// slot. Slots are exchanged atomically: the heap's thread takes and puts, and whoever runs a purge
// tick takes what has aged, so an idle thread's cache goes back to the system like any idle memory.
// Read next: large.cpp, purge.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::core {
class RunCache {
 public:
  /// All runs of one cache together.
  static constexpr std::size_t kBytesMax = 32_MiB;

  /// Takes a cached run of `slices`, or up to an eighth more. Returns: null if there is none.
  /// Threads: the heap's.
  [[nodiscard]] Slab* take(std::size_t slices) noexcept;

  /// Keeps a run. Fails: false if it has no place; the run is still the caller's. Threads: the
  /// heap's.
  [[nodiscard]] bool put(Slab* slab) noexcept;

  /// Takes any run, or with `aged_only` one that was there at the last call; marks the others aged.
  /// Returns: null when done. Threads: any.
  [[nodiscard]] Slab* steal(bool aged_only) noexcept;

  /// Bytes of all runs held now. Threads: any.
  [[nodiscard]] std::size_t held_bytes() const noexcept;

 private:
  static constexpr std::size_t kSlotCount = 8;

  std::atomic<std::uintptr_t> slots_[kSlotCount] = {};
};
}  // namespace drey::core
