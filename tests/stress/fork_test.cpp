// fork_test.cpp: a threaded program forks while its other threads are inside the allocator.
// The child has one thread and all of the memory; it must be able to allocate, to check and free
// the parent's blocks (also those of threads that do not exist there), and to start threads.
// A hang is ended by the child's alarm and reported as such.
// Read next: signal_test.cpp.
// SPDX-License-Identifier: MIT
#include "stress/stress.hpp"
#include "support/child_process.hpp"
#include "support/subject.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace drey::test {
namespace {
using Fork = SubjectTest;

/// Threads that allocate, free and exchange until told to stop.
class Storm {
 public:
  Storm(std::size_t thread_count, unsigned bits_max) {
    const std::uint64_t seed = test_seed(46);
    for (std::size_t i = 0; i < thread_count; ++i) {
      threads_.emplace_back([this, seed, i, bits_max] {
        Random random(seed + i);
        // Relaxed: the flag guards nothing but the loop.
        while (!stop_.load(std::memory_order_relaxed)) {
          Travelling* const made = make_travelling(draw_size(random, bits_max), random.next());
          check_and_free(slots_.exchange(random.below(kSlots), made));
        }
      });
    }
  }
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;
  ~Storm() {
    stop_.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads_) thread.join();
    slots_.drain();
  }

  /// In the child: frees what the vanished threads had left. Returns: whether it was intact.
  bool drain() { return slots_.drain(); }

 private:
  static constexpr std::size_t kSlots = 200;
  Slots<kSlots> slots_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

/// What a child does; its result is its exit status.
int child_work(Storm& storm, std::vector<Travelling*>& blocks_of_parent) {
  for (std::uint64_t k = 0; k < 500; ++k) {
    if (!check_and_free(make_travelling(1 + (k * 97) % 70000, k))) return 1;
  }
  for (Travelling*& block : blocks_of_parent) {
    if (!check_and_free(block)) return 2;
    block = nullptr;
  }
  return storm.drain() ? 0 : 3;
}

TEST_F(Fork, TheChildAllocatesAndFreesTheParentsBlocks) {
  Storm storm(2, 14);
  for (std::size_t i = 0; i < scaled(200); ++i) {
    std::vector<Travelling*> blocks;
    for (std::uint64_t k = 0; k < 50; ++k) blocks.push_back(make_travelling(1 + k * 1000, k));
    const ChildResult child = run_forked([&] { return child_work(storm, blocks); }, 20);
    ASSERT_TRUE(child.succeeded()) << "fork " << i << ": " << child.summary();
    for (Travelling* block : blocks) ASSERT_TRUE(check_and_free(block));
  }
}

TEST_F(Fork, TheChildMayStartThreadsAndForkAgain) {
  Storm storm(2, 12);
  for (std::size_t i = 0; i < scaled(20); ++i) {
    const ChildResult child = run_forked(
        [&] {
          Storm inner(2, 12);
          std::vector<Travelling*> blocks = {make_travelling(5000, 1)};
          const ChildResult grandchild = run_forked([&] { return child_work(inner, blocks); }, 20);
          const bool intact = check_and_free(blocks[0]);
          return grandchild.succeeded() && intact ? 0 : 1;
        },
        30);
    ASSERT_TRUE(child.succeeded()) << "fork " << i << ": " << child.summary();
  }
}

TEST_F(Fork, TheChildOfAThreadOtherThanMainWorks) {
  Storm storm(2, 12);
  for (std::size_t i = 0; i < scaled(30); ++i) {
    ChildResult child;
    std::thread([&] {
      std::vector<Travelling*> blocks = {make_travelling(300, 1), make_travelling(300000, 2)};
      child = run_forked([&] { return child_work(storm, blocks); }, 20);
      for (Travelling* block : blocks) check_and_free(block);
    }).join();
    ASSERT_TRUE(child.succeeded()) << child.summary();
  }
}

TEST_F(Fork, TheChildExitsThroughItsExitHandlers) {
  Storm storm(3, 12);
  for (std::size_t i = 0; i < scaled(20); ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      check_and_free(make_travelling(1000, 1));
      std::_Exit(check_and_free(make_travelling(100000, 2)) ? 9 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 9) << status;
  }
}

TEST_F(Fork, ManyGenerationsOfChildrenWork) {
  // Each child forks the next; the last one's status comes back through all of them.
  std::vector<Travelling*> blocks;
  const auto generation = [&blocks](auto&& self, int left) -> int {
    if (left == 0) return 0;
    for (std::uint64_t k = 0; k < 100; ++k) blocks.push_back(make_travelling(1 + k * 31, k));
    const ChildResult child = run_forked([&] { return self(self, left - 1); }, 40);
    bool intact = child.succeeded();
    for (Travelling* block : blocks) intact = check_and_free(block) && intact;
    return intact ? 0 : 1;
  };
  EXPECT_EQ(generation(generation, 20), 0);
}
}  // namespace
}  // namespace drey::test
