// null_driver_test.cpp: the driver that does nothing does so for every call, and hands out numbers that
// differ.
// SPDX-License-Identifier: MIT
#include <drey/cuda/null_driver.hpp>

#include "pages/page_store.hpp"
#include "timeline/timelines.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace drey::cuda {
namespace {
TEST(NullDriver, HasEveryCall) {
  for (const EntryPoint& entry : entry_points())
    EXPECT_NE(function_of(null_driver(), entry), nullptr) << entry.name;
  int version = 0;
  EXPECT_EQ(null_driver().driver_get_version(&version), Result::kSuccess);
  EXPECT_EQ(version, 13000);
}

TEST(NullDriver, NeverHandsOutANumberTwice) {
  const DriverTable& driver = null_driver();
  DevicePointer addresses[3] = {};
  EXPECT_EQ(driver.mem_alloc(&addresses[0], 1000), Result::kSuccess);
  EXPECT_EQ(driver.mem_address_reserve(&addresses[1], 1 << 30, 1 << 25, 0, 0), Result::kSuccess);
  EXPECT_EQ(driver.mem_alloc(&addresses[2], 1), Result::kSuccess);
  EXPECT_GE(addresses[1], addresses[0] + 1000);
  EXPECT_GE(addresses[2], addresses[1] + (1 << 30));
  EXPECT_EQ(addresses[1] % (1 << 25), 0U);
  Stream streams[2] = {};
  unsigned long long ids[3] = {};
  for (int index = 0; index < 2; ++index) {
    EXPECT_EQ(driver.stream_create_with_priority(&streams[index], 0, 0), Result::kSuccess);
    EXPECT_EQ(driver.stream_get_id(streams[index], &ids[index]), Result::kSuccess);
  }
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(driver.stream_get_id(nullptr, &ids[0]), Result::kSuccess);
  EXPECT_EQ(driver.stream_get_id(legacy_stream(), &ids[2]), Result::kSuccess);
  EXPECT_EQ(ids[0], ids[2]) << "two names of one stream";
}

TEST(NullDriver, HostMemoryIsReal) {
  void* memory = nullptr;
  ASSERT_EQ(null_driver().mem_host_alloc(&memory, 10'000, 0), Result::kSuccess);
  std::memset(memory, 1, 10'000);
  EXPECT_EQ(null_driver().mem_free_host(memory), Result::kSuccess);
  EXPECT_EQ(null_driver().mem_host_alloc(&memory, SIZE_MAX, 0), Result::kOutOfMemory);
}

TEST(NullDriver, CarriesThePartsOfTheAllocator) {
  PageStore store;
  PageStoreConfig config;
  config.address_bytes = std::uint64_t{1} << 30;
  config.limit_bytes = std::uint64_t{1} << 29;
  ASSERT_EQ(store.open(null_driver(), config), Result::kSuccess);
  EXPECT_EQ(store.map({0, 40}), Result::kSuccess);
  EXPECT_EQ(store.move({0, 16}, {100, 16}), Result::kSuccess);
  EXPECT_EQ(store.sleep(), Result::kSuccess);
  EXPECT_EQ(store.wake(), Result::kSuccess);
  EXPECT_EQ(store.close(), Result::kSuccess);
  Timelines lines;
  ASSERT_EQ(lines.open(null_driver(), {}), Result::kSuccess);
  Stream handle = nullptr;
  ASSERT_EQ(null_driver().stream_create_with_priority(&handle, 0, 0), Result::kSuccess);
  StreamIndex one;
  StreamIndex two;
  ASSERT_EQ(lines.find(nullptr, &one), Result::kSuccess);
  ASSERT_EQ(lines.find(handle, &two), Result::kSuccess);
  const Stamp stamp = lines.now(one);
  EXPECT_EQ(lines.close_epoch(one), Result::kSuccess);
  EXPECT_EQ(lines.poll(), Result::kSuccess);
  EXPECT_TRUE(lines.is_ordered(two, stamp));
  EXPECT_EQ(lines.close(), Result::kSuccess);
}
}  // namespace
}  // namespace drey::cuda
