// private_heap_test.cpp: heaps of the program's own: what is taken from one is freed as a whole.
//
// Method: the C functions on the real operating system; after each step that says so, the whole
// core is walked (check.hpp). Threads and forks: private_heap_threads_test.cpp.
// SPDX-License-Identifier: MIT
#include "core/private_heap.hpp"
#include "core/check.hpp"
#include "core/thread_heap.hpp"
#include "support/pattern.hpp"
#include "support/seed.hpp"

#include <drey/alloc/heap.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace drey::core {
namespace {
using test::aligned_to;
using test::check_sparse;
using test::fill_sparse;

constexpr std::size_t kKinds[] = {1,      16,     100,    900,       1024,      1025,      4096,
                                  40'000, 65'536, 65'537, 1'000'000, 1'500'000, 40'000'000};

void expect_sound() {
  const CoreReport report = check_core();
  EXPECT_EQ(report.broken, nullptr) << report.broken << " at " << report.where;
  EXPECT_TRUE(heaps_are_consistent(true));
}

drey_heap_stats_t stats_of(drey_heap_t* heap) {
  drey_heap_stats_t stats;
  drey_heap_stats_read(heap, &stats);
  return stats;
}

class PrivateHeapTest : public testing::Test {
 protected:
  PrivateHeapTest() : heap(drey_heap_create()) {}
  ~PrivateHeapTest() override {
    drey_heap_destroy(heap);
    expect_sound();
  }

  drey_heap_t* heap;
};

TEST_F(PrivateHeapTest, GivesBlocksOfEveryKindThatItOwns) {
  for (const std::size_t size : kKinds) {
    void* const block = drey_heap_malloc(heap, size);
    ASSERT_NE(block, nullptr) << size;
    EXPECT_GE(drey_usable_size(block), size);
    EXPECT_TRUE(aligned_to(block, 16)) << size;
    EXPECT_TRUE(drey_heap_owns(heap, block)) << size;
    EXPECT_TRUE(drey_owns(block)) << size;
    fill_sparse(block, size, size);
  }
  expect_sound();
}

TEST_F(PrivateHeapTest, OwnsNoBlockOfAnother) {
  drey_heap_t* const other = drey_heap_create();
  for (const std::size_t size : kKinds) {
    void* const outside = drey_malloc(size);
    void* const elsewhere = drey_heap_malloc(other, size);
    void* const inside = drey_heap_malloc(heap, size);
    EXPECT_FALSE(drey_heap_owns(heap, outside)) << size;
    EXPECT_FALSE(drey_heap_owns(heap, elsewhere)) << size;
    EXPECT_FALSE(drey_heap_owns(heap, static_cast<char*>(inside) + 1)) << size;
    drey_free(outside);
  }
  EXPECT_FALSE(drey_heap_owns(heap, nullptr));
  EXPECT_FALSE(drey_heap_owns(heap, &heap));
  drey_heap_destroy(other);
}

TEST_F(PrivateHeapTest, FreesEverythingAtOnceAndNothingElse) {
  std::vector<void*> outside;
  for (const std::size_t size : kKinds) {
    outside.push_back(drey_malloc(size));
    fill_sparse(outside.back(), size, size);
    for (int count = 0; count < (size < 2'000'000 ? 20 : 2); ++count) {
      void* const block = drey_heap_malloc(heap, size);
      ASSERT_NE(block, nullptr);
      fill_sparse(block, size, size + 1);
    }
  }
  drey_heap_free_all(heap);
  const drey_heap_stats_t stats = stats_of(heap);
  EXPECT_EQ(stats.live_blocks, 0u);
  EXPECT_EQ(stats.large_count, 0u);
  EXPECT_EQ(stats.slab_bytes, stats.slab_count * 64 * 1024) << "only small slabs are kept";
  expect_sound();
  std::size_t index = 0;
  for (const std::size_t size : kKinds) {
    EXPECT_TRUE(check_sparse(outside[index], size, size)) << size;
    drey_free(outside[index++]);
  }
}

TEST_F(PrivateHeapTest, GivesTheSameMemoryAgainAfterFreeAll) {
  std::set<void*> first;
  for (int count = 0; count < 60; ++count) first.insert(drey_heap_malloc(heap, 900));
  drey_heap_free_all(heap);
  for (int count = 0; count < 60; ++count) {
    EXPECT_EQ(first.count(drey_heap_malloc(heap, 900)), 1u) << count;
  }
}

TEST_F(PrivateHeapTest, DestroyGivesEveryByteBackToTheProcess) {
  const CoreReport before = check_core();
  drey_heap_t* const other = drey_heap_create();
  for (const std::size_t size : kKinds) {
    for (int count = 0; count < 300 && size < 2'000'000; ++count) {
      ASSERT_NE(drey_heap_malloc(other, size), nullptr);
    }
  }
  EXPECT_GT(check_core().slab_bytes, before.slab_bytes);
  drey_heap_destroy(other);
  const CoreReport after = check_core();
  EXPECT_EQ(after.slab_bytes, before.slab_bytes);
  EXPECT_EQ(after.large_bytes, before.large_bytes);
}

TEST_F(PrivateHeapTest, IsMadeOfADestroyedHeapsMemory) {
  drey_heap_t* const other = drey_heap_create();
  const std::size_t heaps = count_heaps().heaps;
  for (int round = 0; round < 1000; ++round) {
    drey_heap_t* const heap_of_round = drey_heap_create();
    ASSERT_NE(drey_heap_malloc(heap_of_round, 64), nullptr);
    drey_heap_destroy(heap_of_round);
  }
  EXPECT_LE(count_heaps().heaps, heaps + 1);
  drey_heap_destroy(other);
}

TEST_F(PrivateHeapTest, TakesSingleBlocksBackEitherWay) {
  for (const std::size_t size : kKinds) {
    for (int round = 0; round < 200 && size < 2'000'000; ++round) {
      void* const first = drey_heap_malloc(heap, size);
      void* const second = drey_heap_malloc(heap, size);
      drey_heap_free(heap, first);
      drey_free(second);
    }
  }
  EXPECT_EQ(stats_of(heap).live_blocks, 0u);
  expect_sound();
  drey_heap_collect(heap);
  EXPECT_EQ(stats_of(heap).slab_count, 0u);
}

TEST_F(PrivateHeapTest, HeapFreeTakesNullAndBlocksOfOthers) {
  drey_heap_free(heap, nullptr);
  for (const std::size_t size : kKinds) drey_heap_free(heap, drey_malloc(size));
  drey_heap_t* const other = drey_heap_create();
  for (const std::size_t size : kKinds) drey_heap_free(heap, drey_heap_malloc(other, size));
  EXPECT_EQ(stats_of(other).live_blocks, 0u);
  drey_heap_destroy(other);
}

TEST_F(PrivateHeapTest, CallocIsZeroAlsoWhereMemoryWasUsedBefore) {
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t size : kKinds) {
      auto* const block = static_cast<unsigned char*>(drey_heap_calloc(heap, 1, size));
      ASSERT_NE(block, nullptr);
      for (std::size_t byte = 0; byte < size; ++byte) ASSERT_EQ(block[byte], 0) << size;
      std::fill_n(block, size, static_cast<unsigned char>(0xa5));
    }
    drey_heap_free_all(heap);
  }
}

