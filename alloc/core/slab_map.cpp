// slab_map.cpp: the two forms of the map; see slab_map.hpp for which is used when.
//
// Threads: entries are written under the store's lock or by the holder of the slices; they are read
// by anyone. Relaxed is enough on both sides: who holds a pointer to a block got it from a thread
// that had seen the entry, and whatever handed the pointer over ordered the entry before it.
// SPDX-License-Identifier: MIT
#include "core/slab_map.hpp"

namespace drey::core {
namespace {
using Entry = SlabMap::Entry;
static_assert(sizeof(Entry) == sizeof(std::uintptr_t) && Entry::is_always_lock_free);

/// What the map is before it is opened: one descriptor's worth of zeros.
alignas(2 * kCacheLineBytes) constinit Entry closed_map[sizeof(Slab) / sizeof(Entry)] = {};

// The second form: roots of 2 GiB each, leaves mapped as they are needed.
constexpr std::size_t kLeafEntries = std::size_t{1} << 15;
struct Leaf {
  std::atomic<Slab*> slabs[kLeafEntries];
};
constinit std::atomic<Leaf*> roots[SlabMap::kSliceCount / kLeafEntries] = {};

/// A limit below this would be eaten up by the flat map.
constexpr std::size_t kFlatLimitMin = 4 * SlabMap::kSliceCount * sizeof(Entry);

[[nodiscard]] std::size_t slice_of(const void* pointer) noexcept {
  return address_of(pointer) >> kSliceShift;
}
}  // namespace

constinit SlabMap slab_map{closed_map, 0};

void SlabMap::open() noexcept {
  if (os::address_space_limit_bytes() < kFlatLimitMin) return;
  auto* const entries =
      static_cast<const Entry*>(os::reserve_readable(kSliceCount * sizeof(Entry)));
  if (entries == nullptr) return;
  flat_base.store(entries, std::memory_order_relaxed);
  // Release: who sees the mask sees the base; pairs with the acquire loads of flat_mask.
  flat_mask.store(kSliceCount - 1, std::memory_order_release);
}

Slab* SlabMap::find(const void* pointer) const noexcept {
  const std::size_t slice = slice_of(pointer);
  if (slice >= kSliceCount) return nullptr;
  // Acquire: pairs with the release in open().
  if (flat_mask.load(std::memory_order_acquire) != 0) {
    const Entry* const base = flat_base.load(std::memory_order_relaxed);
    const std::uintptr_t distance = base[slice].load(std::memory_order_relaxed);
    return distance == 0 ? nullptr : reinterpret_cast<Slab*>(address_of(base) + distance);
  }
  // Acquire: pairs with the release in make_writable(); the leaf's zeros are seen.
  const Leaf* const leaf = roots[slice / kLeafEntries].load(std::memory_order_acquire);
  return leaf == nullptr ? nullptr
                         : leaf->slabs[slice % kLeafEntries].load(std::memory_order_relaxed);
}

bool SlabMap::make_writable(const void* start, std::size_t bytes) noexcept {
  const std::size_t first = slice_of(start);
  const std::size_t last = slice_of(static_cast<const std::byte*>(start) + bytes - 1);
  if (last >= kSliceCount) return false;
  if (flat_mask.load(std::memory_order_relaxed) != 0) {
    const std::uintptr_t base = address_of(flat_base.load(std::memory_order_relaxed));
    const std::size_t page = os::page_bytes();
    const std::uintptr_t from = align_down(base + first * sizeof(Entry), page);
    const std::uintptr_t to = align_up(base + (last + 1) * sizeof(Entry), page);
    return os::commit(reinterpret_cast<void*>(from), to - from);
  }
  for (std::size_t root = first / kLeafEntries; root <= last / kLeafEntries; ++root) {
    if (roots[root].load(std::memory_order_relaxed) != nullptr) continue;
    void* const leaf = os::map(sizeof(Leaf), os::page_bytes());
    if (leaf == nullptr) return false;
    // Release: the zeros of the leaf are visible with it; pairs with find().
    roots[root].store(static_cast<Leaf*>(leaf), std::memory_order_release);
  }
  return true;
}

void SlabMap::set(const void* start, std::size_t slices, const Slab* slab) noexcept {
  const std::size_t first = slice_of(start);
  DREY_ASSERT(first + slices <= kSliceCount);
  if (flat_mask.load(std::memory_order_relaxed) != 0) {
    const std::uintptr_t base = address_of(flat_base.load(std::memory_order_relaxed));
    auto* const entries = reinterpret_cast<Entry*>(base);
    const std::uintptr_t distance = slab == nullptr ? 0 : address_of(slab) - base;
    for (std::size_t slice = first; slice < first + slices; ++slice) {
      entries[slice].store(distance, std::memory_order_relaxed);
    }
    return;
  }
  for (std::size_t slice = first; slice < first + slices; ++slice) {
    Leaf* const leaf = roots[slice / kLeafEntries].load(std::memory_order_relaxed);
    leaf->slabs[slice % kLeafEntries].store(reinterpret_cast<Slab*>(address_of(slab)),
                                            std::memory_order_relaxed);
  }
}
}  // namespace drey::core
