// place_shared.cpp: places between threads' caches, the shared list, and memory never used.
//
// A thread that finds its cache empty takes a batch from the shared list, else fresh places; one
// whose cache is full gives a batch to the list. Who finds both sources empty closes all caches and
// takes from what was in them; then the pool is scarce, and nobody keeps places until a quarter of
// those used are free: near its limit a pool works under its lock instead of emptying caches over
// and over.
// Read next: place_pool.cpp, cache_registry.cpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/place_pool.hpp>

#include "cache_registry.hpp"
#include "place_checks.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <sched.h>

namespace drey {
namespace {
constexpr std::size_t kScarcePart = 4;
}

std::uint32_t PlacePool::take_shared() noexcept {
  const void* const site = __builtin_return_address(0);
  PlaceCache* const own = CacheRegistry::own_cache(*this);
  const std::lock_guard guard(lock_);
  std::uint32_t place = kNoPlace;
  if (take_any(&place, 1) == 0) return kNoPlace;
  if (checks_ != nullptr) checks_->mark_taken(place, site);
  if (may_keep(own)) fill_cache(*own);
  return place;
}

void PlacePool::give_shared(std::uint32_t place) noexcept {
  PlaceCache* const own = CacheRegistry::own_cache(*this);
  const std::lock_guard guard(lock_);
  if (checks_ != nullptr) {
    checks_->mark_free(place);
    checks_->push(&place, 1);
    return;
  }
  if (!may_keep(own)) {
    free_.push(&place, 1);
    return;
  }
  if (own->spare == kNoPlace) {
    own->spare = place;
    return;
  }
  // Full: the lowest of the stack leave, which were not used for longest.
  const std::uint32_t leaving = std::min(batch_, own->count);
  if (leaving == 0) {
    free_.push(&place, 1);
    return;
  }
  free_.push(own->places, leaving);
  own->count -= leaving;
  std::memmove(own->places, own->places + leaving, own->count * sizeof(std::uint32_t));
  own->places[own->count++] = place;
}

std::size_t PlacePool::take_batch_shared(std::uint32_t* places, std::size_t count) noexcept {
  const void* const site = __builtin_return_address(0);
  PlaceCache* const own = CacheRegistry::own_cache(*this);
  const std::lock_guard guard(lock_);
  std::size_t got = own != nullptr ? drain_cache(*own, places, count) : 0;
  got += take_any(places + got, count - got);
  for (std::size_t index = 0; checks_ != nullptr && index < got; ++index) {
    checks_->mark_taken(places[index], site);
  }
  return got;
}

void PlacePool::give_batch_shared(const std::uint32_t* places, std::size_t count) noexcept {
  PlaceCache* const own = CacheRegistry::own_cache(*this);
  const std::lock_guard guard(lock_);
  if (checks_ != nullptr) {
    for (std::size_t index = 0; index < count; ++index) checks_->mark_free(places[index]);
    checks_->push(places, count);
    return;
  }
  if (may_keep(own)) {
    const std::size_t kept = std::min<std::size_t>(count, own->room - own->count);
    std::memcpy(own->places + own->count, places, kept * sizeof(std::uint32_t));
    own->count += static_cast<std::uint32_t>(kept);
    places += kept;
    count -= kept;
  }
  free_.push(places, count);
}

/// From the shared list.
std::size_t PlacePool::take_free(std::uint32_t* places, std::size_t count) noexcept {
  return checks_ != nullptr ? checks_->pop(places, count) : free_.pop(places, count);
}

/// Places never used, in rising order.
std::size_t PlacePool::take_fresh(std::uint32_t* places, std::size_t count) noexcept {
  if (used_count_ == memory_.opened() && !memory_.open_more()) return 0;
  const std::size_t got = std::min<std::size_t>(count, memory_.opened() - used_count_);
  for (std::size_t index = 0; index < got; ++index) places[index] = used_count_++;
  return got;
}

/// From everywhere. What is missing in the end was all taken at once: the lock is held and no cache
/// is open, so every free place would be in the list.
std::size_t PlacePool::take_any(std::uint32_t* places, std::size_t count) noexcept {
  std::size_t got = take_free(places, count);
  while (got < count) {
    const std::size_t fresh = take_fresh(places + got, count - got);
    if (fresh == 0) break;
    got += fresh;
  }
  if (got == count) return got;
  close_caches();
  is_scarce_ = true;
  got += take_free(places + got, count - got);
  exhausted_count_ += count - got;
  return got;
}

/// Whether the thread may keep free places now; its cache is open then.
bool PlacePool::may_keep(PlaceCache* own) noexcept {
  if (own == nullptr) return false;
  if (is_scarce_ && (free_.count() == 0 || free_.count() * kScarcePart < used_count_)) return false;
  is_scarce_ = false;
  if (!own->is_open) open_cache(*own);
  return true;
}

void PlacePool::open_cache(PlaceCache& own) noexcept {
  own.spare = kNoPlace;
  own.is_open = true;
  // Relaxed: only this thread reads it; close_caches() undoes it.
  this_thread_caches.entries[slot_].store(&own, std::memory_order_relaxed);
}

/// Puts a batch into the stack, which is empty: from the list, else fresh, the lowest on top.
void PlacePool::fill_cache(PlaceCache& own) noexcept {
  if (own.count != 0) return;
  const std::size_t wanted = std::min(batch_, own.room);
  std::size_t got = take_free(own.places, wanted);
  if (got == 0) got = take_fresh(own.places, wanted);
  std::reverse(own.places, own.places + got);
  own.count = static_cast<std::uint32_t>(got);
}

/// From the thread's own cache, which others leave alone while the lock is held.
std::size_t PlacePool::drain_cache(PlaceCache& own, std::uint32_t* places,
                                   std::size_t count) noexcept {
  if (!own.is_open) return 0;
  const std::size_t from_stack = std::min<std::size_t>(count, own.count);
  own.count -= static_cast<std::uint32_t>(from_stack);
  std::memcpy(places, own.places + own.count, from_stack * sizeof(std::uint32_t));
  if (from_stack == count || own.spare == kNoPlace) return from_stack;
  places[from_stack] = own.spare;
  own.spare = kNoPlace;
  return from_stack + 1;
}

/// Everything in it goes to the list. Its owner is not in the middle of an operation.
void PlacePool::empty_cache(PlaceCache& cache) noexcept {
  if (!cache.is_open) return;
  free_.push(cache.places, cache.count);
  if (cache.spare != kNoPlace) free_.push(&cache.spare, 1);
  cache.spare = kNoPlace;
  cache.count = 0;
  cache.is_open = false;
}

void PlacePool::close_caches() noexcept {
  bool others_are_open = false;
  for (PlaceCache* cache = caches_; cache != nullptr; cache = cache->next) {
    if (!cache->is_open) continue;
    others_are_open = others_are_open || cache->owner != &this_thread_caches;
    // Relaxed: the barrier below stands between this and the look at busy, in this thread and in
    // the owner's; pairs with enter_cache().
    cache->owner->entries[slot_].store(&closed_cache, std::memory_order_relaxed);
  }
  if (others_are_open) {
    CacheRegistry::barrier_in_all_threads();
    ++steal_count_;
  }
  for (PlaceCache* cache = caches_; cache != nullptr; cache = cache->next) {
    // Acquire, pairs with the release in leave_cache(). An operation is some ten instructions long
    // and waits for nothing, so this ends as soon as its thread runs.
    while (cache->is_open && cache->owner->busy.load(std::memory_order_acquire) != 0) {
      sched_yield();
    }
    empty_cache(*cache);
  }
}
}  // namespace drey
