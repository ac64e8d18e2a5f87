// slab_map.hpp: from any address to the slab it lies in, in one load.
//
// One entry per 64 KiB slice of the user address space: how far the slab's descriptor is from the
// map itself. The map is reserved read-only (16 GiB of address space, no memory); parts are made
// writable as segments appear. So any pointer, null and foreign ones included, can be looked up
// without a fault and without reading the memory it points to.
// Invariant: entry 0 of an untouched slice leads to the map's own first bytes, which are always
// zero (no segment lies below 1 MiB): a descriptor without owner, where no free is a hit. That
// saves the null test. flat_mask keeps every index inside the map, so that no test of the range is
// needed either: it is 0 before the map is open and where the reservation is refused (RLIMIT_AS),
// which leads every free to entry 0 and so to the slow path, where find() knows both forms.
// Read next: segment_store.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"
#include "os/os.hpp"

#include <drey/base/relaxed.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::core {
struct SlabMap {
  static constexpr std::size_t kSliceCount = std::size_t{1} << (os::kAddressBits - kSliceShift);

  /// Distance from the map to the descriptor of the slab a slice belongs to; 0 for none.
  using Entry = std::atomic<std::uintptr_t>;

  /// Base of the flat map. Before it is reserved: static zeros.
  std::atomic<const Entry*> flat_base;
  /// kSliceCount - 1 once the flat map is there, else 0.
  std::atomic<std::size_t> flat_mask;

  /// As find(), for the hit path: a descriptor always, without an owner where there is no slab or
  /// the map is not flat. A pointer beyond the user address space leads to whatever slice its low
  /// bits name; it faults when it is written, as it would anywhere.
  [[nodiscard, gnu::always_inline]] Slab* find_unchecked(const void* pointer) const noexcept {
    // Acquire: pairs with the release in open(); before, the base is the static zeros.
    const std::size_t slice = and_acquire(address_of(pointer) >> kSliceShift, flat_mask);
    const Entry* const base = load_relaxed(flat_base);
    return reinterpret_cast<Slab*>(add_relaxed(address_of(base), base[slice]));
  }

  /// Descriptor of the slice `address` lies in, or null. Knows both forms.
  [[nodiscard]] Slab* find(const void* pointer) const noexcept;

  /// Reserves the map, flat if the address space allows. Cost: one or two system calls, once.
  /// Threads: one at a time (the store's lock).
  void open() noexcept;

  /// Makes the entries of a range writable. Fails: false. Requires: the store's lock.
  [[nodiscard]] bool make_writable(const void* start, std::size_t bytes) noexcept;

  /// Sets the entries of `slices` slices to `slab`; null clears. Requires: made writable before.
  void set(const void* start, std::size_t slices, const Slab* slab) noexcept;
};

/// The process's map. Constant-initialised: usable before any constructor has run.
/// Hidden: found without a detour through the table of addresses that other libraries may change.
[[gnu::visibility("hidden")]] extern constinit SlabMap slab_map;
}  // namespace drey::core
