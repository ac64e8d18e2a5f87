// shortage_test.cpp: memory runs out at each call there is; what was there stays, and all goes on when
// there is memory again.
//
// Method: HeapShortage lets a number of calls go well and refuses the rest; the number is swept.
// SPDX-License-Identifier: MIT
#include <drey/pools/arena.hpp>
#include <drey/pools/batch_buffers.hpp>
#include <drey/pools/object_pool.hpp>
#include <drey/pools/shared_arena.hpp>

#include "heap_wrap.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace drey {
namespace {
using test::HeapShortage;

TEST(Shortage, LeavesAnArenaAsItWas) {
  for (int calls = 0; calls < 6; ++calls) {
    Arena arena(1_KiB);
    std::size_t taken = 0;
    {
      const HeapShortage shortage(calls);
      while (arena.allocate(400) != nullptr) ++taken;
      EXPECT_EQ(arena.statistics().chunk_count, static_cast<std::size_t>(calls));
      EXPECT_EQ(arena.statistics().refused_count, 1U);
      EXPECT_TRUE(arena.invariants_hold());
      const std::size_t used_bytes = arena.statistics().used_bytes;
      EXPECT_EQ(arena.allocate(1_MiB), nullptr);
      EXPECT_EQ(arena.statistics().used_bytes, used_bytes);
      arena.reset();
      for (std::size_t i = 0; i < taken; ++i) ASSERT_NE(arena.allocate(400), nullptr);
    }
    EXPECT_NE(arena.allocate(400), nullptr);
    EXPECT_TRUE(arena.invariants_hold());
  }
}

TEST(Shortage, MakesAnArenaAskForLess) {
  Arena arena(64_KiB);
  const HeapShortage shortage(0);
  const int before = test::heap_calls();
  EXPECT_EQ(arena.allocate(100), nullptr);
  EXPECT_EQ(test::heap_calls() - before, 2) << "a whole chunk, then what is needed";
}

TEST(Shortage, LeavesASharedArenaAsItWas) {
  for (int calls = 0; calls < 6; ++calls) {
    SharedArena arena(4_KiB);
    std::size_t taken = 0;
    {
      const HeapShortage shortage(calls);
      while (arena.allocate(100) != nullptr) ++taken;
      EXPECT_EQ(arena.allocate(1_MiB), nullptr);
      EXPECT_EQ(arena.statistics().chunk_count, static_cast<std::size_t>(calls));
      EXPECT_TRUE(arena.invariants_hold());
      arena.reset();
      for (std::size_t i = 0; i < taken; ++i) ASSERT_NE(arena.allocate(100), nullptr) << i;
    }
    EXPECT_NE(arena.allocate(100), nullptr);
    EXPECT_NE(arena.allocate(1_MiB), nullptr);
    EXPECT_TRUE(arena.invariants_hold());
  }
}

TEST(Shortage, GivesAFixedPoolNoCapacity) {
  for (int calls = 0; calls < 2; ++calls) {
    const HeapShortage shortage(calls);
    ObjectPool<std::uint64_t> pool(1000);
    EXPECT_EQ(pool.capacity(), 0U) << "with " << calls << " calls";
    EXPECT_EQ(pool.construct(1U), nullptr);
    EXPECT_TRUE(pool.invariants_hold());
  }
}

TEST(Shortage, ExhaustsAGrowingPoolUntilThereIsMemory) {
  for (int calls = 0; calls < 8; ++calls) {
    ObjectPool<std::uint64_t> pool(100'000, PoolGrowth::kGrowing, LeftoverObjects::kDestroy);
    std::vector<std::uint64_t*> objects;
    {
      const HeapShortage shortage(calls);
      while (std::uint64_t* const object = pool.construct(objects.size()))
        objects.push_back(object);
    }
    EXPECT_EQ(pool.statistics().exhausted_count, 1U);
    EXPECT_TRUE(pool.invariants_hold());
    for (std::size_t i = 0; i < objects.size(); ++i) ASSERT_EQ(*objects[i], i);
    EXPECT_LT(objects.size(), 100'000U);
    EXPECT_NE(pool.construct(1U), nullptr) << "after " << calls << " calls";
  }
}

TEST(Shortage, LeavesABatchAsItWas) {
  BatchBuffers batch;
  ASSERT_TRUE(batch.resize(10));
  batch.weights()[9] = 3.0F;
  {
    const HeapShortage shortage(0);
    EXPECT_FALSE(batch.resize(1000));
    EXPECT_EQ(batch.rows(), 10U);
    EXPECT_EQ(batch.weights()[9], 3.0F);
    EXPECT_TRUE(batch.resize(5)) << "no call is needed";
  }
  EXPECT_TRUE(batch.resize(1000));
}
}  // namespace
}  // namespace drey
