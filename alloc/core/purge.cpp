// purge.cpp: see purge.hpp.
// SPDX-License-Identifier: MIT
#include "core/purge.hpp"

#include "core/options.hpp"
#include "core/segment_store.hpp"
#include "core/thread_heap.hpp"
#include "os/os.hpp"

namespace drey::core {
namespace {
constinit std::atomic<std::uint64_t> next_tick_ms{0};
}  // namespace

void purge_if_due() noexcept {
  const std::int64_t delay_ms = options.purge_delay_ms.load(std::memory_order_relaxed);
  if (delay_ms < 0) return;
  const std::uint64_t now = os::now_ms();
  // Relaxed: a tick more or less does no harm; the locks order what the tick does.
  std::uint64_t due = next_tick_ms.load(std::memory_order_relaxed);
  if (now < due) return;
  const std::uint64_t next = now + static_cast<std::uint64_t>(delay_ms) / 2;
  if (!next_tick_ms.compare_exchange_strong(due, next, std::memory_order_relaxed)) return;
  release_cached_runs(true);
  segment_store.tick();
}

void purge_all() noexcept {
  release_cached_runs(false);
  segment_store.tick();
  segment_store.tick();
}
}  // namespace drey::core
