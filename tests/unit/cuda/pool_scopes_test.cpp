// pool_scopes_test.cpp: pools outside of captures: who allocates from which, in what order of streams, and what is
// refused.
// SPDX-License-Identifier: MIT
#include "unit/cuda/capture_fixture.hpp"

#include <thread>
#include <vector>

namespace drey::cuda {
namespace {
constexpr std::size_t kBlock = 3 * kMiB;

TEST(PoolScopes, ServeStreamsOutsideOfCapturesInTheirOrder) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  const auto allocate = [&](Stream stream) {
    const PoolScope scope(fixture.allocator, pool);
    return fixture.allocate(kBlock, stream);
  };
  void* const block = allocate(fixture.a);
  fixture.free(block, fixture.a);
  EXPECT_NE(fixture.allocate(kBlock, fixture.a), block) << "not outside of the scope";
  EXPECT_NE(allocate(fixture.b), block) << "nothing orders b after a";
  EXPECT_EQ(allocate(fixture.a), block);
  void* const small = [&] {
    const PoolScope scope(fixture.allocator, pool);
    return fixture.allocate(1000, fixture.a);
  }();
  const Statistics counts = fixture.allocator.statistics();
  EXPECT_EQ(counts.allocation.small.current, 1U);
  fixture.free(small);
  EXPECT_EQ(fixture.allocator.statistics().allocation.small.current, 0U);
}

TEST(PoolScopes, ScopesNestAndBelongToTheirThread) {
  CaptureFixture fixture;
  const PoolId outer = fixture.new_pool();
  const PoolId inner = fixture.new_pool();
  const auto pools = [&] { return fixture.allocator.memory_split().pools; };
  {
    const PoolScope first(fixture.allocator, outer);
    fixture.free(fixture.allocate(kMiB, fixture.a));
    const std::uint64_t of_outer = pools();
    const PoolScope second(fixture.allocator, inner);
    fixture.free(fixture.allocate(kMiB, fixture.a));
    EXPECT_EQ(pools(), 2 * of_outer) << "the innermost counts";
    EXPECT_EQ(fixture.allocator.end_pool(outer).status, Status::kInvalidPool);
    std::thread([&] {
      fixture.device.expect(fixture.device.driver.ctx_set_current(fixture.device.context));
      fixture.free(fixture.allocate(kMiB, fixture.a));
      const PoolScope own(fixture.allocator, outer);  // ends with the thread
      static_cast<void>(fixture.allocator.retain_pool(outer));
      static_cast<void>(fixture.allocator.begin_pool(outer));
    }).join();
    EXPECT_EQ(pools(), 2 * of_outer) << "another thread is not in them";
  }
  EXPECT_EQ(fixture.allocator.end_pool(inner).status, Status::kInvalidPool);
  for (int use = 0; use < 2; ++use)
    AllocatorFixture::expect_ok(fixture.allocator.release_pool(outer));
  EXPECT_EQ(fixture.allocator.release_pool(outer).status, Status::kInvalidPool);
  AllocatorFixture::expect_ok(fixture.allocator.release_pool(inner));
  EXPECT_EQ(pools(), 0U);
}

TEST(PoolScopes, RefuseIdsOfOthersAndMoreThanThereAre) {
  CaptureFixture fixture;
  DeviceAllocator other;
  AllocatorFixture::expect_ok(other.open(fixture.device.driver, {}));
  PoolId foreign;
  AllocatorFixture::expect_ok(other.create_pool(&foreign));
  CaptureId capture;
  EXPECT_EQ(fixture.allocator.begin_pool(foreign).status, Status::kInvalidPool);
  EXPECT_EQ(fixture.allocator.begin_capture(foreign, &capture).status, Status::kInvalidPool);
  EXPECT_EQ(fixture.allocator.try_allocate_in(foreign, 1, 1, nullptr).outcome.status,
            Status::kInvalidPool);
  EXPECT_EQ(fixture.allocator.release_pool({}).status, Status::kInvalidPool);
  AllocatorFixture::expect_ok(other.close());
  std::vector<PoolId> pools(DeviceAllocator::kPoolsMax);
  for (PoolId& pool : pools) pool = fixture.new_pool();
  EXPECT_EQ(fixture.allocator.create_pool(&foreign).status, Status::kTooManyPools);
  std::vector<CaptureId> captures(DeviceAllocator::kCapturesMax);
  for (CaptureId& each : captures)
    AllocatorFixture::expect_ok(fixture.allocator.begin_capture(pools[0], &each));
  EXPECT_EQ(fixture.allocator.begin_capture(pools[0], &capture).status, Status::kTooManyPools);
  for (const CaptureId each : captures)
    AllocatorFixture::expect_ok(fixture.allocator.end_capture(each, false));
  for (std::size_t depth = 0; depth < DeviceAllocator::kPoolScopesMax; ++depth)
    AllocatorFixture::expect_ok(fixture.allocator.begin_pool(pools[1]));
  EXPECT_EQ(fixture.allocator.begin_pool(pools[1]).status, Status::kTooManyPools);
  for (std::size_t depth = 0; depth < DeviceAllocator::kPoolScopesMax; ++depth)
    AllocatorFixture::expect_ok(fixture.allocator.end_pool(pools[1]));
}
}  // namespace
}  // namespace drey::cuda
