// thread_exit_test.cpp: allocation while a thread, or the process, is coming to its end.
// POSIX runs destructors of thread-specific data in an unspecified order, several rounds; C++ runs
// thread_local destructors at another time. Some come after the allocator has cleaned up for this
// thread, and all of them may allocate and free.
// Read next: fork_test.cpp.
// SPDX-License-Identifier: MIT
#include "stress/stress.hpp"
#include "support/child_process.hpp"
#include "support/process_memory.hpp"
#include "support/subject.hpp"

#include <climits>
#include <cstdlib>

#include <pthread.h>
#include <unistd.h>

namespace drey::test {
namespace {
using ThreadExit = SubjectTest;
using ProcessExit = SubjectTest;
using Cancellation = SubjectTest;

std::atomic<int> destructor_runs{0};
std::atomic<bool> late_blocks_intact{true};
pthread_key_t key;

/// Frees the value, allocates a new one, and asks to be called again in the next round.
void destroy_late(void* value) {
  auto* const block = static_cast<Travelling*>(value);
  const std::uint64_t rounds_left = block->tag;
  // Relaxed: verdicts only, read after the join.
  if (!check_and_free(block)) late_blocks_intact.store(false, std::memory_order_relaxed);
  destructor_runs.fetch_add(1, std::memory_order_relaxed);
  check_and_free(make_travelling(50000, 1));
  if (rounds_left > 1) pthread_setspecific(key, make_travelling(700, rounds_left - 1));
}

TEST_F(ThreadExit, DestructorsOfThreadDataMayAllocateAndFreeInEveryRound) {
  ASSERT_EQ(pthread_key_create(&key, destroy_late), 0);
  destructor_runs.store(0, std::memory_order_relaxed);
  const int thread_count = static_cast<int>(scaled(500));
  for (int i = 0; i < thread_count; ++i) {
    std::thread([] {
      pthread_setspecific(key, make_travelling(700, PTHREAD_DESTRUCTOR_ITERATIONS));
    }).join();
  }
  pthread_key_delete(key);
  EXPECT_EQ(destructor_runs.load(std::memory_order_relaxed),
            thread_count * PTHREAD_DESTRUCTOR_ITERATIONS);
  EXPECT_TRUE(late_blocks_intact.load(std::memory_order_relaxed));
}

TEST_F(ThreadExit, ManyKeysWhoseDestructorsAllocateDoNotLeak) {
  const auto one_thread = [] {
    std::thread([] {
      pthread_setspecific(key, make_travelling(100000, PTHREAD_DESTRUCTOR_ITERATIONS));
    }).join();
  };
  ASSERT_EQ(pthread_key_create(&key, destroy_late), 0);
  for (int i = 0; i < 100; ++i) one_thread();
  const long before = resident_bytes();
  for (std::size_t i = 0; i < scaled(2000); ++i) one_thread();
  EXPECT_LT(resident_bytes() - before, long{8} << 20);
  pthread_key_delete(key);
}

/// A thread_local that holds a block to the end.
struct LateOwner {
  Travelling* block = make_travelling(3000, 5);
  LateOwner() = default;
  LateOwner(const LateOwner&) = delete;
  LateOwner& operator=(const LateOwner&) = delete;
  ~LateOwner() {
    // Relaxed: verdicts only, read after the join.
    if (!check_and_free(block)) late_blocks_intact.store(false, std::memory_order_relaxed);
    for (std::size_t i = 0; i < 20; ++i) check_and_free(make_travelling(100 * (i + 1), i));
    destructor_runs.fetch_add(1, std::memory_order_relaxed);
  }
};

TEST_F(ThreadExit, DestructorsOfThreadLocalsMayAllocateAndFree) {
  destructor_runs.store(0, std::memory_order_relaxed);
  const int thread_count = static_cast<int>(scaled(500));
  for (int i = 0; i < thread_count; ++i) {
    std::thread([] {
      thread_local LateOwner owner;
      // The first use makes it.
      escape(&owner);
    }).join();
  }
  EXPECT_EQ(destructor_runs.load(std::memory_order_relaxed), thread_count);
  EXPECT_TRUE(late_blocks_intact.load(std::memory_order_relaxed));
}

/// Starts threads that allocate for ever.
void start_endless_threads(int count) {
  for (int i = 0; i < count; ++i) {
    std::thread([i] {
      Random random(static_cast<std::uint64_t>(i));
      for (;;) check_and_free(make_travelling(draw_size(random, 17), random.next()));
    }).detach();
  }
}

TEST_F(ProcessExit, WorksWhileOtherThreadsAllocate) {
  for (std::size_t i = 0; i < scaled(30); ++i) {
    const ChildResult child = run_forked(
        []() -> int {
          start_endless_threads(4);
          for (std::uint64_t k = 0; k < 2000; ++k) check_and_free(make_travelling(1 + k, k));
          std::exit(23);
        },
        30);
    ASSERT_EQ(child.exit_status, 23) << child.summary();
  }
}

TEST_F(ProcessExit, FromAnotherThanTheMainThreadWorks) {
  for (std::size_t i = 0; i < scaled(10); ++i) {
    const ChildResult child = run_forked(
        []() -> int {
          start_endless_threads(2);
          std::thread([] { std::exit(24); }).detach();
          for (;;) check_and_free(make_travelling(100, 1));
        },
        30);
    ASSERT_EQ(child.exit_status, 24) << child.summary();
  }
}

std::atomic<bool> reached_the_end{false};

void* allocate_with_a_pending_cancel(void* /*unused*/) {
  pthread_cancel(pthread_self());
  for (std::size_t i = 0; i < scaled(100000); ++i) {
    const std::size_t bytes = i % 1000 == 0 ? 3000000 : 16 + (i * 37) % 70000;
    void* const block = heap::take(bytes);
    *static_cast<volatile char*>(block) = 1;
    heap::give_back(block);
  }
  // Relaxed: read after the join.
  reached_the_end.store(true, std::memory_order_relaxed);
  pthread_testcancel();
  return nullptr;
}

TEST_F(Cancellation, IsNotActedUponInsideTheAllocator) {
  // malloc and free are no cancellation points (POSIX XSH 2.9.5.2), even on their first use.
  reached_the_end.store(false, std::memory_order_relaxed);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, allocate_with_a_pending_cancel, nullptr), 0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_TRUE(reached_the_end.load(std::memory_order_relaxed));
  EXPECT_EQ(result, PTHREAD_CANCELED);
}
}  // namespace
}  // namespace drey::test
