// sim_memory_test.cpp: the driver's rules of memory: what is refused, what is counted, and that
// whatever is refused changes nothing.
// SPDX-License-Identifier: MIT
#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace drey::cuda::sim {
namespace {
constexpr std::size_t kPage = std::size_t{2} << 20;

class SimulatedMemory : public ::testing::Test {
 protected:
  static Config small() {
    Config config;
    config.device_count = 2;
    config.memory_bytes = 8 * kPage;
    config.address_space_bytes = 64 * kPage;
    return config;
  }
  DevicePointer reserve(std::size_t bytes) {
    DevicePointer base = 0;
    SimulatedDevice::expect(device.driver.mem_address_reserve(&base, bytes, 0, 0, 0));
    return base;
  }
  MemoryHandle create(std::size_t bytes) {
    MemoryHandle handle = 0;
    SimulatedDevice::expect(device.driver.mem_create(&handle, bytes, &properties, 0));
    return handle;
  }
  Result set_access(DevicePointer base, std::size_t bytes, Device who,
                    unsigned flags = MemoryAccess::kReadWrite) {
    const MemoryAccess access{{MemoryLocation::kDevice, who}, flags};
    return device.driver.mem_set_access(base, bytes, &access, 1);
  }
  void expect_refused(Result result, Result expected = Result::kInvalidValue) {
    EXPECT_EQ(result, expected);
    EXPECT_EQ(device.simulator.counts(), counts) << "a refused call changed something";
  }
  void remember() { counts = device.simulator.counts(); }

