// place_list.hpp: a list of free places that costs no memory: it is written into the free places.
//
// A leader is a free place whose memory holds the numbers of up to room() others; leaders are linked.
// So a batch moves by copying numbers, and only leaders' memory is touched.
// Invariants: count() is leaders + what they hold; places are free and below the bound.
// Read next: place_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey {
class PoolMemory;

/// Threads: one at a time (PlacePool's lock).
class PlaceList {
 public:
  explicit PlaceList(const PoolMemory& memory) noexcept;

  void push(const std::uint32_t* places, std::size_t count) noexcept;
  /// The last pushed first. Returns: how many, at most what is there.
  /// Fails: a leader that somebody wrote to although it is free is named, and the process aborts.
  [[nodiscard]] std::size_t pop(std::uint32_t* places, std::size_t count) noexcept;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }  ///< places
  [[nodiscard]] std::uint32_t room() const noexcept { return room_; }  ///< places in one leader

 private:
  struct Leader;
  [[nodiscard]] Leader& leader(std::uint32_t place) const noexcept;

  const PoolMemory& memory_;
  std::uint32_t room_;
  std::uint32_t first_;  ///< a leader, or kNoPlace
  std::size_t count_ = 0;
};
}  // namespace drey
