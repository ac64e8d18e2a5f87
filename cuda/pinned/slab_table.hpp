// slab_table.hpp: the records of pinned host memory: slabs, each one allocation of the driver's cut into blocks of
// one class; which blocks are free, and after what.
//
// Invariants: a block is live, or in its class's list of past ones (nothing uses it any more), or in that of
// pending ones (its stamps say until when), oldest first. A slab is in the list of idle ones, oldest first, if
// and only if all its blocks are past. Slabs are sorted by address and do not overlap.
// Read next: pinned_state.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "pages/metadata_array.hpp"
#include "pinned/pinned_class.hpp"
#include "timeline/timelines.hpp"

#include <drey/cuda/status.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
/// Number of a block: its slab's times kSlabBlocksMax, and its place there.
using PinnedIndex = std::uint32_t;
inline constexpr PinnedIndex kNoPinned = UINT32_MAX;

enum class PinnedBlockState : std::uint8_t { kPast = 0, kPending, kLive };

struct PinnedBlock {
  static constexpr std::size_t kStampsMax = 8;
  std::uint64_t requested;
  PinnedIndex next;
  PinnedIndex previous;
  StreamIndex stream;  // it was allocated for; place kNone: for the host
  PinnedBlockState state;
  std::uint8_t stamp_count;
  Stamp stamps[kStampsMax];  // each of another stream
};

struct PinnedSlab {
  char* base;  // null: the record is free
  std::uint64_t bytes;
  std::uint32_t next;  // idle, or free record
  std::uint32_t previous;
  std::uint8_t size_class;
  std::uint8_t block_count;
  std::uint8_t past_count;
};

/// Threads: one at a time. Makes no driver call. Cost: constant, but for find() and what changes slabs.
class SlabTable {
 public:
  static constexpr std::uint32_t kSlabsMax = 1 << 14;
  static constexpr std::uint32_t kSlabBlocksMax = 64;

  [[nodiscard]] bool open() noexcept;
  void close() noexcept;

  [[nodiscard]] bool has_room() const noexcept { return sorted_count_ < kSlabsMax; }
  [[nodiscard]] std::uint32_t slab_count() const noexcept { return sorted_count_; }
  /// A slab whose blocks are all past. Requires: has_room().
  void add(char* base, std::uint64_t bytes, std::uint32_t size_class, std::uint32_t count) noexcept;
  /// Requires: all its blocks are past.
  void remove(std::uint32_t slab) noexcept;
  /// Any slab, whatever its blocks are, for the end of all; kNoPinned if there is none.
  [[nodiscard]] std::uint32_t any_slab() const noexcept {
    return sorted_count_ == 0 ? kNoPinned : sorted_[sorted_count_ - 1];
  }
  void forget(std::uint32_t slab) noexcept;
  /// The one that is idle for longest; kNoPinned if none is.
  [[nodiscard]] std::uint32_t oldest_idle() const noexcept { return idle_.first; }

  /// The block that begins there. Fails: kForeignPointer, kInteriorPointer. Cost: log2 of the slabs.
  [[nodiscard]] Status find(const void* pointer, PinnedIndex* index) const noexcept;
  [[nodiscard]] PinnedBlock& block(PinnedIndex index) noexcept { return blocks_[index]; }
  [[nodiscard]] const PinnedSlab& slab(std::uint32_t slab) const noexcept { return slabs_[slab]; }
  [[nodiscard]] const PinnedSlab& slab_of(PinnedIndex index) const noexcept {
    return slabs_[index / kSlabBlocksMax];
  }
  [[nodiscard]] void* pointer_to(PinnedIndex index) const noexcept {
    const PinnedSlab& slab = slab_of(index);
    return slab.base + index % kSlabBlocksMax * bytes_of_class(slab.size_class);
  }

  [[nodiscard]] PinnedIndex first_past(std::uint32_t size_class) const noexcept {
    return past_[size_class].first;
  }
  [[nodiscard]] PinnedIndex oldest_pending(std::uint32_t size_class) const noexcept {
    return pending_[size_class].first;
  }
  [[nodiscard]] PinnedIndex newest_pending(std::uint32_t size_class) const noexcept {
    return pending_[size_class].last;
  }
  /// A free block becomes live; its stamps stay.
  void take(PinnedIndex index) noexcept;
  /// A live block becomes free.
  void give_back(PinnedIndex index, bool is_past) noexcept;
  /// A pending block becomes past, and its stamps are forgotten.
  void settle(PinnedIndex index) noexcept;

  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  struct List {
    std::uint32_t first = kNoPinned;
    std::uint32_t last = kNoPinned;
  };
  template <typename Entries>
  static void append(List& list, Entries& entries, std::uint32_t index) noexcept;
  template <typename Entries>
  static void unlink(List& list, Entries& entries, std::uint32_t index) noexcept;
  void put_past(PinnedIndex index) noexcept;
  [[nodiscard]] std::uint32_t position_of(const void* pointer) const noexcept;
  [[nodiscard]] bool slab_holds(std::uint32_t slab) const noexcept;

  MetadataArray<PinnedSlab> slabs_;
  MetadataArray<PinnedBlock> blocks_;
  MetadataArray<std::uint32_t> sorted_;  // numbers of slabs, by address
  std::uint32_t sorted_count_ = 0;
  std::uint32_t used_count_ = 0;  // records ever used
  std::uint32_t free_record_ = kNoPinned;
  List idle_;
  List past_[kPinnedClassCount];
  List pending_[kPinnedClassCount];
};
}  // namespace drey::cuda
