// page_store_fixture.hpp: a page store on a simulated device of 80 pages, 64 of which it may hold.
// Invariant: at the end the store closes. SPDX-License-Identifier: MIT
#pragma once

#include "pages/page_store.hpp"

#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace drey::cuda {
using sim::SimulatedDevice;
inline constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
inline constexpr std::uint32_t kPages = 96;
inline constexpr std::uint64_t kLimit = 64;

inline sim::Config device_config() {
  sim::Config config;
  config.device_count = 2;
  config.memory_bytes = 80 * kPage;
  return config;
}

struct PageStoreFixture {
  PageStoreFixture() {
    config.address_bytes = kPages * kPage;
    config.limit_bytes = kLimit * kPage;
    config.calm_part = 1;  // large handles up to the limit
    open();
  }
  ~PageStoreFixture() { SimulatedDevice::expect(store.close()); }
  PageStoreFixture(const PageStoreFixture&) = delete;
  PageStoreFixture& operator=(const PageStoreFixture&) = delete;
  void open() { SimulatedDevice::expect(store.open(device.driver, config)); }

  void expect_counts(const PageCounts& expected) const {
    EXPECT_EQ(store.counts().mapped, expected.mapped);
    EXPECT_EQ(store.counts().spare, expected.spare);
    EXPECT_EQ(store.counts().stuck, expected.stuck);
    EXPECT_EQ(store.counts().asleep, expected.asleep);
    EXPECT_TRUE(store.invariants_hold());
    EXPECT_EQ(device.simulator.counts().physical_bytes, store.counts().held() * kPage);
  }
  [[nodiscard]] std::uint64_t calls(const char* name) {
    return device.simulator.faults().calls(name);
  }

  SimulatedDevice device{device_config()};
  PageStoreConfig config;
  PageStore store;
};
}  // namespace drey::cuda
