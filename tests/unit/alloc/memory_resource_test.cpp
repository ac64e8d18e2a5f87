// memory_resource_test.cpp: drey's resources are std::pmr::memory_resources by the standard, over
// the process's heap and over heaps of the program's own; and drey::Heap itself.
// SPDX-License-Identifier: MIT
#include <drey/alloc/memory_resource.hpp>

#include "support/pattern.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace drey {
namespace {
TEST(MemoryResource, OfTheProcessGivesDreysBlocksInAnyThread) {
  std::pmr::memory_resource* const resource = memory_resource();
  EXPECT_EQ(resource, memory_resource());
  void* const block = resource->allocate(100, 64);
  EXPECT_TRUE(drey_owns(block) && test::aligned_to(block, 64));
  std::thread([&] { resource->deallocate(block, 100, 64); }).join();
  std::pmr::vector<std::pmr::string> words(100, std::pmr::string(200, 'w'), resource);
  EXPECT_TRUE(drey_owns(words.data()) && drey_owns(words[99].data()));
  EXPECT_EQ(words[0].get_allocator().resource(), resource);
}

TEST(MemoryResource, GivesAUniqueBlockForZeroBytes) {
  void* const first = memory_resource()->allocate(0);
  void* const second = memory_resource()->allocate(0);
  EXPECT_NE(first, second);
  memory_resource()->deallocate(first, 0);
  memory_resource()->deallocate(second, 0);
}

TEST(MemoryResource, AlignsAsAsked) {
  Heap heap;
  HeapResource of_heap(heap);
  for (std::pmr::memory_resource* const resource :
       {memory_resource(), static_cast<std::pmr::memory_resource*>(&of_heap)}) {
    for (std::size_t alignment = 1; alignment <= 1 << 20; alignment *= 2) {
      void* const block = resource->allocate(24, alignment);
      EXPECT_TRUE(test::aligned_to(block, alignment)) << alignment;
      resource->deallocate(block, 24, alignment);
    }
  }
}

TEST(MemoryResource, ThrowsWhereThereIsNoMemory) {
  Heap heap;
  HeapResource of_heap(heap);
  EXPECT_THROW(static_cast<void>(memory_resource()->allocate(SIZE_MAX / 2)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(memory_resource()->allocate(SIZE_MAX / 2, 64)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(of_heap.allocate(SIZE_MAX / 2)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(of_heap.allocate(SIZE_MAX / 2, 64)), std::bad_alloc);
}

TEST(MemoryResource, IsEqualExactlyWhereOneMayGiveBackTheOthersBlocks) {
  Heap first_heap;
  Heap second_heap;
  HeapResource first(first_heap);
  HeapResource again(first_heap);
  HeapResource second(second_heap);
  EXPECT_TRUE(first == first && first == again && again == first);
  EXPECT_FALSE(first == second);
  EXPECT_FALSE(first == *memory_resource() || *memory_resource() == first);
  EXPECT_TRUE(*memory_resource() == *memory_resource());
  EXPECT_FALSE(*memory_resource() == *std::pmr::new_delete_resource());
  EXPECT_FALSE(first == *std::pmr::new_delete_resource());
  again.deallocate(first.allocate(500), 500);
  EXPECT_EQ(first_heap.statistics().live_blocks, 0u);
}

TEST(MemoryResource, OfAHeapKeepsContainersInIt) {
  Heap heap;
  HeapResource resource(heap);
  {
    std::pmr::map<int, std::pmr::string> map(&resource);
    for (int number = 0; number < 1000; ++number) {
      map[number] = std::pmr::string(static_cast<std::size_t>(number), 'x', &resource);
    }
    EXPECT_TRUE(heap.owns(map[999].data()));
    std::pmr::map<int, std::pmr::string> copy(map, memory_resource());
    EXPECT_FALSE(heap.owns(copy[999].data()));
    EXPECT_TRUE(map == copy);
    EXPECT_GT(heap.statistics().live_blocks, 1900u);
  }
  EXPECT_EQ(heap.statistics().live_blocks, 0u);
}

TEST(MemoryResource, OfAHeapFreesContainersThatAreNeverDestroyed) {
  Heap heap;
  HeapResource resource(heap);
  using Words = std::pmr::vector<std::pmr::string>;
  for (int round = 0; round < 100; ++round) {
    void* const place = resource.allocate(sizeof(Words), alignof(Words));
    auto* const words = new (place) Words(&resource);
    for (int count = 0; count < 500; ++count) words->emplace_back(100, 'w');
    ASSERT_TRUE(heap.owns(words->data()));
    heap.free_all();
    ASSERT_EQ(heap.statistics().live_blocks, 0u);
  }
  EXPECT_LT(heap.statistics().slab_bytes, std::size_t{1} << 20);
}

TEST(MemoryResource, LeaksNothingWhereConstructorsThrow) {
  struct Throws {
    explicit Throws(int number) : number_(number) {
      if (number == 37) throw std::runtime_error("37");
    }
    int number_;
    char bytes[100];
  };
  Heap heap;
  HeapResource resource(heap);
  const auto fill = [&resource] {
    std::pmr::vector<Throws> vector(&resource);
    for (int number = 0; number < 100; ++number) vector.emplace_back(number);
  };
  EXPECT_THROW(fill(), std::runtime_error);
  EXPECT_EQ(heap.statistics().live_blocks, 0u);
}

TEST(HeapObject, FreesItsBlocksAtItsEndAndMoves) {
  Heap first;
  void* const block = first.allocate(100);
  void* const wide = first.allocate(100, 128);
  EXPECT_TRUE(first && first.owns(block) && first.owns(wide) && test::aligned_to(wide, 128));
  Heap second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): what is left is specified
  EXPECT_TRUE(second.owns(block));
  EXPECT_EQ(first.allocate(1), nullptr);
  EXPECT_EQ(first.statistics().live_blocks, 0u);
  first.free_all();
  first.deallocate(nullptr);
  Heap third;
  void* const lost = third.allocate(100'000);
  third = std::move(second);
  EXPECT_TRUE(third.owns(block));
  EXPECT_FALSE(drey_owns(lost)) << "the heap that was assigned to has freed its own";
  Heap& alias = third;
  third = std::move(alias);
  EXPECT_TRUE(third.owns(block)) << "and nothing where it is assigned to itself";
}

TEST(HeapObject, ResizesZeroesAndVisits) {
  Heap heap;
  auto* const zeroed = static_cast<unsigned char*>(heap.allocate_zeroed(5000));
  EXPECT_TRUE(test::all_zero(zeroed, 5000));
  void* const grown = heap.reallocate(zeroed, 9000);
  EXPECT_TRUE(heap.owns(grown) && test::all_zero(grown, 5000));
  heap.deallocate(heap.allocate(50));
  std::size_t blocks = 0;
  std::size_t bytes = 0;
  heap.for_each_block([&](void* block, std::size_t usable_bytes) noexcept {
    EXPECT_EQ(block, grown);
    ++blocks;
    bytes += usable_bytes;
  });
  EXPECT_EQ(blocks, 1u);
  EXPECT_EQ(bytes, heap.statistics().live_bytes);
  heap.deallocate(grown);
  heap.collect();
  EXPECT_EQ(heap.statistics().slab_bytes, 0u);
}
}  // namespace
}  // namespace drey