TEST_F(PrivateHeapTest, AlignsToAnyPowerOfTwo) {
  for (std::size_t alignment = 1; alignment <= std::size_t{64} << 20; alignment *= 4) {
    for (const std::size_t size : {0u, 1u, 100u, 5000u, 100'000u}) {
      void* const block = drey_heap_aligned_alloc(heap, alignment, size);
      ASSERT_NE(block, nullptr) << alignment;
      EXPECT_TRUE(aligned_to(block, alignment)) << alignment << " " << size;
      EXPECT_TRUE(drey_heap_owns(heap, block));
    }
  }
  errno = 0;
  EXPECT_EQ(drey_heap_aligned_alloc(heap, 24, 8), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(PrivateHeapTest, ReallocStaysInTheHeapAndKeepsContents) {
  for (const std::size_t from : kKinds) {
    for (const std::size_t to : kKinds) {
      void* block = drey_heap_malloc(heap, from);
      fill_sparse(block, from, from);
      block = drey_heap_realloc(heap, block, to);
      ASSERT_NE(block, nullptr);
      EXPECT_TRUE(drey_heap_owns(heap, block)) << from << " to " << to;
      const std::size_t kept = from < to ? from : to;
      const auto* const bytes = static_cast<const unsigned char*>(block);
      for (std::size_t i = 0; i < kept; i += 4096) ASSERT_EQ(bytes[i], test::pattern_byte(i, from));
      EXPECT_EQ(drey_heap_realloc(heap, block, 0), nullptr);
    }
  }
  EXPECT_EQ(stats_of(heap).live_blocks, 0u);
  void* const made = drey_heap_realloc(heap, nullptr, 10);
  EXPECT_TRUE(drey_heap_owns(heap, made));
}

TEST_F(PrivateHeapTest, FailsWithNullAndEnomemWhereTheSizeIsBeyondAll) {
  void* const block = drey_heap_malloc(heap, 10);
  for (const std::size_t size : {SIZE_MAX, std::size_t{PTRDIFF_MAX}}) {
    errno = 0;
    EXPECT_EQ(drey_heap_malloc(heap, size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(drey_heap_calloc(heap, size / 2, 3), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(drey_heap_aligned_alloc(heap, 64, size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(drey_heap_realloc(heap, block, size), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_TRUE(drey_heap_owns(heap, block));
}

TEST_F(PrivateHeapTest, TakesNoSlabOfADeadThread) {
  // A thread leaves a slab with room and one live block; the heap must not take it over.
  void* left = nullptr;
  std::thread([&left] {
    left = drey_malloc(300);
    drey_free(drey_malloc(300));
  }).join();
  ASSERT_NE(drey_heap_malloc(heap, 300), nullptr);
  drey_heap_free_all(heap);
  EXPECT_FALSE(drey_heap_owns(heap, left));
  expect_sound();
  drey_free(left);
}

struct Visits {
  std::set<void*> blocks;
  std::size_t bytes = 0;
  std::size_t limit = SIZE_MAX;
};

bool visit(void* block, std::size_t usable_size, void* context) {
  Visits& visits = *static_cast<Visits*>(context);
  EXPECT_TRUE(visits.blocks.insert(block).second) << "visited twice";
  EXPECT_EQ(usable_size, drey_usable_size(block));
  visits.bytes += usable_size;
  return visits.blocks.size() < visits.limit;
}

TEST_F(PrivateHeapTest, WalkVisitsEveryLiveBlockOnce) {
  test::Random random(test::test_seed(31));
  std::set<void*> live;
  for (int step = 0; step < 5000; ++step) {
    void* const block =
        drey_heap_malloc(heap, 1 + random.below(std::size_t{1} << random.below(21)));
    ASSERT_NE(block, nullptr);
    if (random.below(2) == 0) {
      live.insert(block);
    } else if (random.below(2) == 0) {
      drey_free(block);
    } else {
      drey_heap_free(heap, block);
    }
  }
  Visits visits;
  EXPECT_TRUE(drey_heap_walk(heap, visit, &visits));
  EXPECT_EQ(visits.blocks, live);
  const drey_heap_stats_t stats = stats_of(heap);
  EXPECT_EQ(stats.live_blocks, live.size());
  EXPECT_EQ(stats.live_bytes, visits.bytes);

  Visits few;
  few.limit = 3;
  EXPECT_FALSE(drey_heap_walk(heap, visit, &few));
  EXPECT_EQ(few.blocks.size(), 3u);
}

TEST_F(PrivateHeapTest, RandomCallsKeepEveryInvariant) {
  test::Random random(test::test_seed(32));
  struct Live {
    void* block;
    std::size_t size;
  };
  std::vector<Live> live;
  for (std::size_t step = 0; step < test::scaled(60'000); ++step) {
    const std::size_t choice = random.below(100);
    if (choice < 55 || live.empty()) {
      const bool large = random.below(50) == 0;
      const std::size_t size =
          large ? 1'500'000 : 1 + random.below(std::size_t{1} << random.below(19));
      void* const block = drey_heap_malloc(heap, size);
      ASSERT_NE(block, nullptr);
      fill_sparse(block, size, size);
      live.push_back({block, size});
    } else if (choice < 99 || live.size() < 2000) {
      const std::size_t index = random.below(live.size());
      ASSERT_TRUE(check_sparse(live[index].block, live[index].size, live[index].size));
      if (choice % 2 == 0) {
        drey_free(live[index].block);
      } else {
        drey_heap_free(heap, live[index].block);
      }
      live[index] = live.back();
      live.pop_back();
    } else {
      drey_heap_free_all(heap);
      live.clear();
    }
    if (step % 10'000 == 0) expect_sound();
  }
}

TEST(PrivateHeapMisuse, ADestroyedHeapIsReported) {
  drey_heap_t* const heap = drey_heap_create();
  drey_heap_destroy(heap);
  EXPECT_DEATH(static_cast<void>(drey_heap_malloc(heap, 10)), "drey: use of a destroyed heap: 0x");
  EXPECT_DEATH(drey_heap_destroy(heap), "drey: use of a destroyed heap: 0x");
  EXPECT_DEATH(drey_heap_free_all(heap), "drey: use of a destroyed heap: 0x");
}

TEST(PrivateHeapMisuse, FreeOfABlockOfADestroyedHeapIsReported) {
  drey_heap_t* const heap = drey_heap_create();
  void* const small = drey_heap_malloc(heap, 100);
  void* const large = drey_heap_malloc(heap, 100'000);
  drey_heap_destroy(heap);
  EXPECT_DEATH(drey_free(small), "drey: invalid free: 0x");
  EXPECT_DEATH(drey_free(large), "drey: invalid free: 0x");
}
}  // namespace
}  // namespace drey::core
