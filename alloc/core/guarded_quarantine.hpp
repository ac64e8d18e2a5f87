// guarded_quarantine.hpp: where mappings of guarded blocks wait after their free.
//
// The last 64; what came first leaves first. They have lost their memory and cannot be accessed, but
// for those of up to 1 MiB, 8 MiB together: they keep it, all zeros, to become the next block of about
// their length, which saves a mapping made and ended and a fault a page. Such a one waits for eight
// more frees first, and whoever gets it finds out if anybody wrote to it. What stays loses its memory
// at the second purge tick.
// Invariant: kept bytes <= kKeptBytesMax.
// Threads: any; the store's lock. Read next: guarded.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/units.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::core {
struct GuardedRange {
  std::byte* start = nullptr;  ///< null: none
  std::size_t bytes = 0;       ///< guards included
  /// Bytes before the last page that can be accessed and are zero; 0: none.
  std::size_t kept_bytes = 0;
};

inline constexpr std::size_t kKeptBlockBytesMax = 1_MiB;
inline constexpr std::size_t kKeptBytesMax = 8_MiB;

/// Puts a freed mapping in, and ends the one that has to leave for it. What it would keep is zeroed if
/// there is room for it, else dropped at once.
void quarantine_mapping(GuardedRange range) noexcept;

/// Takes out a mapping that keeps at least `bytes` and at most a quarter more. Returns: none found.
[[nodiscard]] GuardedRange take_kept_mapping(std::size_t bytes) noexcept;

/// Drops what is kept; `aged_only`: what was there at the call before, too. Addresses stay in here.
void drop_kept_mappings(bool aged_only) noexcept;

/// Ends all of them: address space is short.
void empty_quarantine() noexcept;
}  // namespace drey::core
