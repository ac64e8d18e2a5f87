// place_checks.hpp: what a checked pool does beside: poison in free vectors, a guard behind each, the
// site at which each was taken, and free places used again in the order in which they came back, so
// that a late write meets its poison.
//
// Invariants: the values of a free vector that was ever taken are kPoisonByte, its lanes behind the
// values zero; the guard behind every vector ever taken is kGuardByte; under AddressSanitizer and
// Valgrind only the vectors that are out may be touched.
// Read next: place_checks.cpp, memory_annotations.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/pool_memory.hpp>

namespace drey {
/// Every float of a poisoned vector is a NaN.
inline constexpr unsigned char kPoisonByte = 0xFF;
inline constexpr unsigned char kGuardByte = 0xCA;

/// What kAutomatic means in this process.
[[nodiscard]] bool wants_checks(VectorChecks checks) noexcept;

/// Threads: one at a time (PlacePool's lock).
class PlaceChecks {
 public:
  /// Fails: null.
  [[nodiscard]] static PlaceChecks* create(const PoolMemory& memory) noexcept;
  /// Looks at all free vectors a last time.
  static void destroy(PlaceChecks* checks) noexcept;

  /// The place goes out. Fails: if it was written to while it was free, says so and aborts.
  void mark_taken(std::uint32_t place, const void* site) noexcept;
  /// The place comes back. Fails: if something behind its values was written to, as mark_taken().
  void mark_free(std::uint32_t place) noexcept;

  void push(const std::uint32_t* places, std::size_t count) noexcept;
  /// The longest free first. Returns: how many, at most what is there.
  [[nodiscard]] std::size_t pop(std::uint32_t* places, std::size_t count) noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return count_; }  ///< free places

  /// Where the place was taken last.
  [[nodiscard]] const void* site(std::uint32_t place) const noexcept { return sites_[place]; }

 private:
  explicit PlaceChecks(const PoolMemory& memory) noexcept : memory_(memory) {}
  void require_untouched(std::uint32_t place) const noexcept;
  [[nodiscard]] unsigned char* bytes_of(std::uint32_t place) const noexcept {
    return static_cast<unsigned char*>(memory_.vector(place));
  }

  const PoolMemory& memory_;
  const void** sites_ = nullptr;   ///< null: never taken
  std::uint32_t* ring_ = nullptr;  ///< free places, capacity() entries
  std::size_t first_ = 0;          ///< of the ring
  std::size_t count_ = 0;
};
}  // namespace drey
