// parcel.hpp: freed blocks on their way to another thread's slab, without a touch of most of them.
//
// A chain of parcels is a list of blocks, each of which may carry the places of further blocks of its
// slab behind its link:
//
//   word 0   the next parcel | number of places << 48
//   then     16 bits a place: (address - slab.start) / 16
//
// so that the cache lines of the others stay where their owner left them, and one line goes over for
// dozens of frees. A plain list is a chain of parcels that carry nothing.
// Invariants: every place lies in the slab of the chain; a secure build's parcels carry nothing, since
// its free blocks are zero behind their encoded links.
// Threads: who holds the chain. Read next: outbox.hpp (packs), heap.cpp (unpacks).
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace drey::core {
/// Where a block lies in its slab, in units of the least alignment.
using Place = std::uint16_t;
static_assert(kMediumSlabSlices * kSliceBytes / kMinAlignmentBytes <= std::size_t{1} << 16);

inline constexpr unsigned kParcelCountShift = 48;
/// Links are addresses of user space: below 2^47 on x86-64, below 2^48 on AArch64.
inline constexpr std::uintptr_t kParcelLinkMask = (std::uintptr_t{1} << kParcelCountShift) - 1;

/// Places that a block has room for behind its link.
[[nodiscard]] constexpr std::uint32_t parcel_places_max(std::size_t block_bytes) noexcept {
  return kSecure ? 0 : static_cast<std::uint32_t>((block_bytes - sizeof(Block)) / sizeof(Place));
}

/// Requires: a block of `slab` that is not longer than 64 KiB.
[[nodiscard]] inline Place place_of(const Slab& slab, const Block* block) noexcept {
  return static_cast<Place>((address_of(block) - address_of(slab.start)) / kMinAlignmentBytes);
}
[[nodiscard]] inline Block* block_at(const Slab& slab, Place place) noexcept {
  return reinterpret_cast<Block*>(slab.start + std::size_t{place} * kMinAlignmentBytes);
}

/// Links a parcel that carries `count` places. Cost: one store.
inline void link_parcel(Block* parcel, Block* next, std::uint32_t count) noexcept {
  if constexpr (kSecure) return link(parcel, next);
  const std::uintptr_t word = address_of(next) | std::uintptr_t{count} << kParcelCountShift;
  parcel->next = reinterpret_cast<Block*>(word);
}

/// The parcel after this one, where nothing is known to be wrong. Secure builds: a link that leads
/// out of the slab is reported and ends the chain.
[[nodiscard]] inline Block* next_parcel(const Slab& slab, const Block* parcel) noexcept {
  if constexpr (kSecure) return slab.next_in_list(parcel);
  return reinterpret_cast<Block*>(address_of(parcel->next) & kParcelLinkMask);
}
[[nodiscard]] inline std::uint32_t places_in(const Block* parcel) noexcept {
  if constexpr (kSecure) return 0;
  return static_cast<std::uint32_t>(address_of(parcel->next) >> kParcelCountShift);
}
/// The place at `index` of a parcel, and where to write it.
using PlaceInBlock [[gnu::may_alias]] = Place;
[[nodiscard]] inline const PlaceInBlock* places_of(const Block* parcel) noexcept {
  return reinterpret_cast<const PlaceInBlock*>(parcel + 1);
}
[[nodiscard]] inline PlaceInBlock* places_of(Block* parcel) noexcept {
  return reinterpret_cast<PlaceInBlock*>(parcel + 1);
}

/// A chain of parcels, as hand_over() takes it: its last one is linked there.
struct Parcels {
  Block* head = nullptr;
  Block* tail = nullptr;
  std::uint32_t tail_places = 0;
};

/// Packs `count` places of blocks of `slab`. Cost: writes to the first block of every
/// parcel_places_max() + 1. Requires: count >= 1.
[[nodiscard]] Parcels pack(const Slab& slab, const Place* places, std::uint32_t count) noexcept;

/// A list of blocks, linked one by one.
struct BlockList {
  Block* head = nullptr;
  Block* tail = nullptr;
  std::uint32_t count = 0;
};

/// Links the blocks of a chain into a plain list. Reports, and returns false, if they are more than
/// `count_max` or a place was overwritten; the chain is not to be trusted then, and lost.
[[nodiscard]] bool unpack(const Slab& slab, Block* chain, std::uint32_t count_max,
                          BlockList& list) noexcept;

/// Calls `visit(block)` for the blocks of a chain until one returns false. Changes nothing.
template <class Visit>
void visit_parcels(const Slab& slab, const Block* chain, Visit visit) noexcept {
  for (; chain != nullptr; chain = next_parcel(slab, chain)) {
    if (!visit(chain)) return;
    const std::uint32_t count = std::min(places_in(chain), parcel_places_max(slab.block_bytes));
    for (std::uint32_t index = 0; index < count; ++index) {
      if (!visit(block_at(slab, places_of(chain)[index]))) return;
    }
  }
}
}  // namespace drey::core
