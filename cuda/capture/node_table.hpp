// node_table.hpp: for each node of a graph, which slots of the capture come after it.
// Invariants: a node has one entry, found by open addressing; at most half of the entries are used.
// Read next: captures.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "pages/metadata_array.hpp"

#include <drey/cuda/driver_types.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
/// Threads: one at a time.
class NodeTable {
 public:
  static constexpr std::size_t kSlotsMax = 64;

  enum class Marked : std::uint8_t { kNew, kKnown, kFull };
  /// Fails: kFull without memory.
  Marked mark(GraphNode node, std::size_t slot) noexcept {
    if (2 * count_ >= entries_.size() && !grow()) return Marked::kFull;
    Entry& entry = entries_[place_of(node)];
    const std::uint64_t bit = std::uint64_t{1} << slot;
    if (entry.node == nullptr) {
      entry.node = node;
      ++count_;
    }
    if ((entry.slots & bit) != 0) return Marked::kKnown;
    entry.slots |= bit;
    return Marked::kNew;
  }

  [[nodiscard]] bool has(GraphNode node, std::size_t slot) const noexcept {
    return entries_.size() != 0 && (entries_[place_of(node)].slots >> slot & 1) != 0;
  }

  void clear() noexcept {
    entries_.give_back();
    count_ = 0;
  }

 private:
  static constexpr std::size_t kEntriesMin = 1024;
  struct Entry {
    GraphNode node;  // null: unused
    std::uint64_t slots;
  };

  // Its own, or the unused one it would get. Requires: entries, and one of them unused.
  [[nodiscard]] std::size_t place_of(GraphNode node) const noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(node) * 0x9E37'79B9'7F4A'7C15;
    std::size_t place = (bits >> 20) % entries_.size();
    while (entries_[place].node != nullptr && entries_[place].node != node)
      place = (place + 1) % entries_.size();
    return place;
  }

  bool grow() noexcept {
    MetadataArray<Entry> old;
    old.swap(entries_);
    if (!entries_.take(old.size() == 0 ? kEntriesMin : 2 * old.size())) {
      old.swap(entries_);
      return false;
    }
    for (std::size_t place = 0; place < old.size(); ++place) {
      if (old[place].node != nullptr) entries_[place_of(old[place].node)] = old[place];
    }
    return true;
  }

  MetadataArray<Entry> entries_;
  std::size_t count_ = 0;
};
}  // namespace drey::cuda
