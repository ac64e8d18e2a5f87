// guarded_quarantine.cpp: see guarded_quarantine.hpp.
// SPDX-License-Identifier: MIT
#include "core/guarded_quarantine.hpp"

#include "core/segment_store.hpp"
#include "os/os.hpp"

#include <drey/base/assert.hpp>

#include <cstring>

namespace drey::core {
namespace {
constexpr std::size_t kPlaces = 64;
/// Frees that a mapping waits for before it is a block again.
constexpr std::size_t kWaitsFor = 8;
static_assert(kWaitsFor < kPlaces);

// All of it under the store's lock.
struct Place {
  GuardedRange range;
  std::uint64_t turn;  ///< when it was put in
  bool aged;
};
constinit Place places[kPlaces] = {};
constinit std::uint64_t turn = 0;
constinit std::size_t kept_bytes = 0;

/// Takes what is in a place out of it.
[[nodiscard]] GuardedRange take_out(Place& place) noexcept {
  const GuardedRange range = place.range;
  DREY_ASSERT(kept_bytes >= range.kept_bytes);
  kept_bytes -= range.kept_bytes;
  place.range = {};
  return range;
}

/// Counts what a range would keep. Fails: false; there is no room for it.
[[nodiscard]] bool claim_kept(const GuardedRange& range) noexcept {
  if (range.kept_bytes == 0 || range.kept_bytes > kKeptBlockBytesMax) return false;
  const os::LockHolder hold(segment_store.lock());
  if (kept_bytes + range.kept_bytes > kKeptBytesMax) return false;
  kept_bytes += range.kept_bytes;
  return true;
}
}  // namespace

void quarantine_mapping(GuardedRange range) noexcept {
  if (claim_kept(range)) {
    std::byte* const end = range.start + range.bytes - os::page_bytes();
    std::memset(end - range.kept_bytes, 0, range.kept_bytes);
  } else {
    range.kept_bytes = 0;
    if (!os::revoke(range.start, range.bytes)) return os::unmap(range.start, range.bytes);
  }
  GuardedRange oldest;
  {
    const os::LockHolder hold(segment_store.lock());
    Place& place = places[turn % kPlaces];
    oldest = take_out(place);
    place = {range, turn++, false};
  }
  if (oldest.start != nullptr) os::unmap(oldest.start, oldest.bytes);
}

GuardedRange take_kept_mapping(std::size_t bytes) noexcept {
  const os::LockHolder hold(segment_store.lock());
  Place* best = nullptr;
  for (Place& place : places) {
    const std::size_t kept = place.range.kept_bytes;
    if (kept < bytes || kept > bytes + bytes / 4 || turn - place.turn <= kWaitsFor) continue;
    if (best == nullptr || kept < best->range.kept_bytes) best = &place;
  }
  return best == nullptr ? GuardedRange{} : take_out(*best);
}

void drop_kept_mappings(bool aged_only) noexcept {
  const os::LockHolder hold(segment_store.lock());
  for (Place& place : places) {
    GuardedRange& range = place.range;
    if (range.kept_bytes == 0) continue;
    if (aged_only && !place.aged) {
      place.aged = true;
      continue;
    }
    if (!os::revoke(range.start, range.bytes)) continue;
    kept_bytes -= range.kept_bytes;
    range.kept_bytes = 0;
  }
}

void empty_quarantine() noexcept {
  for (Place& place : places) {
    GuardedRange range;
    {
      const os::LockHolder hold(segment_store.lock());
      range = take_out(place);
    }
    if (range.start != nullptr) os::unmap(range.start, range.bytes);
  }
}
}  // namespace drey::core
