// place_pool.hpp: which of N places are free, for any number of threads; the part of a pool that
// knows nothing of what lies in the places.
//
// A place that is given back goes into the thread's own cache (place_cache.hpp); a full cache gives
// half a batch or more to the shared list, an empty one takes a batch from there, else opens places
// never used. Who finds the shared part empty takes away the caches of all threads, so a pool is
// exhausted only when every place is taken.
// Invariants: (1) states[place] is odd exactly while the place is taken; it counts how often the
// place changed hands; (2) a free place below used() is in exactly one of: a cache, the shared list;
// (3) used() <= opened() <= capacity(); everything shared is guarded by one lock.
// Consequence of (1): takes, give-backs and places out are sums over the states, so that nobody
// counts on the way, and a place that two threads gave back at once is found when taken again.
// Read next: place_cache.hpp, vector_pool.hpp; place_pool.cpp for what is shared.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/assert.hpp>
#include <drey/pools/place_cache.hpp>
#include <drey/pools/place_list.hpp>
#include <drey/pools/pool_lock.hpp>
#include <drey/pools/pool_memory.hpp>
#include <drey/pools/pool_options.hpp>
#include <drey/pools/vector_ref.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey {
class PlaceChecks;

/// Counts of one pool: a snapshot while other threads work, exact while they do not.
struct VectorPoolStatistics {
  std::uint64_t taken;            ///< vectors out now
  std::uint64_t ever_taken;       ///< different vectors taken so far: at least the most out at once
  std::uint64_t take_count;       ///< successful takes so far
  std::uint64_t give_back_count;  ///< vectors given back so far
  std::uint64_t exhausted_count;  ///< vectors asked for and not there
  std::uint64_t cached;           ///< free vectors kept by threads
  std::uint64_t steal_count;      ///< times that caches were taken away because all else was empty
  std::size_t capacity;           ///< vectors
  std::size_t opened;             ///< of capacity, prepared so far
  std::size_t reserved_bytes;     ///< address space held
  std::size_t touched_bytes;      ///< of that, vectors ever taken
};

/// A place and its state before it was taken. Before, not after: so a pair of take and give back adds
/// once between reading the state and writing it again, and waits a cycle less for itself.
struct TakenPlace {
  std::uint32_t place;         ///< kNoPlace if there was none
  std::uint16_t state_before;  ///< even
};

/// Hands out the places of a PoolMemory, each to one holder at a time.
/// Threads: any, but for construction and destruction. Signal handlers: not from one.
/// Fork: the child may go on with the pool; what other threads held or kept stays taken there.
class PlacePool {
 public:
  explicit PlacePool(PoolMemory& memory) noexcept;
  /// Requires: every place is back; else says how many are out, and aborts.
  ~PlacePool();
  PlacePool(const PlacePool&) = delete;
  PlacePool& operator=(const PlacePool&) = delete;

  /// Fails: kNoPlace if, at a moment during the call, every place was taken.
  /// Cost:  no atomic read-modify-write while the thread has one in its cache.
  [[nodiscard, gnu::always_inline]] TakenPlace take() noexcept {
    PlaceCacheHead* const cache = enter_cache(slot_);
    std::uint32_t place = cache->spare;
    if (static_cast<std::int32_t>(place) >= 0) [[likely]] {
      cache->spare = kNoPlace;
      leave_cache();
    } else if (cache->count != 0) {
      place = static_cast<PlaceCache*>(cache)->places[--cache->count];
      leave_cache();
    } else {
      leave_cache();
      place = take_shared();
      if (place == kNoPlace) return {kNoPlace, 0};
    }
    return {place, mark_taken(place)};
  }

  /// Requires: the caller alone holds the place, as take() gave it.
  [[gnu::always_inline]] void give_back(TakenPlace taken) noexcept {
    // Relaxed: the holder's own; what orders the place for the next holder is the cache or the lock.
    std::atomic<std::uint16_t>& state = states_[taken.place];
    const auto expected = static_cast<std::uint16_t>(taken.state_before + 1);
    if (state.load(std::memory_order_relaxed) != expected) [[unlikely]] {
      report_not_taken(taken.place);
    }
    const auto next = static_cast<std::uint16_t>(taken.state_before + 2);
    state.store(next, std::memory_order_relaxed);
    if (next == 0) [[unlikely]] {
      count_round(taken.place);
    }
    keep_free(taken.place);
  }

  /// As give_back() by who knows nothing but the address. Two threads that give the same vector back
  /// at once are told apart. Fails: a pointer that is no vector of this pool, a vector never taken
  /// and one that is free are named on standard error, and the process aborts.
  void give_back_vector(const void* vector) noexcept;

  /// Takes up to `count` places. Returns: how many; fewer only if, at a moment during the call, every
  /// other one was taken. Cost: one copy of a run of the cache, and one step for each state.
  [[nodiscard]] std::size_t take_batch(std::uint32_t* places, std::size_t count) noexcept;
  /// Requires: the caller alone holds them.
  void give_back_batch(const std::uint32_t* places, std::size_t count) noexcept;

