// heap_calls_test.cpp: after a round of warm-up no arena, pool, ring or batch calls the heap.
//
// Method: heap_wrap.hpp counts. The counts are golden: zero after warm-up, and the known number of
// chunks before.
// SPDX-License-Identifier: MIT
#include <drey/pools/arena.hpp>
#include <drey/pools/batch_buffers.hpp>
#include <drey/pools/frame_arena.hpp>
#include <drey/pools/object_pool.hpp>
#include <drey/pools/ring_buffer.hpp>
#include <drey/pools/shared_arena.hpp>
#include <drey/pools/spsc_ring.hpp>

#include "heap_wrap.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace drey {
namespace {
/// Heap calls during `act`.
template <typename Act>
[[nodiscard]] int heap_calls_of(Act act) {
  const int before = test::heap_calls();
  act();
  return test::heap_calls() - before;
}

/// Runs `step` once to warm up, then often. Returns: heap calls after the warm-up.
template <typename Step>
[[nodiscard]] int heap_calls_after_warm_up(int warm_up_steps, Step step) {
  for (int i = 0; i < warm_up_steps; ++i) step();
  return heap_calls_of([&] {
    for (int i = 0; i < 100; ++i) step();
  });
}

template <typename AnyArena>
void take_mixed(AnyArena& arena) {
  for (std::size_t i = 0; i < 500; ++i) {
    ASSERT_NE(arena.allocate(i % 50 == 0 ? 20'000 : 16 + i), nullptr);
    ASSERT_NE(arena.allocate(10, i % 100 == 0 ? 4096 : 64), nullptr);
  }
}

TEST(HeapCalls, AreCountedHere) {
  EXPECT_EQ(heap_calls_of([] {
              Arena arena;
              ASSERT_NE(arena.allocate(64), nullptr);
            }),
            2)
      << "a chunk and its end";
}

TEST(HeapCalls, OfAnArenaEndWithItsFirstRound) {
  Arena arena(4_KiB);
  EXPECT_EQ(heap_calls_after_warm_up(1,
                                     [&] {
                                       arena.reset();
                                       take_mixed(arena);
                                     }),
            0);
  EXPECT_EQ(heap_calls_after_warm_up(1,
                                     [&] {
                                       const ArenaScope scope(arena);
                                       take_mixed(arena);
                                     }),
            0);
}

TEST(HeapCalls, OfAnArenaAreOneAChunk) {
  // 64, 128, 256, 512 KiB, then 1 MiB each: 64-byte pieces for 8 MiB.
  Arena arena;
  const int calls = heap_calls_of([&] {
    for (std::size_t i = 0; i < 8_MiB / 64; ++i) ASSERT_NE(arena.allocate(64), nullptr);
  });
  EXPECT_EQ(calls, 12);
  EXPECT_EQ(arena.statistics().chunk_count, 12U);
}

TEST(HeapCalls, OfFramesEndWithTheSecond) {
  FrameArena arena(4_KiB);
  EXPECT_EQ(heap_calls_after_warm_up(2,
                                     [&] {
                                       arena.next_frame();
                                       take_mixed(arena);
                                     }),
            0);
}

TEST(HeapCalls, OfASharedArenaEndWithItsFirstRound) {
  SharedArena arena(16_KiB);
  EXPECT_EQ(heap_calls_after_warm_up(1,
                                     [&] {
                                       arena.reset();
                                       take_mixed(arena);
                                     }),
            0);
  EXPECT_EQ(heap_calls_after_warm_up(1,
                                     [&] {
                                       arena.reset();
                                       SharedArenaSlice slice(arena, 2_KiB);
                                       take_mixed(slice);
                                     }),
            0);
}

TEST(HeapCalls, OfAnObjectPoolEndAtItsPeak) {
  ObjectPool<std::uint64_t> pool(10'000, PoolGrowth::kGrowing);
  std::vector<std::uint64_t*> objects(5'000);
  EXPECT_EQ(heap_calls_after_warm_up(1,
                                     [&] {
                                       for (std::uint64_t*& object : objects)
                                         object = pool.construct(1U);
                                       for (std::uint64_t* const object : objects)
                                         pool.destroy(object);
                                     }),
            0);
}

TEST(HeapCalls, OfAFixedObjectPoolAreTwo) {
  EXPECT_EQ(heap_calls_of([] {
              ObjectPool<std::uint64_t> pool(10'000, PoolGrowth::kFixed, LeftoverObjects::kDestroy);
              for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_NE(pool.construct(i), nullptr);
            }),
            4)
      << "objects and links, each once and back";
}

TEST(HeapCalls, OfRingsAreNone) {
  EXPECT_EQ(heap_calls_of([] {
              RingBuffer<int, 100> ring;
              for (int i = 0; i < 1000; ++i) ring.push(i);
              SpscRing<int, 64> queue;
              for (int i = 0; i < 1000; ++i) static_cast<void>(queue.try_push(i));
            }),
            0);
}

TEST(HeapCalls, OfBatchesEndWithTheLargest) {
  BatchBuffers batch;
  EXPECT_EQ(heap_calls_of([&] { ASSERT_TRUE(batch.resize(128)); }), 1);
  EXPECT_EQ(heap_calls_after_warm_up(0,
                                     [&] {
                                       for (const std::size_t rows : {1, 64, 128})
                                         ASSERT_TRUE(batch.resize(rows));
                                     }),
            0);
}
}  // namespace
}  // namespace drey
