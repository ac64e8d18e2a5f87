// pieces.hpp: a range of addresses cut into pieces, free or not, with the free ones sorted by size: what
// every model of an allocator stands on.
//
// Invariants: pieces do not overlap. Two neighbours merge only if both are free, of one segment, one
// list and one state of mapping. Each free piece is in exactly one list: that of its `list`.
// Read next: policy.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace drey::cuda::replay {
struct Piece {
  std::uint64_t bytes = 0;
  std::uint64_t segment = 0;
  std::uint64_t list = 0;  ///< who may have it: a pool and a stream
  bool is_free = true;
  bool is_mapped = true;
};

class Pieces {
 public:
  using Map = std::map<std::uint64_t, Piece>;
  using Place = Map::iterator;
  using Sizes = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // bytes, address

  Place add(std::uint64_t address, const Piece& piece) {
    const Place place = pieces_.emplace(address, piece).first;
    if (piece.is_free) sizes(piece).emplace(piece.bytes, address);
    return place;
  }

  void erase(Place place) {
    if (place->second.is_free) sizes(place->second).erase({place->second.bytes, place->first});
    pieces_.erase(place);
  }

  /// The smallest free, mapped piece of the list that is large enough, the lowest of these.
  Place best_fit(std::uint64_t list, std::uint64_t bytes) {
    const auto found = free_.find(list);
    if (found == free_.end()) return pieces_.end();
    const auto fit = found->second.lower_bound({bytes, 0});
    return fit == found->second.end() ? pieces_.end() : pieces_.find(fit->second);
  }

  /// Changes a piece's state, keeping the lists.
  void change(Place place, bool is_free, std::uint64_t list, bool is_mapped) {
    Piece& piece = place->second;
    if (piece.is_free) sizes(piece).erase({piece.bytes, place->first});
    piece.is_free = is_free;
    piece.list = list;
    piece.is_mapped = is_mapped;
    if (is_free) sizes(piece).emplace(piece.bytes, place->first);
  }

  /// Cuts the piece behind its first `bytes`; both parts are as it was. Returns the first one.
  Place cut(Place place, std::uint64_t bytes) {
    Piece& piece = place->second;
    if (piece.bytes == bytes) return place;
    Piece rest = piece;
    rest.bytes -= bytes;
    if (piece.is_free) sizes(piece).erase({piece.bytes, place->first});
    piece.bytes = bytes;
    if (piece.is_free) sizes(piece).emplace(bytes, place->first);
    add(place->first + bytes, rest);
    return place;
  }

  /// Joins the free piece with what it can be joined with.
  Place merge(Place place) {
    const Place next = std::next(place);
    if (next != pieces_.end() && can_merge(place, next)) swallow(place, next);
    if (place != pieces_.begin()) {
      const Place before = std::prev(place);
      if (can_merge(before, place)) {
        swallow(before, place);
        return before;
      }
    }
    return place;
  }

  Place find(std::uint64_t address) { return pieces_.find(address); }
  Place begin() { return pieces_.begin(); }
  Place end() { return pieces_.end(); }
  /// Sizes and addresses of the free, mapped pieces of each list.
  std::map<std::uint64_t, Sizes>& lists() { return free_; }
  /// The free pieces without memory, lowest first.
  Sizes& unmapped(std::uint64_t list) { return unmapped_[list]; }

 private:
  Sizes& sizes(const Piece& piece) {
    return piece.is_mapped ? free_[piece.list] : unmapped_[piece.list];
  }
  static bool can_merge(Place first, Place second) {
    const Piece& a = first->second;
    const Piece& b = second->second;
    return a.is_free && b.is_free && a.segment == b.segment && a.list == b.list &&
           a.is_mapped == b.is_mapped && first->first + a.bytes == second->first;
  }
  void swallow(Place first, Place second) {
    const std::uint64_t bytes = second->second.bytes;
    erase(second);
    sizes(first->second).erase({first->second.bytes, first->first});
    first->second.bytes += bytes;
    sizes(first->second).emplace(first->second.bytes, first->first);
  }

  Map pieces_;
  std::map<std::uint64_t, Sizes> free_;
  std::map<std::uint64_t, Sizes> unmapped_;
};
}  // namespace drey::cuda::replay
