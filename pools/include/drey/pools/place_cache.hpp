// place_cache.hpp: the free places that one thread keeps of one pool, and how another thread may take
// them away without the owner ever paying for an atomic read-modify-write.
//
// The owner uses its cache between "busy = 1" and "busy = 0", and finds it through its table of
// entries. Who takes a cache away closes the owner's entry, has the kernel put a barrier into every
// thread (membarrier), and waits until busy is 0: an operation that saw the old entry had announced
// itself before the barrier, and every later one finds the entry closed.
// Invariants: (1) a cache is touched by its owner while busy, or under its pool's lock while its
// entry is closed and its owner not busy; (2) an entry is closed_cache or an open cache of the pool
// that has the slot.
// Read next: place_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/units.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey {
class PlacePool;

inline constexpr std::uint32_t kNoPlace = UINT32_MAX;          ///< also: an empty spare
inline constexpr std::uint32_t kClosedPlace = UINT32_MAX - 1;  ///< a spare that takes nothing
inline constexpr std::size_t kCacheRoomMax = 512;              ///< places in one cache

/// Pools in use at once whose places threads may keep; the last slot is never open.
inline constexpr std::uint32_t kSlotCount = 32;
inline constexpr std::uint32_t kUncachedSlot = kSlotCount - 1;

/// What every operation looks at. The spare is one place apart from the stack: a pair of give back
/// and take goes through it alone, without counting up and down.
struct PlaceCacheHead {
  std::uint32_t spare;  ///< a free place, kNoPlace, or kClosedPlace
  std::uint32_t count;  ///< places on the stack
  std::uint32_t room;   ///< most places on the stack
};

struct ThreadCaches;

/// Threads: see the head of this file.
struct alignas(kCacheLineBytes) PlaceCache : PlaceCacheHead {
  PlaceCache* next = nullptr;     ///< of the pool's list; guarded by the pool's lock
  ThreadCaches* owner = nullptr;  ///< the thread
  PlacePool* pool = nullptr;      ///< whose places these are
  bool is_open = false;           ///< the owner's entry leads here; guarded by the pool's lock
  std::uint32_t places[kCacheRoomMax];  ///< the stack: [0, count) are free places
};

/// What a thread without a cache of the pool finds: nothing to take, no room.
extern constinit PlaceCacheHead closed_cache;

/// The caches of one thread.
struct ThreadCaches {
  std::atomic<std::uint32_t> busy;
  bool is_listed;                                    ///< in the list of all threads
  bool has_ended;                                    ///< no cache is opened any more
  std::atomic<PlaceCacheHead*> entries[kSlotCount];  ///< by the pool's slot
  PlaceCache* owned[kSlotCount];  ///< open or not; guarded by the lock over all pools
  ThreadCaches* next;             ///< of all threads with caches; the same
  ThreadCaches* previous;
};

/// Initial-exec: found without a call into the dynamic loader.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadCaches this_thread_caches;

/// From here on this thread's cache of that slot is its own until leave_cache().
[[nodiscard, gnu::always_inline]] inline PlaceCacheHead* enter_cache(std::uint32_t slot) noexcept {
  // Relaxed, in this order for the compiler's part; the processor's part is the membarrier in
  // PlacePool::close_caches(), which pairs with both.
  this_thread_caches.busy.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return this_thread_caches.entries[slot].load(std::memory_order_relaxed);
}

[[gnu::always_inline]] inline void leave_cache() noexcept {
  // Release, pairs with the acquire in PlacePool::close_caches(): what was done to the cache is
  // seen by who takes it away.
  this_thread_caches.busy.store(0, std::memory_order_release);
}
}  // namespace drey
