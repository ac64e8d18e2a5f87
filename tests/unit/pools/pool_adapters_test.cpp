// pool_adapters_test.cpp: standard containers in arenas and pools, by std::pmr and by allocator.
// SPDX-License-Identifier: MIT
#include <drey/pools/arena_resource.hpp>
#include <drey/pools/pool_resource.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace drey {
namespace {
TEST(ArenaResource, CarriesStandardContainers) {
  Arena arena;
  ArenaResource resource(arena);
  const auto text = [](int i) { return std::string(100, static_cast<char>('a' + i % 26)); };
  std::pmr::map<int, std::pmr::string> words(&resource);
  for (int i = 0; i < 1000; ++i) words.emplace(i, text(i));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(std::string(words.at(i)), text(i));
  EXPECT_TRUE(arena.owns(&words.at(500)) && arena.owns(words.at(500).data()));
}

TEST(ArenaResource, ThrowsWhereTheArenaGivesNull) {
  Arena arena(1_KiB, 4_KiB);
  ArenaResource resource(arena);
  EXPECT_THROW(static_cast<void>(resource.allocate(1_MiB)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(resource.allocate(SIZE_MAX / 2)), std::bad_alloc);
  EXPECT_NO_THROW(static_cast<void>(resource.allocate(64, 64)));
}

TEST(ArenaResource, IsEqualToThoseOfTheSameArena) {
  Arena arena;
  Arena other;
  const ArenaResource resource(arena);
  EXPECT_EQ(resource, ArenaResource(arena));
  EXPECT_NE(resource, ArenaResource(other));
  EXPECT_NE(static_cast<const std::pmr::memory_resource&>(resource),
            *std::pmr::new_delete_resource());
}

TEST(FrameArenaResource, KeepsAContainerThroughTheNextFrame) {
  FrameArena arena;
  FrameArenaResource resource(arena);
  const std::pmr::vector<int> values(1000, 7, &resource);
  arena.next_frame();
  const std::pmr::vector<int> others(1000, 8, &resource);
  EXPECT_EQ(std::count(values.begin(), values.end(), 7), 1000);
  EXPECT_TRUE(arena.owns(values.data()) && arena.owns(others.data()));
}

TEST(SharedArenaResource, ServesThreadsAtOnce) {
  SharedArena arena(64_KiB);
  SharedArenaResource resource(arena);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&resource, thread] {
      std::pmr::list<int> numbers(&resource);
      for (int i = 0; i < 5000; ++i) numbers.push_back(thread);
      for (const int number : numbers) ASSERT_EQ(number, thread);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ArenaAllocator, CarriesStandardContainers) {
  Arena arena;
  std::vector<float, ArenaAllocator<float>> values(arena);
  for (int i = 0; i < 10'000; ++i) values.push_back(static_cast<float>(i));
  EXPECT_EQ(values[9'999], 9'999.0F);
  EXPECT_TRUE(arena.owns(values.data()));
  using Pair = std::pair<const int, int>;
  std::map<int, int, std::less<>, ArenaAllocator<Pair>> map{ArenaAllocator<Pair>(arena)};
  map[1] = 2;
  EXPECT_TRUE(arena.owns(&map[1])) << "nodes of a type of the container's own, too";
  EXPECT_TRUE(ArenaAllocator<int>(arena) == ArenaAllocator<char>(arena));
  EXPECT_THROW(static_cast<void>(ArenaAllocator<double>(arena).allocate(SIZE_MAX / 4)),
               std::bad_array_new_length);
}

TEST(FrameArenaAllocator, TakesFromTheFrameThatIs) {
  FrameArena arena;
  std::vector<int, FrameArenaAllocator<int>> values(100, 1, arena);
  arena.next_frame();
  values.push_back(2);  // moves to this frame
  arena.next_frame();
  EXPECT_TRUE(arena.owns(values.data()));
  EXPECT_EQ(values[100], 2);
}

TEST(PoolResource, ServesNodesFromThePoolAndTheRestFromTheHeap) {
  BlockPool pool(64, 16, 100);
  PoolResource resource(pool);
  {
    std::pmr::list<std::uint64_t> numbers(&resource);
    for (std::uint64_t i = 0; i < 100; ++i) numbers.push_back(i);
    EXPECT_EQ(pool.taken(), 100U);
    void* const another = resource.allocate(64);
    EXPECT_FALSE(pool.owns(another)) << "the pool is exhausted: one of the heap's";
    resource.deallocate(another, 64);
    for (std::uint64_t i = 0; i < 50; ++i) numbers.push_back(i);
    numbers.resize(20);
    EXPECT_EQ(pool.taken(), 20U);
    void* const wide = resource.allocate(65);
    void* const aligned = resource.allocate(32, 64);
    EXPECT_FALSE(pool.owns(wide) || pool.owns(aligned));
    EXPECT_TRUE(is_aligned(aligned, 64));
    resource.deallocate(wide, 65);
    resource.deallocate(aligned, 32, 64);
  }
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(PoolResource, IsEqualToThoseOfTheSamePool) {
  BlockPool pool(64, 16, 1);
  BlockPool other(64, 16, 1);
  EXPECT_EQ(PoolResource(pool), PoolResource(pool));
  EXPECT_NE(PoolResource(pool), PoolResource(other));
}

TEST(PoolAllocator, CarriesMapsAndSharedObjects) {
  BlockPool pool(128, 16, 10'000, PoolGrowth::kGrowing);
  {
    using Pair = std::pair<const int, int>;
    std::map<int, int, std::less<>, PoolAllocator<Pair>> map{PoolAllocator<Pair>(pool)};
    for (int i = 0; i < 5000; ++i) map[i] = i;
    EXPECT_EQ(pool.taken(), 5000U);
    const std::shared_ptr<int> shared = std::allocate_shared<int>(PoolAllocator<int>(pool), 7);
    EXPECT_TRUE(pool.taken() == 5001 && *shared == 7);
    std::vector<int, PoolAllocator<int>> values(1000, 1, pool);
    EXPECT_FALSE(pool.owns(values.data()));
  }
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_THROW(static_cast<void>(PoolAllocator<double>(pool).allocate(SIZE_MAX / 4)),
               std::bad_array_new_length);
}
}  // namespace
}  // namespace drey
