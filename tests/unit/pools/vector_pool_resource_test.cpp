// vector_pool_resource_test.cpp: containers on a vector pool: what fits comes from the pool, the rest
// and the overflow from the allocator, and everything goes back where it came from.
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool_resource.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory_resource>
#include <new>
#include <vector>

namespace drey {
namespace {
struct Step {
  std::array<float, 200> observation;
  int action;
};

TEST(VectorPoolResource, GivesContainersItsVectors) {
  VectorPool225 pool(10);
  VectorPoolResource resource(pool);
  {
    std::pmr::vector<float> observation(225, &resource);
    observation[224] = 1;
    EXPECT_EQ(pool.taken(), 1U);
    observation.resize(226);  // no vector is as long
    EXPECT_EQ(pool.taken(), 0U);
    EXPECT_EQ(observation[224], 1.0F);
  }
  EXPECT_EQ(pool.statistics().take_count, 1U);
}

TEST(VectorPoolResource, GoesOnWithTheAllocatorWhenThePoolIsExhausted) {
  VectorPool225 pool(10);
  VectorPoolResource resource(pool);
  {
    std::pmr::list<Step> steps(25, &resource);
    EXPECT_EQ(pool.taken(), 10U);
    steps.pop_front();
    steps.pop_back();
    for (Step& step : steps) step.action = 1;
  }
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_GE(pool.statistics().exhausted_count, 15U);
}

TEST(VectorPoolResource, LeavesTheLanesBehindTheValuesAlone) {
  VectorPool225 pool(1);
  VectorPoolResource resource(pool);
  void* const block = resource.allocate(901, 4);
  EXPECT_FALSE(pool.owns(block));
  resource.deallocate(block, 901, 4);
  void* const aligned = resource.allocate(64, 128);
  EXPECT_FALSE(pool.owns(aligned));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 128, 0U);
  resource.deallocate(aligned, 64, 128);
  EXPECT_TRUE(resource.is_equal(resource));
  EXPECT_FALSE(resource.is_equal(VectorPoolResource(pool)));
}

TEST(VectorPoolAllocator, ServesContainersOfNodes) {
  VectorPool225 pool(100);
  using Allocator = VectorPoolAllocator<Step, VectorPool225>;
  {
    std::list<Step, Allocator> steps(pool);
    for (int i = 0; i < 50; ++i) steps.push_back({{}, i});
    EXPECT_EQ(pool.taken(), 50U);
    const std::list<Step, Allocator> moved = std::move(steps);
    EXPECT_EQ(moved.back().action, 49);
    EXPECT_EQ(pool.taken(), 50U);
  }
  EXPECT_EQ(pool.taken(), 0U);
  VectorPool225 other_pool(1);
  EXPECT_EQ(Allocator(pool), Allocator(pool));
  EXPECT_NE(Allocator(pool), Allocator(other_pool));
  EXPECT_THROW(static_cast<void>(Allocator(pool).allocate(SIZE_MAX / 4)),
               std::bad_array_new_length);
}
}  // namespace
}  // namespace drey
