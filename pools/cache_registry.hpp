// cache_registry.hpp: which pools there are, which threads keep places of them, and what happens to
// those places when a thread, a pool or (by fork) all other threads end.
//
// Lock order: the registry's lock, then pools' locks. Neither is held while anything else is called
// but drey's allocator.
// Invariant: a cache is in its pool's list and in its thread's `owned` array, or in neither.
// Read next: cache_registry.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/place_pool.hpp>

namespace drey {
class CacheRegistry {
 public:
  CacheRegistry() = delete;

  /// Makes the pool known. Returns: its slot; kUncachedSlot if all others are in use, or if the
  /// system cannot take a cache away from a running thread (no membarrier).
  [[nodiscard]] static std::uint32_t add_pool(PlacePool& pool, bool wants_slot) noexcept;
  /// All caches of the pool are gone afterwards; what was in them is forgotten.
  static void remove_pool(PlacePool& pool) noexcept;

  /// This thread's cache of the pool, open or not; made if there is none. Takes the registry's lock
  /// the first time. Fails: null: the pool has no slot, the thread is at its end, or no memory.
  [[nodiscard]] static PlaceCache* own_cache(PlacePool& pool) noexcept;

  /// Every running thread has a barrier behind it when this returns.
  static void barrier_in_all_threads() noexcept;

 private:
  [[nodiscard]] static PlaceCache* attach(PlacePool& pool) noexcept;
  static void detach(PlaceCache& cache, bool keeps_places) noexcept;
  static void end_thread(void* caches) noexcept;
  static void prepare() noexcept;
  static void lock_all() noexcept;
  static void unlock_all() noexcept;
  static void forget_other_threads() noexcept;
};
}  // namespace drey
