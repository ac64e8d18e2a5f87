// place_pool.cpp: the beginning and end of a pool, its counts, and what is found to be wrong.
// Read next: place_shared.cpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/place_pool.hpp>

#include "cache_registry.hpp"
#include "place_checks.hpp"
#include "pool_reports.hpp"

#include <drey/alloc.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

#include <sys/single_threaded.h>

namespace drey {
namespace {
/// A cache may hold this part of a pool, so that a small pool is not all in caches.
constexpr std::size_t kCachePart = 4;
constexpr std::size_t kBatchMax = 128;
}  // namespace

PlacePool::PlacePool(PoolMemory& memory) noexcept
    : states_(memory.states()), memory_(memory), free_(memory) {
  cache_room_ = static_cast<std::uint32_t>(std::min(kCacheRoomMax, memory.capacity() / kCachePart));
  batch_ = static_cast<std::uint32_t>(std::min<std::size_t>(kBatchMax, cache_room_ / 2));
  if (memory.is_checked() && memory.capacity() != 0) checks_ = PlaceChecks::create(memory);
  slot_ = CacheRegistry::add_pool(*this, checks_ == nullptr && memory.capacity() != 0);
}

PlacePool::~PlacePool() {
  if (const std::uint64_t out = taken_count(); out != 0) {
    if (checks_ != nullptr) report_taken(16);
    report_vectors_out(out);
  }
  CacheRegistry::remove_pool(*this);
  PlaceChecks::destroy(checks_);
}

void PlacePool::give_back_vector(const void* vector) noexcept {
  const std::size_t index = memory_.place_of(vector);
  if (index >= capacity()) report_stray_vector(vector);
  const auto place = static_cast<std::uint32_t>(index);
  std::atomic<std::uint16_t>& state = states_[place];
  // Relaxed throughout: as in give_back(). The exchange decides between two who give back at once.
  std::uint16_t before = state.load(std::memory_order_relaxed);
  do {
    if ((before & 1) == 0) report_not_taken(place);
    if (__libc_single_threaded != 0) {
      state.store(static_cast<std::uint16_t>(before + 1), std::memory_order_relaxed);
      break;
    }
  } while (!state.compare_exchange_weak(before, static_cast<std::uint16_t>(before + 1),
                                        std::memory_order_relaxed, std::memory_order_relaxed));
  if (static_cast<std::uint16_t>(before + 1) == 0) count_round(place);
  keep_free(place);
}

std::size_t PlacePool::take_batch(std::uint32_t* places, std::size_t count) noexcept {
  if (count == 0) return 0;
  PlaceCacheHead* const cache = enter_cache(slot_);
  std::size_t got = count;
  if (cache->count >= count) {
    cache->count -= static_cast<std::uint32_t>(count);
    std::memcpy(places, static_cast<PlaceCache*>(cache)->places + cache->count,
                count * sizeof(std::uint32_t));
    leave_cache();
  } else {
    leave_cache();
    got = take_batch_shared(places, count);
  }
  std::uint32_t all = 0;
  std::atomic<std::uint16_t>* const states = states_;
#pragma GCC unroll 4
  for (std::size_t index = 0; index < got; ++index) {
    // Relaxed: as in mark_taken().
    const std::uint32_t before = states[places[index]].load(std::memory_order_relaxed);
    all |= before;
    states[places[index]].store(static_cast<std::uint16_t>(before + 1), std::memory_order_relaxed);
  }
  if ((all & 1) != 0) [[unlikely]] {
    report_listed_twice(*std::find_if(places, places + got, [this](std::uint32_t place) {
      return (states_[place].load(std::memory_order_relaxed) & 1) == 0;  // it was odd
    }));
  }
  return got;
}

void PlacePool::give_back_batch(const std::uint32_t* places, std::size_t count) noexcept {
  if (count == 0) return;
  std::uint32_t common = 1;
  std::uint32_t after = 0;  // the bit above the state's: one of them went through zero
  std::atomic<std::uint16_t>* const states = states_;
#pragma GCC unroll 4
  for (std::size_t index = 0; index < count; ++index) {
    // Relaxed: as in give_back().
    const std::uint32_t before = states[places[index]].load(std::memory_order_relaxed);
    common &= before;
    after |= before + 1;
    states[places[index]].store(static_cast<std::uint16_t>(before + 1), std::memory_order_relaxed);
  }
  if ((common & 1) == 0) [[unlikely]] {
    report_not_taken(*std::find_if(places, places + count, [this](std::uint32_t place) {
      return (states_[place].load(std::memory_order_relaxed) & 1) != 0;  // it was even
    }));
  }
  for (std::size_t index = 0; after > UINT16_MAX && index < count; ++index) {
    if (states_[places[index]].load(std::memory_order_relaxed) == 0) count_round(places[index]);
  }
  PlaceCacheHead* const cache = enter_cache(slot_);
  if (cache->room - cache->count >= count) {
    std::memcpy(static_cast<PlaceCache*>(cache)->places + cache->count, places,
                count * sizeof(std::uint32_t));
    cache->count += static_cast<std::uint32_t>(count);
    leave_cache();
  } else {
    leave_cache();
    give_batch_shared(places, count);
  }
}

void PlacePool::count_round(std::uint32_t place) noexcept {
  // Relaxed: by the holder alone; read with the state, as a snapshot.
  std::atomic<std::uint16_t>& rounds = memory_.rounds()[place];
  rounds.store(static_cast<std::uint16_t>(rounds.load(std::memory_order_relaxed) + 1),
               std::memory_order_relaxed);
}

void PlacePool::report_not_taken(std::uint32_t place) noexcept {
  const void* const vector = memory_.vector(place);
  if (generation(place) == 0) report_never_taken(vector);
  report_given_back_twice(vector);
}

void PlacePool::report_listed_twice(std::uint32_t place) noexcept {
  report_twice_in_list(memory_.vector(place));
}

std::uint64_t PlacePool::taken_count() const noexcept {
  std::uint64_t taken = 0;
  for (std::uint32_t place = 0; place < used_count_; ++place) taken += generation(place) & 1;
  return taken;
}

VectorPoolStatistics PlacePool::statistics() noexcept {
  const std::lock_guard guard(lock_);
  VectorPoolStatistics statistics{};
  for (std::uint32_t place = 0; place < used_count_; ++place) {
    const std::uint32_t changes = generation(place);
    statistics.taken += changes & 1;
    statistics.ever_taken += changes != 0 ? 1 : 0;
    statistics.take_count += (std::uint64_t{changes} + 1) / 2;
    statistics.give_back_count += changes / 2;
  }
  const std::uint64_t free_count = free_.count() + (checks_ != nullptr ? checks_->count() : 0);
  const std::uint64_t elsewhere = statistics.taken + free_count;
  statistics.cached = used_count_ > elsewhere ? used_count_ - elsewhere : 0;
  statistics.exhausted_count = exhausted_count_;
  statistics.steal_count = steal_count_;
  statistics.capacity = capacity();
  statistics.opened = memory_.opened();
  statistics.reserved_bytes = memory_.bytes();
  statistics.touched_bytes = statistics.ever_taken * memory_.stride_bytes();
  return statistics;
}

void PlacePool::report_taken(std::size_t count_max) noexcept {
  const std::lock_guard guard(lock_);
  for (std::uint32_t place = 0; place < used_count_ && count_max != 0; ++place) {
    if ((generation(place) & 1) == 0) continue;
    write_taken_line(memory_.vector(place), checks_ != nullptr ? checks_->site(place) : nullptr);
    --count_max;
  }
}

bool PlacePool::invariants_hold() noexcept {
  const std::lock_guard guard(lock_);
  if (used_count_ > memory_.opened() || memory_.opened() > capacity()) return false;
  const std::uint64_t taken = taken_count();
  auto* const free_places =
      static_cast<std::uint32_t*>(drey_calloc(used_count_ + std::size_t{1}, sizeof(std::uint32_t)));
  if (free_places == nullptr) return false;
  // Every free place once: from the list, which gets it back in the same order, and from the caches.
  std::size_t count = take_free(free_places, used_count_);
  if (checks_ != nullptr) {
    checks_->push(free_places, count);
  } else {
    free_.push(free_places, count);
  }
  bool is_sound = true;
  for (PlaceCache* cache = caches_; cache != nullptr; cache = cache->next) {
    is_sound = is_sound && cache->count <= cache->room && (cache->is_open || cache->count == 0);
    if (!is_sound || count + cache->count + 1 > used_count_ + std::size_t{1}) break;
    std::memcpy(free_places + count, cache->places, cache->count * sizeof(std::uint32_t));
    count += cache->count;
    if (cache->spare != kNoPlace) free_places[count++] = cache->spare;
  }
  std::sort(free_places, free_places + count);
  is_sound = is_sound && count + taken == used_count_ &&
             std::adjacent_find(free_places, free_places + count) == free_places + count &&
             std::none_of(free_places, free_places + count, [this](std::uint32_t place) {
               return place >= used_count_ || (generation(place) & 1) != 0;
             });
  deallocate(free_places);
  return is_sound;
}
}  // namespace drey
