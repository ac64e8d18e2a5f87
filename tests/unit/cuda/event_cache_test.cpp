// event_cache_test.cpp: the first proof of the simulator: a race that a widespread design of caching
// allocator has, found by the order of the calls alone, and not found where it is mended.
//
// The race: thread A frees a block of stream a and makes it visible before it records the block's
// event. Thread B, on stream b, asks that event, which was never recorded or is long past, is told
// "complete", and takes memory that stream a still uses.
// SPDX-License-Identifier: MIT
#include "unit/cuda/event_cache.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>

namespace drey::cuda::sim {
namespace {
// Thread A's free on stream a, with thread B's allocation on stream b at the unlock.
void free_with_an_allocation_between(SimulatedDevice& device, EventCache& cache, Stream a,
                                     Stream b) {
  const DevicePointer block = cache.allocate(a);
  device.launch(a, block, EventCache::kBlockBytes, "first user");
  cache.at_unlock = [&] {
    const DevicePointer taken = cache.allocate(b);
    device.launch(b, taken, EventCache::kBlockBytes, "second user");
    cache.deallocate(taken);
  };
  cache.deallocate(block);
}

TEST(EventCache, BlocksVisibleBeforeTheirEventIsRecordedAreTakenWhileInUse) {
  SimulatedDevice device;
  EventCache cache(device, FreeOrder::kVisibleFirst);
  free_with_an_allocation_between(device, cache, device.new_stream(), device.new_stream());
  device.expect_one(HazardKind::kReuse, Blame::kAllocator);
}

TEST(EventCache, AnEventOfAnEarlierUseIsAsBadAsNone) {
  SimulatedDevice device;
  EventCache cache(device, FreeOrder::kVisibleFirst);
  Stream a = device.new_stream();
  const DevicePointer block = cache.allocate(a);
  device.launch(a, block, EventCache::kBlockBytes, "earlier user");
  cache.deallocate(block);
  SimulatedDevice::expect(device.driver.stream_synchronize(a));
  device.expect_none();
  free_with_an_allocation_between(device, cache, a, device.new_stream());
  device.expect_one(HazardKind::kReuse, Blame::kAllocator);
}

TEST(EventCache, TheReportNamesBothUsesAndTheFree) {
  SimulatedDevice device;
  EventCache cache(device, FreeOrder::kVisibleFirst);
  free_with_an_allocation_between(device, cache, device.new_stream(), device.new_stream());
  const std::string report = device.simulator.report();
  for (const char* part : {"reuse (allocator)", "'second user' (call", "'first user' (call",
                           "freed at call", "which its free covered"})
    EXPECT_NE(report.find(part), std::string::npos) << part << " is not in: " << report;
}

TEST(EventCache, BlocksRecordedBeforeTheyAreVisibleAreSafe) {
  SimulatedDevice device;
  EventCache cache(device, FreeOrder::kRecordFirst);
  free_with_an_allocation_between(device, cache, device.new_stream(), device.new_stream());
  device.expect_none();
}

// The same thread on the same stream needs no event, in either order.
TEST(EventCache, OneStreamIsSafeInBothOrders) {
  for (const FreeOrder order : {FreeOrder::kRecordFirst, FreeOrder::kVisibleFirst}) {
    SimulatedDevice device;
    EventCache cache(device, order);
    Stream stream = device.new_stream();
    free_with_an_allocation_between(device, cache, stream, stream);
    device.expect_none();
  }
}

// Two streams that take each other's blocks: at each query the device may or may not be done.
std::uint64_t hazards_of_all_runs(FreeOrder order, Explored& explored) {
  std::uint64_t hazards = 0;
  explored = explore(
      {},
      [&](Simulator& simulator) {
        SimulatedDevice device(simulator);
        EventCache cache(device, order);
        Stream streams[2] = {device.new_stream(), device.new_stream()};
        for (int round = 0; round < 6; ++round) {
          Stream stream = streams[round % 2];
          free_with_an_allocation_between(device, cache, stream, streams[(round + 1) % 2]);
        }
        hazards += simulator.hazards().size();
      },
      10'000);
  return hazards;
}

TEST(EventCache, TheMendedOrderIsSafeHoweverFastTheDeviceIs) {
  Explored explored;
  EXPECT_EQ(hazards_of_all_runs(FreeOrder::kRecordFirst, explored), 0U);
  EXPECT_TRUE(explored.is_complete) << explored.runs << " runs";
  EXPECT_GT(explored.runs, 50U);
  EXPECT_GT(hazards_of_all_runs(FreeOrder::kVisibleFirst, explored), explored.runs);
}

// Real threads: the mended order under the thread sanitizer and any interleaving there is.
TEST(EventCache, TheMendedOrderIsSafeFromManyThreads) {
  SimulatedDevice device({.schedule = Schedule::kRandom, .seed = 7});
  {
    EventCache cache(device, FreeOrder::kRecordFirst);
    const auto body = [&] {
      SimulatedDevice::expect(device.driver.ctx_set_current(device.context));
      Stream stream = device.new_stream();
      for (int round = 0; round < 500; ++round) {
        const DevicePointer first = cache.allocate(stream);
        const DevicePointer second = cache.allocate(stream);
        device.launch(stream, first, EventCache::kBlockBytes, "work");
        device.launch(stream, second, EventCache::kBlockBytes, "work");
        cache.deallocate(first);
        cache.deallocate(second);
      }
    };
    std::thread one(body);
    std::thread other(body);
    one.join();
    other.join();
  }
  device.expect_none();
  EXPECT_EQ(device.simulator.counts().allocations, 0U);
  EXPECT_EQ(device.simulator.counts().events, 0U);
}
}  // namespace
}  // namespace drey::cuda::sim
