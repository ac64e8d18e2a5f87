// signal_test.cpp: a storm of signals whose handler does not allocate, in the midst of allocation.
// Such a handler is always safe (POSIX XSH 2.4.3): whatever step of the allocator it interrupts,
// that step goes on afterwards as if nothing had been.
// Read next: memory_return_test.cpp.
// SPDX-License-Identifier: MIT
#include "stress/stress.hpp"
#include "support/subject.hpp"

#include <csignal>

#include <pthread.h>
#include <sys/time.h>

namespace drey::test {
namespace {
using SignalStorm = SubjectTest;

std::atomic<unsigned long> signal_count{0};

void count_signal(int /*number*/) {
  // Relaxed: a count only.
  signal_count.fetch_add(1, std::memory_order_relaxed);
}

TEST_F(SignalStorm, ATimerAtOneKilohertzDisturbsNothing) {
  struct sigaction action = {};
  action.sa_handler = count_signal;
  action.sa_flags = SA_RESTART;
  struct sigaction old_action = {};
  ASSERT_EQ(sigaction(SIGALRM, &action, &old_action), 0);
  const itimerval period = {{0, 1000}, {0, 1000}};
  const itimerval off = {};
  ASSERT_EQ(setitimer(ITIMER_REAL, &period, nullptr), 0);
  const auto slots = std::make_unique<Slots<64>>();
  const std::uint64_t seed = test_seed(44);
  std::atomic<bool> intact{true};
  run_threads(4, [&](std::size_t thread) {
    Random random(seed + thread);
    for (std::size_t i = 0; i < scaled(40000); ++i) {
      Travelling* const made = make_travelling(draw_size(random, 14), random.next());
      // Relaxed: a verdict only, read after the join.
      if (!check_and_free(slots->exchange(random.below(64), made))) {
        intact.store(false, std::memory_order_relaxed);
      }
    }
  });
  setitimer(ITIMER_REAL, &off, nullptr);
  sigaction(SIGALRM, &old_action, nullptr);
  EXPECT_TRUE(slots->drain());
  EXPECT_TRUE(intact.load(std::memory_order_relaxed));
  EXPECT_GT(signal_count.load(std::memory_order_relaxed), 0U);
}

TEST_F(SignalStorm, SignalsAimedAtTheAllocatingThreadDisturbNothing) {
  struct sigaction action = {};
  action.sa_handler = count_signal;
  struct sigaction old_action = {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &old_action), 0);
  std::atomic<bool> done{false};
  bool intact = true;
  std::thread worker([&] {
    Random random(test_seed(45));
    for (std::size_t i = 0; i < scaled(100000); ++i) {
      intact = check_and_free(make_travelling(draw_size(random, 15), random.next())) && intact;
    }
    // Release: pairs with the acquire below.
    done.store(true, std::memory_order_release);
  });
  const pthread_t target = worker.native_handle();
  while (!done.load(std::memory_order_acquire)) {
    pthread_kill(target, SIGUSR1);
    std::this_thread::yield();
  }
  worker.join();
  sigaction(SIGUSR1, &old_action, nullptr);
  EXPECT_TRUE(intact);
}
}  // namespace
}  // namespace drey::test
