// outbox.hpp: frees on their way to other threads' slabs, noted by slab, so that one hand-over (one
// compare-and-swap) carries many blocks and touches few of them.
//
// Invariants: a note holds places of one slab only, at most kBlocksMax; a place is written before it
// is counted, so a fork in between leaves a sound note.
// Threads: its heap's thread. Read next: parcel.hpp, remote_free.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/misuse.hpp"
#include "core/parcel.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::core {
struct Heap;

class Outbox {
 public:
  /// Blocks longer than this are handed over at once: they hold too much memory to wait.
  static constexpr std::size_t kBlockBytesMax = 1_KiB;
  /// What one block of 64 bytes carries with itself: one cache line goes over for all of them.
  static constexpr std::uint32_t kBlocksMax = 29;
  static_assert(kSecure || kBlocksMax == 1 + parcel_places_max(64));
  /// Slabs at a time: two threads that exchange 16 sizes have 30 to 40 of each other's in use.
  static constexpr std::size_t kSlotCount = 64;

  /// Adds a block of another heap's slab; hands notes over as they fill or as slots are needed.
  /// Reports a block that was the last to be added already. Cost: the block is not touched.
  void add(Slab* slab, Block* block) noexcept;

  /// As add(), where the slab has a note with room for two: nothing can follow from it then, and what
  /// is true of one block of the slab is true of this one. Checks that `pointer` is a block's start.
  /// Returns: false, and nothing has changed, for everything else. `slab` may be any descriptor.
  [[nodiscard, gnu::always_inline]] inline bool add_to_note(const Slab* slab,
                                                            const void* pointer) noexcept {
    Note& note = notes_[slot_of(slab)];
    if (note.slab != slab || note.count - 1 >= kBlocksMax - 2) return false;
    if (!slab->is_block_start(pointer)) return false;
    const Place place = place_of(*slab, static_cast<const Block*>(pointer));
    if (note.places[note.count - 1] == place) [[unlikely]]
      return false;
    note.places[note.count] = place;
    // A fork in between leaves a sound note, so that no BusyScope is needed.
    std::atomic_signal_fence(std::memory_order_release);
    ++note.count;
    return true;
  }

  /// Hands every note over.
  void flush() noexcept {
    if (note_count_ != 0) flush_notes();
  }

  [[nodiscard]] bool empty() const noexcept;

  /// Places of blocks of `slab` in here. For walks at quiet points.
  struct Waiting {
    const Place* places = nullptr;
    std::uint32_t count = 0;
  };
  [[nodiscard]] Waiting waiting_for(const Slab* slab) const noexcept;

 private:
  struct Note {
    Slab* slab;
    std::uint32_t count;  ///< 0: the slot is free
    Place places[kBlocksMax];
  };
  [[nodiscard]] static std::size_t slot_of(const Slab* slab) noexcept;
  void send(Note& note) noexcept;
  void flush_notes() noexcept;

  std::uint32_t note_count_;  ///< of notes that are not empty
  Note notes_[kSlotCount];
};

inline std::size_t Outbox::slot_of(const Slab* slab) noexcept {
  // Descriptors are 128 bytes apart; neighbours fall into different slots.
  const std::uintptr_t number = address_of(slab) / sizeof(Slab);
  return (number ^ (number >> 6)) % kSlotCount;
}
}  // namespace drey::core
