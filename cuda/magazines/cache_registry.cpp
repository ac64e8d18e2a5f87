// cache_registry.cpp: see cache_registry.hpp.
// SPDX-License-Identifier: MIT
#include "magazines/cache_registry.hpp"

#include "policy/allocator_state.hpp"
#include "threads/mutex.hpp"

#include <drey/base/assert.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace drey::cuda {
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCaches this_thread_caches = {};

namespace cache_registry {
namespace {
constinit Mutex registry_lock;
constinit AllocatorState* open_allocators[kAllocatorsMax] = {};
constinit ThreadCache* idle_caches = nullptr;
constinit std::uint64_t last_turn = 0;
constinit bool is_prepared = false;
constinit bool can_cache = false;
constinit pthread_key_t end_key = 0;
constinit std::atomic<bool> has_exit_begun{false};

bool call_membarrier(int command) noexcept {
  return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

void end_thread(void* /*caches*/) noexcept {
  const MutexHolder holder(registry_lock);
  this_thread_caches.has_ended = true;
  for (ThreadCache*& cache : this_thread_caches.of) {
    if (cache == nullptr) continue;
    if (cache->state != nullptr) cache->state->detach(*cache);
    cache->reset();
    cache->next = idle_caches;
    idle_caches = cache;
    cache = nullptr;
  }
}

void before_fork() noexcept {
  registry_lock.acquire();
  for (AllocatorState* state : open_allocators) {
    if (state != nullptr) state->lock.acquire();
  }
}

void release_all() noexcept {
  for (AllocatorState* state : open_allocators) {
    if (state != nullptr) state->lock.release();
  }
  registry_lock.release();
}

// The driver does not work in a child. Its only thread is the one that forked.
void in_child() noexcept {
  for (AllocatorState* state : open_allocators) {
    if (state != nullptr) state->become_forked_child();
  }
  release_all();
}

void prepare() noexcept {
  is_prepared = true;
  can_cache = call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
              ::pthread_key_create(&end_key, [](void* caches) { end_thread(caches); }) == 0;
  static_cast<void>(::pthread_atfork(before_fork, release_all, in_child));
  // Behind the driver's own handlers, which are there already, and so before them.
  // Relaxed: a thread that runs on while the process ends may be late.
  static_cast<void>(std::atexit([] { has_exit_begun.store(true, std::memory_order_relaxed); }));
}

ThreadCache* new_cache() noexcept {
  if (idle_caches != nullptr) {
    ThreadCache* const cache = idle_caches;
    idle_caches = cache->next;
    return cache;
  }
  void* const memory = ::mmap(nullptr, sizeof(ThreadCache), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return ::new (memory) ThreadCache;
}
}  // namespace

void barrier_in_all_threads() noexcept {
  // Pairs with the relaxed store and load in ThreadCache::enter(). It was registered: it cannot fail.
  DREY_CHECK(call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), "cuda: membarrier failed");
}

bool is_exiting() noexcept {
  // Relaxed: as it is set.
  return has_exit_begun.load(std::memory_order_relaxed);
}

bool add(AllocatorState& state) noexcept {
  const MutexHolder holder(registry_lock);
  if (!is_prepared) prepare();
  for (std::uint32_t id = 0; id < kAllocatorsMax; ++id) {
    if (open_allocators[id] != nullptr) continue;
    open_allocators[id] = &state;
    state.id = id;
    state.turn = ++last_turn;
    return true;
  }
  return false;
}

void remove(AllocatorState& state) noexcept {
  const MutexHolder holder(registry_lock);
  if (open_allocators[state.id] != &state) return;
  open_allocators[state.id] = nullptr;
  while (state.caches != nullptr) {
    ThreadCache* const cache = state.caches;
    state.caches = cache->next;
    // Relaxed: no call of the allocator is under way.
    cache->turn.store(0, std::memory_order_relaxed);
    cache->state = nullptr;
  }
}

ThreadCache* attach(AllocatorState& state) noexcept {
  ThreadCaches& mine = this_thread_caches;
  ThreadCache* cache = mine.of[state.id];
  // Without the lock: others change it only in remove(), when no call is under way.
  if (cache != nullptr && cache->state == &state) return cache;
  const MutexHolder holder(registry_lock);
  if (!can_cache || mine.has_ended) return nullptr;
  if (!mine.is_keyed && ::pthread_setspecific(end_key, &mine) != 0) return nullptr;
  mine.is_keyed = true;
  if (cache == nullptr) cache = new_cache();
  if (cache == nullptr) return nullptr;
  cache->reset();
  ::new (&cache->counters) CacheCounters;
  cache->state = &state;
  mine.of[state.id] = cache;
  const MutexHolder state_holder(state.lock);
  cache->bytes_max = state.config.magazine_bytes_max;
  cache->next = state.caches;
  if (state.caches != nullptr) state.caches->previous = cache;
  state.caches = cache;
  return cache;
}
}  // namespace cache_registry
}  // namespace drey::cuda
