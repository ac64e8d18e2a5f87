// private_heap_fork_test.cpp: private heaps in the child of a fork: the forking thread's work on,
// one that another thread was changing gives null, and no block is lost to either process.
//
// Method: forks while other threads are inside their heaps; a hang is ended by the child's alarm.
// SPDX-License-Identifier: MIT
#include "core/private_heap.hpp"
#include "support/child_process.hpp"
#include "support/pattern.hpp"
#include "support/seed.hpp"

#include <drey/alloc/heap.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

namespace drey::core {
namespace {
using test::scaled;

/// Threads that use a private heap each, and free into the test's, until told to stop.
class Storm {
 public:
  explicit Storm(std::size_t thread_count) {
    for (std::size_t index = 0; index < thread_count; ++index) {
      heaps.push_back(drey_heap_create());
      threads_.emplace_back([this, index] { use_heap(heaps[index], 500 + index); });
    }
  }
  ~Storm() {
    stop_.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads_) thread.join();
    for (drey_heap_t* const heap : heaps) drey_heap_destroy(heap);
  }
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;

  std::vector<drey_heap_t*> heaps;

 private:
  void use_heap(drey_heap_t* heap, std::uint64_t seed) {
    test::Random random(seed);
    std::vector<void*> blocks(64);
    // Relaxed: the flag guards nothing but the loop.
    while (!stop_.load(std::memory_order_relaxed)) {
      void*& block = blocks[random.below(blocks.size())];
      drey_free(block);
      block = drey_heap_malloc(heap, 1 + random.below(std::size_t{1} << random.below(18)));
      if (random.below(1000) != 0) continue;
      drey_heap_free_all(heap);
      blocks.assign(blocks.size(), nullptr);
    }
  }

  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

/// What a child does with a heap that it may use. Returns: 0, or the step that failed.
int use_whole(drey_heap_t* heap, const std::vector<void*>& blocks) {
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    if (!drey_heap_owns(heap, blocks[index])) return 1;
    if (!test::check_pattern(blocks[index], 16 + index, index)) return 2;
    if (index % 2 == 0) drey_free(blocks[index]);
  }
  for (std::size_t size = 1; size < 300'000; size += size / 2 + 1) {
    if (drey_heap_malloc(heap, size) == nullptr) return 3;
  }
  drey_heap_free_all(heap);
  drey_heap_destroy(heap);
  return 0;
}

TEST(PrivateHeapFork, TheChildUsesTheForkingThreadsHeap) {
  Storm storm(2);
  for (std::size_t round = 0; round < scaled(40); ++round) {
    drey_heap_t* const heap = drey_heap_create();
    std::vector<void*> blocks(300);
    for (std::size_t index = 0; index < blocks.size(); ++index) {
      blocks[index] = drey_heap_malloc(heap, 16 + index);
      test::fill_pattern(blocks[index], 16 + index, index);
    }
    const test::ChildResult child = test::run_forked([&] { return use_whole(heap, blocks); }, 20);
    ASSERT_TRUE(child.succeeded()) << "fork " << round << ": " << child.summary();
    ASSERT_EQ(use_whole(heap, blocks), 0) << "the parent's is untouched";
  }
}

TEST(PrivateHeapFork, AHeapThatWasBeingChangedGivesNullInTheChildOrWorks) {
  Storm storm(2);
  for (std::size_t round = 0; round < scaled(40); ++round) {
    const test::ChildResult child = test::run_forked(
        [&] {
          for (drey_heap_t* const heap : storm.heaps) {
            for (int count = 0; count < 100; ++count) {
              errno = 0;
              void* const block = drey_heap_malloc(heap, 10 + 97 * count);
              if (block == nullptr && errno != ENOMEM) return 1;
              if (block != nullptr) std::memset(block, 1, 10 + 97 * count);
            }
            drey_heap_t* const fresh = drey_heap_create();
            if (drey_heap_malloc(fresh, 100) == nullptr) return 2;
            drey_heap_destroy(fresh);
          }
          return 0;
        },
        20);
    ASSERT_TRUE(child.succeeded()) << "fork " << round << ": " << child.summary();
  }
}
}  // namespace
}  // namespace drey::core
