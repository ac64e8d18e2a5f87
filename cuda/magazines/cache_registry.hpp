// cache_registry.hpp: which allocators are open, which threads have caches of them, and what happens to
// both when a thread ends or the process forks.
//
// Invariants: a ThreadCache is never given back to the system, so a thread may look at its own at any
// time; its turn says whether it is open for the allocator that asks. A thread that ends makes no driver
// call: its blocks go to the central heap with the stamps that now() gives.
// Read next: thread_cache.hpp; docs/CONCURRENCY.md, "Locks".
// SPDX-License-Identifier: MIT
#pragma once

#include "magazines/thread_cache.hpp"

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
inline constexpr std::size_t kAllocatorsMax = 16;

/// Of one thread; small, because a library that is loaded late has little room for initial-exec.
struct ThreadCaches {
  ThreadCache* of[kAllocatorsMax];
  bool is_keyed;
  bool has_ended;
};
static_assert(sizeof(ThreadCaches) <= 256);

[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadCaches this_thread_caches;

namespace cache_registry {
/// Gives the allocator its number and turn. Fails: false when kAllocatorsMax are open.
[[nodiscard]] bool add(AllocatorState& state) noexcept;
/// Closes all its caches, which threads keep for the next allocator of the number.
void remove(AllocatorState& state) noexcept;
/// This thread's cache of the allocator, attached. Null: no memory, the thread is ending, or the system
/// cannot take a cache away from a running thread. Requires: the allocator's lock is not held.
[[nodiscard]] ThreadCache* attach(AllocatorState& state) noexcept;
/// Whether the process ends: exit() began, and the driver may be gone any time. Set from the first open on.
[[nodiscard]] bool is_exiting() noexcept;
/// Every running thread of the process passes a full barrier.
void barrier_in_all_threads() noexcept;
}  // namespace cache_registry
}  // namespace drey::cuda