  SimulatedDevice device{small()};
  MemoryProperties properties;
  Counts counts;
};

TEST_F(SimulatedMemory, ReservationsAreGranularAndFreedExactly) {
  DevicePointer base = 0;
  remember();
  expect_refused(device.driver.mem_address_reserve(&base, 0, 0, 0, 0));
  expect_refused(device.driver.mem_address_reserve(&base, kPage + 1, 0, 0, 0));
  expect_refused(device.driver.mem_address_reserve(&base, kPage, kPage / 2, 0, 0));
  expect_refused(device.driver.mem_address_reserve(&base, kPage, 3 * kPage, 0, 0));
  expect_refused(device.driver.mem_address_reserve(&base, kPage, 0, 0, 1));
  expect_refused(device.driver.mem_address_reserve(&base, 65 * kPage, 0, 0, 0),
                 Result::kOutOfMemory);
  expect_refused(device.driver.mem_address_reserve(&base, SIZE_MAX & ~(kPage - 1), 0, 0, 0),
                 Result::kOutOfMemory);
  const DevicePointer first = reserve(4 * kPage);
  SimulatedDevice::expect(device.driver.mem_address_reserve(&base, kPage, 8 * kPage, 0, 0));
  EXPECT_EQ(base % (8 * kPage), 0U);
  remember();
  expect_refused(device.driver.mem_address_free(first, 2 * kPage));
  expect_refused(device.driver.mem_address_free(first + kPage, 3 * kPage));
  SimulatedDevice::expect(device.driver.mem_address_free(first, 4 * kPage));
  EXPECT_EQ(reserve(2 * kPage), first) << "addresses are used again at once";
}

TEST_F(SimulatedMemory, MappingsCoverOneHandleInOneReservation) {
  const DevicePointer base = reserve(4 * kPage);
  const MemoryHandle one = create(kPage);
  const MemoryHandle two = create(2 * kPage);
  const DriverTable& driver = device.driver;
  SimulatedDevice::expect(driver.mem_map(base, kPage, 0, one, 0));
  remember();
  expect_refused(driver.mem_map(base, 2 * kPage, 0, two, 0));
  expect_refused(driver.mem_map(base + kPage, kPage, 0, two, 0));
  expect_refused(driver.mem_map(base + kPage, 2 * kPage, kPage, two, 0));
  expect_refused(driver.mem_map(base + 3 * kPage, 2 * kPage, 0, two, 0));
  expect_refused(driver.mem_map(base + kPage + 512, 2 * kPage, 0, two, 0));
  expect_refused(driver.mem_map(base + kPage, 2 * kPage, 0, two, 1));
  expect_refused(driver.mem_map(base + kPage, kPage, 0, MemoryHandle{77}, 0));
  SimulatedDevice::expect(driver.mem_map(base + kPage, 2 * kPage, 0, two, 0));
  remember();
  expect_refused(driver.mem_unmap(base + kPage, kPage));
  expect_refused(driver.mem_unmap(base + 2 * kPage, kPage));
  expect_refused(driver.mem_unmap(base, 4 * kPage));
  expect_refused(driver.mem_address_free(base, 4 * kPage));
  SimulatedDevice::expect(driver.mem_unmap(base, 3 * kPage));
  remember();
  expect_refused(driver.mem_unmap(base, kPage));
}

TEST_F(SimulatedMemory, AHandleLivesAsLongAsItIsHeldOrMapped) {
  const DevicePointer base = reserve(2 * kPage);
  const MemoryHandle handle = create(kPage);
  const DriverTable& driver = device.driver;
  SimulatedDevice::expect(driver.mem_map(base, kPage, 0, handle, 0));
  SimulatedDevice::expect(driver.mem_release(handle));
  EXPECT_EQ(driver.mem_release(handle), Result::kInvalidValue) << "a double release";
  EXPECT_EQ(device.simulator.counts().physical_bytes, kPage) << "the mapping holds it";
  MemoryHandle again = 0;
  void* const inside = reinterpret_cast<void*>(base + 512);
  SimulatedDevice::expect(driver.mem_retain_allocation_handle(&again, inside));
  SimulatedDevice::expect(driver.mem_unmap(base, kPage));
  EXPECT_EQ(device.simulator.counts().physical_bytes, kPage) << "the handle holds it";
  EXPECT_EQ(driver.mem_retain_allocation_handle(&again, inside), Result::kInvalidValue);
  SimulatedDevice::expect(driver.mem_release(again));
  EXPECT_EQ(device.simulator.counts().physical_bytes, 0U);
  EXPECT_EQ(device.simulator.counts().handles, 0U);
  EXPECT_EQ(create(kPage), again) << "handles are used again at once";
}

TEST_F(SimulatedMemory, NewMappingsHaveNoAccessUntilItIsGiven) {
  const DevicePointer base = reserve(2 * kPage);
  const MemoryHandle handle = create(kPage);
  SimulatedDevice::expect(device.driver.mem_map(base, kPage, 0, handle, 0));
  EXPECT_EQ(set_access(base, 2 * kPage, 0), Result::kInvalidValue) << "not all of it is mapped";
  EXPECT_EQ(set_access(base, kPage, 2), Result::kInvalidDevice);
  EXPECT_EQ(set_access(base, kPage, 0, 2), Result::kInvalidValue) << "no such right";
  device.launch(nullptr, base, 512, "too early");
  device.expect_one(HazardKind::kNoAccess, Blame::kUser);
  SimulatedDevice::expect(set_access(base, kPage, 0, MemoryAccess::kRead));
  SimulatedDevice::expect(device.simulator.launch(nullptr, {{base, 512, false}}, "read"));
  device.expect_none();
  device.launch(nullptr, base, 512, "write");
  device.expect_one(HazardKind::kNoAccess, Blame::kUser);
  SimulatedDevice::expect(set_access(base, kPage, 0));
  device.launch(nullptr, base, kPage, "write");
  device.expect_none();
  unsigned long long flags = 0;
  const MemoryLocation peer{MemoryLocation::kDevice, 1};
  SimulatedDevice::expect(device.driver.mem_get_access(&flags, &peer, base));
  EXPECT_EQ(flags, MemoryAccess::kNone);
  SimulatedDevice::expect(set_access(base, kPage, 1));
  SimulatedDevice::expect(device.driver.mem_get_access(&flags, &peer, base));
  EXPECT_EQ(flags, MemoryAccess::kReadWrite);
  device.launch(nullptr, base + kPage - 512, 1024, "over the end");
  device.expect_one(HazardKind::kUnmapped, Blame::kUser);
}

TEST_F(SimulatedMemory, PhysicalMemoryEndsWhereItEnds) {
  const MemoryHandle most = create(7 * kPage);
  remember();
  MemoryHandle handle = 0;
  expect_refused(device.driver.mem_create(&handle, 2 * kPage, &properties, 0),
                 Result::kOutOfMemory);
  expect_refused(device.driver.mem_create(&handle, kPage / 2, &properties, 0));
  MemoryProperties other_device = properties;
  other_device.location.id = 2;
  expect_refused(device.driver.mem_create(&handle, kPage, &other_device, 0),
                 Result::kInvalidDevice);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  SimulatedDevice::expect(device.driver.mem_get_info(&free_bytes, &total_bytes));
  EXPECT_EQ(free_bytes, kPage);
  EXPECT_EQ(total_bytes, 8 * kPage);
  device.simulator.set_other_processes(0, kPage);
  expect_refused(device.driver.mem_create(&handle, kPage, &properties, 0), Result::kOutOfMemory);
  other_device.location.id = 1;
  SimulatedDevice::expect(device.driver.mem_create(&handle, 8 * kPage, &other_device, 0));
  SimulatedDevice::expect(device.driver.mem_release(most));
  SimulatedDevice::expect(device.driver.mem_get_info(&free_bytes, &total_bytes));
  EXPECT_EQ(free_bytes, 7 * kPage);
}

TEST_F(SimulatedMemory, AllocationsAreCountedAndComeBackToTheSamePlace) {
  const DevicePointer first = device.new_memory(1000);
  const DevicePointer second = device.new_memory(1);
  EXPECT_EQ(second, first + 1024);
  EXPECT_EQ(device.simulator.counts().physical_bytes, 1536U);
  DevicePointer none = 0;
  remember();
  expect_refused(device.driver.mem_alloc(&none, 0));
  expect_refused(device.driver.mem_alloc(&none, SIZE_MAX), Result::kOutOfMemory);
  expect_refused(device.driver.mem_free(first + 512));
  SimulatedDevice::expect(device.driver.mem_free(0));
  SimulatedDevice::expect(device.driver.mem_free(first));
  EXPECT_EQ(device.driver.mem_free(first), Result::kInvalidValue);
  EXPECT_EQ(device.new_memory(1), first);
}

TEST_F(SimulatedMemory, HostMemoryIsRealAndKnown) {
  void* pinned = nullptr;
  SimulatedDevice::expect(device.driver.mem_host_alloc(&pinned, 5000, kHostAllocPortable));
  static_cast<char*>(pinned)[4999] = 'x';
  EXPECT_EQ(device.driver.mem_host_register(pinned, 100, 0), Result::kHostMemoryAlreadyRegistered);
  EXPECT_EQ(device.driver.mem_host_unregister(pinned), Result::kHostMemoryNotRegistered);
  std::vector<char> own(1000);
  SimulatedDevice::expect(device.driver.mem_host_register(own.data(), own.size(), 0));
  EXPECT_EQ(device.driver.mem_free_host(own.data()), Result::kInvalidValue);
  EXPECT_EQ(device.simulator.counts().host_bytes, 6000U);
  SimulatedDevice::expect(device.driver.mem_host_unregister(own.data()));
  SimulatedDevice::expect(device.driver.mem_free_host(pinned));
  EXPECT_EQ(device.simulator.counts().host_allocations, 0U);
}

TEST(SimulatedDevices, CanLackVirtualMemory) {
  SimulatedDevice device({.has_virtual_memory = false});
  int value = 1;
  SimulatedDevice::expect(
      device.driver.device_get_attribute(&value, DeviceAttribute::kVirtualMemory, 0));
  EXPECT_EQ(value, 0);
  DevicePointer base = 0;
  EXPECT_EQ(device.driver.mem_address_reserve(&base, kPage, 0, 0, 0), Result::kNotSupported);
}

TEST(SimulatedDevices, AreNotThereBeforeTheStartAndAfterTheEnd) {
  const DriverTable& driver = Simulator::driver();
  int count = 0;
  EXPECT_EQ(driver.device_get_count(&count), Result::kDeinitialized);
  {
    Simulator simulator;
    EXPECT_EQ(driver.device_get_count(&count), Result::kNotInitialized);
    EXPECT_EQ(driver.init(1), Result::kInvalidValue);
    EXPECT_EQ(driver.init(0), Result::kSuccess);
    EXPECT_EQ(driver.device_get_count(&count), Result::kSuccess);
    DevicePointer memory = 0;
    EXPECT_EQ(driver.mem_alloc(&memory, 512), Result::kInvalidContext);
    Stream stream = nullptr;
    EXPECT_EQ(driver.stream_create_with_priority(&stream, 0, 0), Result::kInvalidContext);
    EXPECT_EQ(driver.stream_synchronize(nullptr), Result::kInvalidHandle);
  }
  EXPECT_EQ(driver.device_get_count(&count), Result::kDeinitialized);
}

TEST(SimulatedDevices, LoseEverythingWithTheirContext) {
  SimulatedDevice device;
  Stream stream = device.new_stream();
  Event event = device.new_event();
  device.launch(stream, device.new_memory(512), 512, "work");
  SimulatedDevice::expect(device.driver.device_primary_ctx_release(0));
  EXPECT_EQ(device.driver.stream_query(stream), Result::kInvalidHandle);
  EXPECT_EQ(device.driver.event_query(event), Result::kInvalidHandle);
  EXPECT_EQ(device.simulator.counts(), Counts{});
  DevicePointer memory = 0;
  EXPECT_EQ(device.driver.mem_alloc(&memory, 512), Result::kInvalidContext);
}
}  // namespace
}  // namespace drey::cuda::sim
