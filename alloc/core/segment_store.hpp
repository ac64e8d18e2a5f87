// segment_store.hpp: the process's slices: who needs some takes them here, whoever comes by purges.
//
// Runs are found lowest address first, so that what is in use stays dense and what is idle can go
// back. Idle memory ages in two generations: a tick every half purge delay purges what was idle
// through a whole half, so nothing goes back sooner than half the delay after it was freed, nor
// later than the first visit after the whole of it.
// Threads: any; one lock.
// Read next: segment.hpp, large.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/segment.hpp"
#include "os/lock.hpp"

#include <drey/base/counter.hpp>

#include <atomic>
#include <cstddef>

namespace drey::core {
class SegmentStore {
 public:
  /// A run of slices and what is known of it.
  struct Run {
    Slab* slab = nullptr;  ///< descriptor of its first slice; null: no memory
    std::byte* start = nullptr;
    bool zero = false;  ///< every byte reads as zero
  };

  /// Takes `slices` that start on `alignment` bytes (a power of two). Requires: both fit a segment.
  /// On a machine with several memory nodes: of a segment of the calling thread's node, where there is
  /// room or address space for one; else of any.
  /// Fails: Run{}; the store is unchanged.
  [[nodiscard]] Run acquire(std::size_t slices, std::size_t alignment) noexcept;

  /// Gives a whole run back. Requires: its map entries are cleared. `aged`: it has been idle for a
  /// tick already, in a cache.
  void release(Slab* slab, std::size_t slices, bool aged = false) noexcept;

  /// Grows a run in place. Fails: false. `zero` says whether the new slices read as zero.
  [[nodiscard]] bool extend(Slab* slab, std::size_t slices, std::size_t new_slices) noexcept;

  /// Gives the tail of a run back.
  void shorten(Slab* slab, std::size_t slices, std::size_t new_slices) noexcept;

  /// A descriptor for a huge block; its memory stays one for ever (type-stable). Fails: null.
  [[nodiscard]] Slab* take_huge_descriptor() noexcept;
  /// The first of all ever made, in use or not, linked by Slab::next. Requires: the lock.
  [[nodiscard]] const Slab* huge_descriptors() const noexcept { return huge_descriptors_; }
  void give_back_huge_descriptor(Slab* slab) noexcept;

  /// Maps entries for a huge block. Fails: false.
  [[nodiscard]] bool make_map_writable(const void* start, std::size_t bytes) noexcept;

  /// Ticks that are due and now the caller's to do: 0, 1, or 2 when half a delay was missed.
  /// Cost: a clock read when it is 0.
  [[nodiscard]] int claim_ticks() noexcept;

  /// Ticks run so far. Threads: any.
  [[nodiscard]] std::uint64_t tick_count() const noexcept { return tick_count_.value(); }
  /// Purges what was idle at the last tick, and ages the rest.
  void tick() noexcept;
  /// The ticks that are due, of this store alone; purge.hpp knows of the heaps' caches too.
  void purge_if_due() noexcept;
  /// Purges everything idle now.
  void purge_all() noexcept;

  /// Opens the slab map before the first block. Idempotent.
  void open() noexcept;

  os::Lock& lock() noexcept { return lock_; }

  struct Totals {
    std::size_t reserved_bytes, committed_bytes, idle_bytes;
  };
  [[nodiscard]] Totals totals() noexcept;
  [[nodiscard]] std::uint64_t purged_bytes() const noexcept { return purged_bytes_.value(); }

  [[nodiscard]] bool invariants_hold() noexcept;

  /// The index-th segment, null past the last: for check.cpp. Requires: the lock.
  [[nodiscard]] const Segment* segment(std::size_t index) const noexcept {
    return index < kSegmentsMax ? segments_[index] : nullptr;
  }

 private:
  static constexpr std::size_t kSegmentsMax = 65536;  // 4 TiB of full segments

  /// A segment that has no node is anybody's.
  static constexpr unsigned kAnyNode = ~0U;

  [[nodiscard]] Segment* add_segment(std::size_t slices_min, unsigned node) noexcept;
  [[nodiscard]] Run take_from_present(std::size_t slices, std::size_t alignment,
                                      unsigned node) noexcept;
  [[nodiscard]] Run take_from(Segment* segment, std::size_t slices, std::size_t alignment) noexcept;
  void make_idle(Segment* segment, std::size_t first, std::size_t slices,
                 bool aged = false) noexcept;

  os::Lock lock_;
  bool opened_ = false;
  bool has_nodes_ = false;  ///< the machine has several, and the option says to mind them
  std::size_t segment_count_ = 0;
  std::size_t first_with_room_ = 0;  ///< segments before it have no idle slice at all
  std::atomic<std::uint64_t> next_tick_ms_{0};
  Counter tick_count_;
  Slab* idle_huge_descriptors_ = nullptr;
  Slab* huge_descriptors_ = nullptr;
  Counter purged_bytes_;  // written under the lock
  Segment* segments_[kSegmentsMax] = {};
};

/// The process's store. Constant-initialised.
extern constinit SegmentStore segment_store;
}  // namespace drey::core
