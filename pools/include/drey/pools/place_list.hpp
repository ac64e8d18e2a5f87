// place_list.hpp: the free places that no thread keeps, a bit each.
//
// The lowest come out first. Places that threads take and give back in any order so come out in rising
// order again: neighbours' states lie in one cache line, and two threads that work on places in turns
// would send each line to and fro for every place.
// Invariants: count() is the number of bits that are set; a bit of the summary is set exactly where its
// word is not zero; no summary word before first_ has a bit.
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

  /// Fails: one that is in the list already, given back by two threads at once, is named, and the
  /// process aborts.
  void push(const std::uint32_t* places, std::size_t count) noexcept;
  /// In rising order. Returns: how many, at most what is there.
  /// Cost: of a sparse list, a step for each 4,096 places between two.
  [[nodiscard]] std::size_t pop(std::uint32_t* places, std::size_t count) noexcept;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }  ///< places

 private:
  [[nodiscard]] std::size_t pop_below(std::size_t summary_index, std::uint32_t* places,
                                      std::size_t count) noexcept;

  const PoolMemory& memory_;
  std::uint64_t* words_;    ///< of 64 places each
  std::uint64_t* summary_;  ///< of 64 words each
  std::size_t first_ = 0;   ///< summary words
  std::size_t count_ = 0;
};
}  // namespace drey