  [[nodiscard]] std::size_t capacity() const noexcept { return memory_.capacity(); }
  [[nodiscard]] bool is_checked() const noexcept { return checks_ != nullptr; }
  /// Tells pools apart; of two pools made 256 pools apart it is the same.
  [[nodiscard]] std::uint8_t tag() const noexcept { return tag_; }

  /// How often the place changed hands: odd while it is taken.
  [[nodiscard]] std::uint32_t generation(std::uint32_t place) const noexcept {
    // Relaxed: who holds the place changed it last; for others it is a snapshot.
    return (std::uint32_t{memory_.rounds()[place].load(std::memory_order_relaxed)} << 16) |
           states_[place].load(std::memory_order_relaxed);
  }

  /// True if `ref` names a place of this pool that has been out without a break since.
  [[nodiscard]] bool is_held(VectorRef ref) const noexcept {
    return ref.pool_tag() == tag_ && ref.place() < capacity() && (ref.generation() & 1) != 0 &&
           generation(ref.place()) == ref.generation();
  }

  /// Cost: linear in the places ever used.
  [[nodiscard]] VectorPoolStatistics statistics() noexcept;
  /// A line for each place out, at most `count_max`, with where it was taken if the pool is checked.
  void report_taken(std::size_t count_max) noexcept;
  /// Requires: no other thread uses the pool. Cost: as statistics().
  [[nodiscard]] bool invariants_hold() noexcept;

 private:
  friend class CacheRegistry;

  [[gnu::always_inline]] std::uint16_t mark_taken(std::uint32_t place) noexcept {
    std::atomic<std::uint16_t>& state = states_[place];
    // Relaxed: as in give_back().
    const std::uint16_t before = state.load(std::memory_order_relaxed);
    if ((before & 1) != 0) [[unlikely]] {
      report_listed_twice(place);
    }
    state.store(static_cast<std::uint16_t>(before + 1), std::memory_order_relaxed);
    return before;
  }

  [[gnu::always_inline]] void keep_free(std::uint32_t place) noexcept {
    PlaceCacheHead* const cache = enter_cache(slot_);
    if (cache->spare == kNoPlace) [[likely]] {
      cache->spare = place;
      leave_cache();
    } else if (cache->count < cache->room) {
      static_cast<PlaceCache*>(cache)->places[cache->count++] = place;
      leave_cache();
    } else {
      leave_cache();
      give_shared(place);
    }
  }

  // Off the hit path: place_pool.cpp and place_shared.cpp.
  [[nodiscard, gnu::noinline]] std::uint32_t take_shared() noexcept;
  [[gnu::noinline]] void give_shared(std::uint32_t place) noexcept;
  [[nodiscard, gnu::noinline]] std::size_t take_batch_shared(std::uint32_t* places,
                                                             std::size_t count) noexcept;
  [[gnu::noinline]] void give_batch_shared(const std::uint32_t* places, std::size_t count) noexcept;
  [[gnu::cold, gnu::noinline]] void count_round(std::uint32_t place) noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] void report_not_taken(std::uint32_t place) noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] void report_listed_twice(std::uint32_t place) noexcept;

  // Off the hit path as well, with the lock held.
  [[nodiscard]] std::size_t take_free(std::uint32_t* places, std::size_t count) noexcept;
  [[nodiscard]] std::size_t take_fresh(std::uint32_t* places, std::size_t count) noexcept;
  [[nodiscard]] std::size_t take_any(std::uint32_t* places, std::size_t count) noexcept;
  [[nodiscard]] bool may_keep(PlaceCache* own) noexcept;
  void open_cache(PlaceCache& own) noexcept;
  void fill_cache(PlaceCache& own) noexcept;
  [[nodiscard]] std::size_t drain_cache(PlaceCache& own, std::uint32_t* places,
                                        std::size_t count) noexcept;
  void empty_cache(PlaceCache& cache) noexcept;
  void close_caches() noexcept;
  [[nodiscard]] std::uint64_t taken_count() const noexcept;

  std::atomic<std::uint16_t>* const states_;
  std::uint32_t slot_ = kUncachedSlot;
  std::uint32_t cache_room_ = 0;  ///< of each thread's cache
  std::uint32_t batch_ = 0;       ///< places that move between a cache and the shared list at once
  PoolMemory& memory_;
  PlaceChecks* checks_ = nullptr;
  std::uint8_t tag_ = 0;
  PlacePool* next_pool_ = nullptr;  ///< of all pools; guarded by the lock over all pools
  PlacePool* previous_pool_ = nullptr;

  alignas(kCacheLineBytes) PoolLock lock_;
  PlaceList free_;                ///< of kept places, those that no thread keeps
  std::uint32_t used_count_ = 0;  ///< places ever handed to a cache or a holder
  bool is_scarce_ = false;        ///< the last try found nothing: nobody keeps places now
  PlaceCache* caches_ = nullptr;
  std::uint64_t exhausted_count_ = 0;
  std::uint64_t steal_count_ = 0;
};
}  // namespace drey
