// cache_registry.cpp: see cache_registry.hpp.
// SPDX-License-Identifier: MIT
#include "cache_registry.hpp"

#include <drey/alloc.hpp>
#include <drey/base/bits.hpp>

#include <mutex>
#include <new>
#include <utility>

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace drey {
constinit PlaceCacheHead closed_cache = {.spare = kClosedPlace, .count = 0, .room = 0};

namespace {
constexpr std::uint32_t kSlots = kSlotCount - 1;  // without the one that is never open
static_assert(kSlots < 32, "a bit each in 32");

constinit PoolLock registry_lock;
constinit std::uint32_t slots_in_use = 0;
constinit PlacePool* pools = nullptr;
constinit ThreadCaches* threads = nullptr;
constinit PlaceCache* idle_caches = nullptr;
constinit std::uint8_t last_tag = 0;
constinit bool is_prepared = false;
constinit bool can_cache = false;
constinit pthread_key_t end_key = 0;

template <std::size_t... kSlot>
constexpr ThreadCaches all_closed(std::index_sequence<kSlot...> /*slots*/) {
  return {.busy = {0},
          .is_listed = false,
          .has_ended = false,
          .entries = {(static_cast<void>(kSlot), &closed_cache)...},
          .owned = {},
          .next = nullptr,
          .previous = nullptr};
}

bool call_membarrier(int command) noexcept {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}
}  // namespace

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCaches this_thread_caches =
    all_closed(std::make_index_sequence<kSlotCount>());

void CacheRegistry::barrier_in_all_threads() noexcept {
  // Pairs with the relaxed store and load in enter_cache(). It was registered: it cannot fail.
  DREY_CHECK(call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), "pools: membarrier failed");
}

void CacheRegistry::prepare() noexcept {
  is_prepared = true;
  can_cache = call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
              pthread_key_create(&end_key, [](void* caches) { end_thread(caches); }) == 0 &&
              pthread_atfork(lock_all, unlock_all, forget_other_threads) == 0;
}

std::uint32_t CacheRegistry::add_pool(PlacePool& pool, bool wants_slot) noexcept {
  const std::lock_guard guard(registry_lock);
  if (!is_prepared) prepare();
  pool.next_pool_ = pools;
  if (pools != nullptr) pools->previous_pool_ = &pool;
  pools = &pool;
  pool.tag_ = ++last_tag;
  if (!wants_slot || !can_cache) return kUncachedSlot;
  const auto slot = static_cast<std::uint32_t>(std::countr_one(slots_in_use));
  if (slot >= kSlots) return kUncachedSlot;
  slots_in_use |= 1U << slot;
  return slot;
}

void CacheRegistry::remove_pool(PlacePool& pool) noexcept {
  const std::lock_guard guard(registry_lock);
  while (pool.caches_ != nullptr) detach(*pool.caches_, false);
  if (pool.slot_ != kUncachedSlot) slots_in_use &= ~(1U << pool.slot_);
  (pool.previous_pool_ != nullptr ? pool.previous_pool_->next_pool_ : pools) = pool.next_pool_;
  if (pool.next_pool_ != nullptr) pool.next_pool_->previous_pool_ = pool.previous_pool_;
}

PlaceCache* CacheRegistry::own_cache(PlacePool& pool) noexcept {
  if (pool.slot_ == kUncachedSlot || this_thread_caches.has_ended) return nullptr;
  PlaceCache* const cache = this_thread_caches.owned[pool.slot_];
  return cache != nullptr ? cache : attach(pool);
}

PlaceCache* CacheRegistry::attach(PlacePool& pool) noexcept {
  const std::lock_guard guard(registry_lock);
  ThreadCaches& mine = this_thread_caches;
  if (!mine.is_listed) {
    if (pthread_setspecific(end_key, &mine) != 0) return nullptr;
    mine.is_listed = true;
    mine.next = threads;
    if (threads != nullptr) threads->previous = &mine;
    threads = &mine;
  }
  void* memory = idle_caches;
  if (memory != nullptr) {
    idle_caches = idle_caches->next;
  } else {
    memory = allocate(sizeof(PlaceCache), alignof(PlaceCache));
    if (memory == nullptr) return nullptr;
  }
  auto* const cache = ::new (memory) PlaceCache;
  static_cast<PlaceCacheHead&>(*cache) = {kNoPlace, 0, pool.cache_room_};
  cache->owner = &mine;
  cache->pool = &pool;
  mine.owned[pool.slot_] = cache;
  const std::lock_guard pool_guard(pool.lock_);
  cache->next = pool.caches_;
  pool.caches_ = cache;
  return cache;
}

/// The registry's lock is held, its pool's is not.
void CacheRegistry::detach(PlaceCache& cache, bool keeps_places) noexcept {
  PlacePool& pool = *cache.pool;
  ThreadCaches& owner = *cache.owner;
  {
    const std::lock_guard guard(pool.lock_);
    // Relaxed: the thread is this one, at its end, gone by a fork, or one that learns of the slot's
    // next pool through something that orders this.
    owner.entries[pool.slot_].store(&closed_cache, std::memory_order_relaxed);
    owner.owned[pool.slot_] = nullptr;
    if (keeps_places) pool.empty_cache(cache);
    PlaceCache** link = &pool.caches_;
    while (*link != &cache) link = &(*link)->next;
    *link = cache.next;
  }
  cache.next = idle_caches;
  idle_caches = &cache;
}

void CacheRegistry::end_thread(void* caches) noexcept {
  const std::lock_guard guard(registry_lock);
  auto& mine = *static_cast<ThreadCaches*>(caches);
  mine.has_ended = true;
  for (PlaceCache* const cache : mine.owned) {
    if (cache != nullptr) detach(*cache, true);
  }
  (mine.previous != nullptr ? mine.previous->next : threads) = mine.next;
  if (mine.next != nullptr) mine.next->previous = mine.previous;
  mine.is_listed = false;
}

void CacheRegistry::lock_all() noexcept {
  registry_lock.lock();
  for (PlacePool* pool = pools; pool != nullptr; pool = pool->next_pool_) pool->lock_.lock();
}

void CacheRegistry::unlock_all() noexcept {
  for (PlacePool* pool = pools; pool != nullptr; pool = pool->next_pool_) pool->lock_.unlock();
  registry_lock.unlock();
}

/// In the child of a fork: the C library will use the other threads' memory again.
void CacheRegistry::forget_other_threads() noexcept {
  for (PlacePool* pool = pools; pool != nullptr; pool = pool->next_pool_) pool->lock_.unlock();
  for (ThreadCaches* thread = threads; thread != nullptr; thread = thread->next) {
    if (thread == &this_thread_caches) continue;
    // Relaxed: that thread does not run. One caught in the middle of an operation may have left a
    // stack half written: its places are lost to the child, as those it held are.
    const bool is_whole = thread->busy.load(std::memory_order_relaxed) == 0;
    for (PlaceCache* const cache : thread->owned) {
      if (cache != nullptr) detach(*cache, is_whole);
    }
  }
  threads = this_thread_caches.is_listed ? &this_thread_caches : nullptr;
  this_thread_caches.next = nullptr;
  this_thread_caches.previous = nullptr;
  registry_lock.unlock();
}
}  // namespace drey
