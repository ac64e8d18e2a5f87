// batch_shortage_test.cpp: a batch for which memory runs out half way gives what there is.
// Method: a child forbids itself any more address space, then asks for more than a segment has.
// SPDX-License-Identifier: MIT
#include "support/child_process.hpp"

#include <drey/alloc/heap.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <vector>

#include <sys/resource.h>

namespace drey::test {
namespace {
constexpr std::size_t kCount = 200'000;

/// What `take` does at the end of memory. Returns: 0, or the step that failed.
template <typename Take>
int take_too_much(std::vector<void*>& blocks, Take take) {
  drey_free(drey_malloc(1));  // the first segment
  const rlimit limit = {1, 1};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
  errno = 0;
  const std::size_t taken = take(kCount);
  if (taken == 0 || taken >= kCount || errno != ENOMEM) return 2;
  for (std::size_t index = 0; index < kCount; ++index) {
    if ((blocks[index] != &blocks) != (index < taken)) return 3;
  }
  // Memory is scarce now: what was taken is given back, and can be had again.
  drey_free_batch(blocks.data(), taken);
  return take(taken / 2) == taken / 2 ? 0 : 4;
}

TEST(BatchShortage, GivesWhatThereIsAndLeavesTheRestOfTheArrayAlone) {
  std::vector<void*> blocks(kCount, &blocks);
  const ChildResult child = run_forked([&] {
    return take_too_much(
        blocks, [&](std::size_t count) { return drey_malloc_batch(1024, blocks.data(), count); });
  });
  EXPECT_TRUE(child.succeeded()) << child.summary();
}

TEST(BatchShortage, OfAPrivateHeapDoesTheSame) {
  std::vector<void*> blocks(kCount, &blocks);
  const ChildResult child = run_forked([&] {
    drey_heap_t* const heap = drey_heap_create();
    return take_too_much(blocks, [&](std::size_t count) {
      return drey_heap_malloc_batch(heap, 1024, blocks.data(), count);
    });
  });
  EXPECT_TRUE(child.succeeded()) << child.summary();
}
}  // namespace
}  // namespace drey::test
