// sim_hazard_test.cpp: each kind of hazard, found where it is and not where it is not, with the blame
// on who broke the contract.
// SPDX-License-Identifier: MIT
#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace drey::cuda::sim {
namespace {
constexpr std::size_t kBytes = 4096;
constexpr std::size_t kPage = std::size_t{2} << 20;

class Hazards : public ::testing::Test {
 protected:
  DevicePointer block(Stream stream) {
    device.simulator.block_allocated(memory, kBytes, stream);
    return memory;
  }
  // A whole page of its own, mapped and with access.
  DevicePointer mapped_page() {
    DevicePointer base = 0;
    SimulatedDevice::expect(device.driver.mem_address_reserve(&base, kPage, 0, 0, 0));
    MemoryHandle handle = 0;
    const MemoryProperties properties;
    SimulatedDevice::expect(device.driver.mem_create(&handle, kPage, &properties, 0));
    SimulatedDevice::expect(device.driver.mem_map(base, kPage, 0, handle, 0));
    SimulatedDevice::expect(device.driver.mem_release(handle));
    const MemoryAccess access;
    SimulatedDevice::expect(device.driver.mem_set_access(base, kPage, &access, 1));
    return base;
  }

  SimulatedDevice device;
  Stream a = device.new_stream();
  Stream b = device.new_stream();
  DevicePointer memory = device.new_memory(kBytes);
};

TEST_F(Hazards, AFreeThatPromisesTooMuchIsTheUsersFault) {
  device.launch(b, block(a), kBytes, "on the other stream");
  device.simulator.block_freed(memory, a);
  device.launch(a, block(a), kBytes, "next life");
  device.expect_one(HazardKind::kReuse, Blame::kUser);
}

TEST_F(Hazards, AFreeWithoutAStreamPromisesTheAllocationsStreamOnly) {
  device.launch(b, block(a), kBytes, "on the other stream");
  device.simulator.block_freed(memory);
  device.launch(a, block(a), kBytes, "next life");
  device.expect_one(HazardKind::kReuse, Blame::kUser);
}

TEST_F(Hazards, ARecordedStreamMakesTheReuseTheAllocatorsFault) {
  device.simulator.block_used(block(a), b, false);
  device.launch(b, memory, kBytes, "after record_stream");
  device.simulator.block_freed(memory);
  device.launch(a, block(a), kBytes, "next life");
  device.expect_one(HazardKind::kReuse, Blame::kAllocator);
}

TEST_F(Hazards, APreciseUseCoversWhatWasBeforeItOnly) {
  device.launch(b, block(a), kBytes, "before record_use");
  device.simulator.block_used(memory, b, true);
  device.simulator.block_freed(memory);
  device.launch(a, block(a), kBytes, "next life");
  device.expect_one(HazardKind::kReuse, Blame::kAllocator);

  device.simulator.block_used(memory, b, true);
  device.launch(b, memory, kBytes, "after record_use");
  device.simulator.block_freed(memory);
  device.launch(a, block(a), kBytes, "another life");
  device.expect_one(HazardKind::kReuse, Blame::kUser);
}

TEST_F(Hazards, ALifeThatNobodyUsedHidesNothing) {
  device.launch(a, block(a), kBytes, "first life");
  device.simulator.block_freed(memory);
  block(b);
  device.simulator.block_freed(memory);
  device.launch(b, block(b), kBytes, "third life");
  device.expect_one(HazardKind::kReuse, Blame::kAllocator);
}

TEST_F(Hazards, OnlyBytesThatBothUseCount) {
  device.launch(a, block(a), kBytes / 2, "first half");
  device.simulator.block_freed(memory);
  block(b);
  device.launch(b, memory + kBytes / 2, kBytes / 2, "second half");
  device.expect_none();
  device.launch(b, memory + kBytes / 2 - 1, 1, "last byte of the first half");
  device.expect_one(HazardKind::kReuse, Blame::kAllocator);
}

TEST_F(Hazards, PartsOfABlockHandedOutAsBlocksAreChecked) {
  device.launch(a, block(a), kBytes, "whole");
  device.simulator.block_freed(memory);
  device.simulator.block_allocated(memory, kBytes / 2, a);
  device.simulator.block_allocated(memory + kBytes / 2, kBytes / 2, b);
  device.launch(a, memory, kBytes / 2, "lower half");
  device.expect_none();
  device.launch(b, memory + kBytes / 2, kBytes / 2, "upper half");
  device.expect_one(HazardKind::kReuse, Blame::kAllocator);
}

TEST_F(Hazards, MemoryHandedOutTwiceIsSeenAtOnce) {
  block(a);
  device.simulator.block_allocated(memory + 512, 512, a);
  device.expect_one(HazardKind::kOverlap, Blame::kAllocator);
}

TEST_F(Hazards, WorkAfterTheFreeIsTheUsersFault) {
  device.simulator.block_freed(block(a), a);
  device.launch(a, memory, 1, "late");
  device.expect_one(HazardKind::kUseAfterFree, Blame::kUser);
}

TEST_F(Hazards, WorkBeyondTheBytesAskedForIsTheUsersFault) {
  device.simulator.block_allocated(memory, 1000, a);
  device.launch(a, memory, 1001, "one too many");
  device.expect_one(HazardKind::kOutOfBounds, Blame::kUser);
  device.launch(a, memory + 999, 1, "the last one");
  device.expect_none();
}

TEST_F(Hazards, ADoubleFreeAndAForeignOneAreSeen) {
  device.simulator.block_freed(block(a), a);
  device.simulator.block_freed(memory, a);
  device.expect_one(HazardKind::kBadFree, Blame::kUser);
  device.simulator.block_freed(memory + 512);
  device.expect_one(HazardKind::kBadFree, Blame::kUser);
}

TEST_F(Hazards, UnmappingUnderWorkThatMayStillRunIsTheAllocatorsFault) {
  const DevicePointer page = mapped_page();
  device.simulator.block_allocated(page, kBytes, a);
  device.launch(a, page, kBytes, "work");
  device.simulator.block_freed(page, a);
  SimulatedDevice::expect(device.driver.mem_unmap(page, kPage));
  device.expect_one(HazardKind::kUnmapPending, Blame::kAllocator);
}

TEST_F(Hazards, UnmappingUnderWorkThatTheFreeDidNotCoverIsTheUsersFault) {
  const DevicePointer page = mapped_page();
  device.simulator.block_allocated(page, kBytes, a);
  device.launch(b, page, kBytes, "work");
  device.simulator.block_freed(page, a);
  SimulatedDevice::expect(device.driver.stream_synchronize(a));
  SimulatedDevice::expect(device.driver.mem_unmap(page, kPage));
  device.expect_one(HazardKind::kUnmapPending, Blame::kUser);
}

TEST_F(Hazards, UnmappingWhatIsKnownToBeOverIsNone) {
  const DevicePointer page = mapped_page();
  device.simulator.block_allocated(page, kBytes, a);
  device.launch(a, page, kBytes, "work");
  device.simulator.block_freed(page, a);
  SimulatedDevice::expect(device.driver.stream_synchronize(a));
  SimulatedDevice::expect(device.driver.mem_unmap(page, kPage));
  device.expect_none();
  device.launch(a, page, kBytes, "late");
  device.expect_one(HazardKind::kUnmapped, Blame::kUser);
}

TEST_F(Hazards, TakingMemoryFromUnderALiveBlockIsTheAllocatorsFault) {
  const DevicePointer page = mapped_page();
  device.simulator.block_allocated(page, kBytes, a);
  SimulatedDevice::expect(device.driver.mem_unmap(page, kPage));
  device.expect_one(HazardKind::kUnmapLive, Blame::kAllocator);
  device.simulator.block_allocated(memory, kBytes, a);
  SimulatedDevice::expect(device.driver.mem_free(memory));
  device.expect_one(HazardKind::kUnmapLive, Blame::kAllocator);
}

TEST_F(Hazards, ALiveBlockWithoutMemoryIsTheAllocatorsFault) {
  DevicePointer base = 0;
  SimulatedDevice::expect(device.driver.mem_address_reserve(&base, kPage, 0, 0, 0));
  device.simulator.block_allocated(base, kBytes, a);
  device.launch(a, base, kBytes, "work");
  device.expect_one(HazardKind::kUnmapped, Blame::kAllocator);
}

TEST_F(Hazards, TheHostIsAUserLikeAnyOther) {
  void* pinned = nullptr;
  SimulatedDevice::expect(device.driver.mem_host_alloc(&pinned, kBytes, 0));
  const auto address = reinterpret_cast<DevicePointer>(pinned);
  device.simulator.block_allocated(address, kBytes, a);
  SimulatedDevice::expect(device.driver.memcpy_async(memory, address, kBytes, a));
  device.simulator.block_freed(address, a);
  device.simulator.block_allocated(address, kBytes, a);
  device.simulator.host_access(pinned, kBytes, "fill for the next step");
  device.expect_one(HazardKind::kReuse, Blame::kAllocator);
  device.simulator.block_freed(address, a);
  SimulatedDevice::expect(device.driver.stream_synchronize(a));
  device.simulator.block_allocated(address, kBytes, a);
  device.simulator.host_access(pinned, kBytes, "fill after waiting");
  device.expect_none();
}

TEST_F(Hazards, CopiesOfMemoryThatTheDriverDoesNotKnowAreNotChecked) {
  char own[16] = {};
  SimulatedDevice::expect(
      device.driver.memcpy_async(memory, reinterpret_cast<DevicePointer>(&own[0]), sizeof(own), a));
  device.expect_none();
  SimulatedDevice::expect(device.driver.memset_d8_async(memory + kBytes, 0, 1, a));
  device.expect_one(HazardKind::kUnmapped, Blame::kUser);
}
}  // namespace
}  // namespace drey::cuda::sim
