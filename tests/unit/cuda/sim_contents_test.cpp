// sim_contents_test.cpp: simulated memory with contents keeps them where pages move, goes to other
// processes as a file descriptor, lies where it is told to, and calls can be stopped in.
// SPDX-License-Identifier: MIT
#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include <fcntl.h>
#include <unistd.h>

namespace drey::cuda::sim {
namespace {
constexpr std::size_t kPage = std::size_t{2} << 20;

Config with_contents() {
  Config config;
  config.has_contents = true;
  config.has_file_descriptors = true;
  config.address_space_bytes = std::uint64_t{1} << 32;
  return config;
}

unsigned char* bytes_at(DevicePointer address) {
  return reinterpret_cast<unsigned char*>(address);
}

class SimContents : public ::testing::Test {
 protected:
  DevicePointer reserve(std::size_t pages) {
    DevicePointer base = 0;
    SimulatedDevice::expect(device_.driver.mem_address_reserve(&base, pages * kPage, 0, 0, 0));
    return base;
  }
  MemoryHandle create() {
    MemoryProperties properties;
    properties.exported_as = kPosixFileDescriptor;
    MemoryHandle handle = 0;
    SimulatedDevice::expect(device_.driver.mem_create(&handle, kPage, &properties, 0));
    return handle;
  }
  void map(DevicePointer address, MemoryHandle handle) {
    SimulatedDevice::expect(device_.driver.mem_map(address, kPage, 0, handle, 0));
    const MemoryAccess access;
    SimulatedDevice::expect(device_.driver.mem_set_access(address, kPage, &access, 1));
  }

  SimulatedDevice device_{with_contents()};
};

TEST_F(SimContents, StayWithThePhysicalMemoryWhenItMoves) {
  const DevicePointer base = reserve(4);
  const MemoryHandle handle = create();
  map(base, handle);
  std::memset(bytes_at(base), 0x5a, kPage);
  SimulatedDevice::expect(device_.driver.mem_unmap(base, kPage));
  map(base + 2 * kPage, handle);
  EXPECT_TRUE(std::all_of(bytes_at(base + 2 * kPage), bytes_at(base + 3 * kPage),
                          [](unsigned char byte) { return byte == 0x5a; }));
  map(base, create());
  EXPECT_EQ(bytes_at(base)[17], 0) << "another memory at the old address";
  device_.expect_none();
}

TEST_F(SimContents, AreThoseOfFillsAndCopies) {
  Stream stream = device_.new_stream();
  const DevicePointer from = device_.new_memory(5000);
  const DevicePointer to = device_.new_memory(5000);
  SimulatedDevice::expect(device_.driver.memset_d8_async(from, 7, 5000, stream));
  SimulatedDevice::expect(device_.driver.memcpy_async(to + 1, from, 4000, stream));
  EXPECT_EQ(bytes_at(to)[0], 0);
  EXPECT_EQ(bytes_at(to)[1], 7);
  EXPECT_EQ(bytes_at(to)[4000], 7);
  EXPECT_EQ(bytes_at(to)[4001], 0);
  // A fill that does not reach is a hazard, and touches nothing.
  SimulatedDevice::expect(device_.driver.memset_d8_async(reserve(1), 9, 1, stream));
  device_.expect_one(HazardKind::kUnmapped, Blame::kUser);
}

TEST_F(SimContents, AreSharedByExportAndImport) {
  const DevicePointer base = reserve(2);
  const MemoryHandle handle = create();
  map(base, handle);
  int file = -1;
  SimulatedDevice::expect(
      device_.driver.mem_export_to_shareable_handle(&file, handle, kPosixFileDescriptor, 0));
  const Counts before = device_.simulator.counts();
  MemoryHandle again = 0;
  SimulatedDevice::expect(device_.driver.mem_import_from_shareable_handle(
      &again, reinterpret_cast<void*>(static_cast<std::uintptr_t>(file)), kPosixFileDescriptor));
  EXPECT_EQ(again, handle) << "it is this process's own";
  EXPECT_EQ(device_.simulator.counts(), before);
  map(base + kPage, again);
  bytes_at(base)[100] = 42;
  EXPECT_EQ(bytes_at(base + kPage)[100], 42) << "one memory at two addresses";
  SimulatedDevice::expect(device_.driver.mem_release(handle));
  SimulatedDevice::expect(device_.driver.mem_release(again));
  EXPECT_EQ(device_.driver.mem_release(again), Result::kInvalidValue) << "held twice";
  ::close(file);
}

TEST_F(SimContents, RefuseToShareWhatWasNotMadeForIt) {
  MemoryProperties plain;
  MemoryHandle handle = 0;
  SimulatedDevice::expect(device_.driver.mem_create(&handle, kPage, &plain, 0));
  int file = -1;
  EXPECT_EQ(device_.driver.mem_export_to_shareable_handle(&file, handle, kPosixFileDescriptor, 0),
            Result::kInvalidValue);
  const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(device_.driver.mem_import_from_shareable_handle(
                &handle, reinterpret_cast<void*>(static_cast<std::uintptr_t>(other)),
                kPosixFileDescriptor),
            Result::kInvalidValue);
  ::close(other);
}

TEST(SimPlacement, ScatteredRangesHaveNoNeighbours) {
  SimulatedDevice device({.placement = Placement::kScattered});
  std::set<DevicePointer> bases;
  for (int index = 0; index < 8; ++index) bases.insert(device.new_memory(kPage));
  for (const DevicePointer base : bases) EXPECT_EQ(bases.count(base + kPage), 0U);
}

TEST(SimPlacement, RandomRangesAreElsewhereForEachSeed) {
  const auto first_of = [](std::uint64_t seed) {
    SimulatedDevice device({.placement = Placement::kRandom, .seed = seed});
    return device.new_memory(kPage);
  };
  EXPECT_EQ(first_of(1), first_of(1));
  EXPECT_NE(first_of(1), first_of(2));
}

// A slow call holds no lock of the simulator: others go on meanwhile.
TEST(SimFaults, AHookRunsBeforeEachCallAndMayMakeCallsItself) {
  SimulatedDevice device;
  int depth = 0;
  std::string names;
  device.simulator.faults().before_each([&](std::string_view name) {
    if (depth++ == 0) {
      names += std::string(name) + " ";
      std::size_t free_bytes = 0;
      std::size_t total_bytes = 0;
      SimulatedDevice::expect(device.driver.mem_get_info(&free_bytes, &total_bytes));
    }
    --depth;
  });
  device.new_memory(512);
  device.new_event();
  device.simulator.faults().clear();
  device.new_event();
  EXPECT_EQ(names, "cuMemAlloc cuEventCreate ");
}
}  // namespace
}  // namespace drey::cuda::sim
