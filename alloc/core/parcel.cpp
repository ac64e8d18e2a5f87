// parcel.cpp: see parcel.hpp.
// SPDX-License-Identifier: MIT
#include "core/parcel.hpp"

#include "core/misuse.hpp"

namespace drey::core {
Parcels pack(const Slab& slab, const Place* places, std::uint32_t count) noexcept {
  const std::uint32_t places_max = parcel_places_max(slab.block_bytes);
  Parcels parcels;
  while (count != 0) {
    Block* const parcel = block_at(slab, *places++);
    const std::uint32_t carried = std::min(--count, places_max);
    for (std::uint32_t index = 0; index < carried; ++index) {
      places_of(parcel)[index] = places[index];
    }
    places += carried;
    count -= carried;
    if (parcels.tail == nullptr) {
      parcels.tail = parcel;
      parcels.tail_places = carried;
    } else {
      link_parcel(parcel, parcels.head, carried);
    }
    parcels.head = parcel;
  }
  return parcels;
}

namespace {
/// Parcels of a chain that are opened, to be looked at again. Longer chains are walked instead.
class Opened {
 public:
  void add(const Block* parcel, std::uint32_t count) noexcept {
    if (size_ < kSizeMax) parcels_[size_] = {parcel, count};
    ++size_;
  }

  /// True if `list` ends. A block that was in the chain twice was linked twice: its first link is
  /// overwritten, and the list is a ring. Cost: reads every link again, of most chains not one after
  /// the other, since the places still lie in the parcels.
  [[nodiscard]] bool links_stand(const Slab& slab, const BlockList& list) const noexcept {
    if (size_ > kSizeMax) return ends(slab, list);
    const Block* before = nullptr;
    bool stand = true;
    const auto look_at = [&](const Block* block) noexcept {
      stand &= next_of(block) == before;
      before = block;
    };
    for (std::size_t index = 0; index < size_; ++index) {
      const Block* const parcel = parcels_[index].first;
      for (std::uint32_t place = 0; place < parcels_[index].count; ++place) {
        look_at(block_at(slab, places_of(parcel)[place]));
      }
      look_at(parcel);
    }
    return stand;
  }

 private:
  struct One {
    const Block* first;
    std::uint32_t count;
  };
  static constexpr std::size_t kSizeMax = 16;

  [[nodiscard]] static bool ends(const Slab& slab, const BlockList& list) noexcept {
    const Block* block = list.head;
    for (std::uint32_t count = 0; count < list.count && block != nullptr; ++count) {
      block = slab.next_in_list(block);
    }
    return block == nullptr;
  }

  std::size_t size_ = 0;
  One parcels_[kSizeMax];
};
}  // namespace

bool unpack(const Slab& slab, Block* chain, std::uint32_t count_max, BlockList& list) noexcept {
  const std::uint32_t places_max = parcel_places_max(slab.block_bytes);
  const std::size_t place_end = std::size_t{slab.carved} * slab.block_bytes / kMinAlignmentBytes;
  const auto add = [&list](Block* block) noexcept {
    link(block, list.head);
    if (list.head == nullptr) list.tail = block;
    list.head = block;
  };
  const auto refuse = [](const char* what, const Block* block) noexcept {
    report_corruption(what, block);
    return false;
  };
  Opened opened;
  for (Block* parcel = chain; parcel != nullptr;) {
    Block* const next = next_parcel(slab, parcel);
    const std::uint32_t count = places_in(parcel);
    if (count > places_max) return refuse("write after free", parcel);
    list.count += count + 1;
    if (list.count > count_max) return refuse("double free", parcel);
    for (std::uint32_t index = 0; index < count; ++index) {
      const Place place = places_of(parcel)[index];
      if (place >= place_end) return refuse("write after free", parcel);
      add(block_at(slab, place));
    }
    add(parcel);
    opened.add(parcel, count);
    parcel = next;
  }
  return opened.links_stand(slab, list) || refuse("double free", list.head);
}
}  // namespace drey::core
