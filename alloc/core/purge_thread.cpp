// purge_thread.cpp: see purge_thread.hpp.
// SPDX-License-Identifier: MIT
#include "core/purge_thread.hpp"

#include "core/options.hpp"
#include "core/purge.hpp"
#include "os/os.hpp"

#include <atomic>

namespace drey::core {
namespace {
enum class ThreadState : int {
  kNotAllowed,  ///< the process is still being put together
  kNone,
  kRunning,
};
constinit std::atomic<ThreadState> thread_state{ThreadState::kNotAllowed};

/// Also the shortest sleep where the delay is 0 or "never".
constexpr std::int64_t kIdleSleepMs = 100;

void run() noexcept {
  for (;;) {
    const std::int64_t delay_ms = options.purge_delay_ms.load(std::memory_order_relaxed);
    os::sleep_ms(
        static_cast<std::uint64_t>(delay_ms > 2 * kIdleSleepMs ? delay_ms / 2 : kIdleSleepMs));
    // Once started it stays, and does nothing while it is switched off.
    if (options.purge_thread.load(std::memory_order_relaxed)) run_due_ticks();
  }
}
}  // namespace

void start_purge_thread_if_asked() noexcept {
  if (!options.purge_thread.load(std::memory_order_relaxed)) return;
  // Relaxed: the thread reads nothing that was written for it; whoever swings the word starts it,
  // and does so before anything that allocates can come here again.
  ThreadState expected = ThreadState::kNone;
  if (!thread_state.compare_exchange_strong(expected, ThreadState::kRunning,
                                            std::memory_order_relaxed)) {
    return;
  }
  // If it fails, the next visit tries again.
  if (!os::start_thread(run)) thread_state.store(ThreadState::kNone, std::memory_order_relaxed);
}

void allow_purge_thread() noexcept {
  ThreadState expected = ThreadState::kNotAllowed;
  thread_state.compare_exchange_strong(expected, ThreadState::kNone, std::memory_order_relaxed);
}

void forget_purge_thread() noexcept {
  // Relaxed: the only thread there is.
  if (thread_state.load(std::memory_order_relaxed) == ThreadState::kRunning) {
    thread_state.store(ThreadState::kNone, std::memory_order_relaxed);
  }
}
}  // namespace drey::core
