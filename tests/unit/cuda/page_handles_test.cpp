// page_handles_test.cpp: handles of how many pages a page store makes, and which spare ones it takes.
// SPDX-License-Identifier: MIT
#include "pages/page_store.hpp"

#include "unit/cuda/page_store_fixture.hpp"

#include <gtest/gtest.h>

namespace drey::cuda {
namespace {
TEST(PageStore, UsesLargeHandlesWhereTheyFit) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.map({5, 40}));
  EXPECT_EQ(fixture.calls("cuMemCreate"), 3U) << "16 pages, 16 and 8";
  EXPECT_EQ(fixture.calls("cuMemMap"), 3U);
  EXPECT_EQ(fixture.calls("cuMemSetAccess"), 1U);
  EXPECT_TRUE(fixture.store.is_whole({5, 16}));
  EXPECT_FALSE(fixture.store.is_whole({5, 15}));
  EXPECT_FALSE(fixture.store.is_whole({6, 15}));
  EXPECT_TRUE(fixture.store.is_whole({37, 8}));
  EXPECT_FALSE(fixture.store.is_whole({37, 1}));
  SimulatedDevice::expect(fixture.store.unmap({5, 40}));
  EXPECT_EQ(fixture.calls("cuMemUnmap"), 1U);
  fixture.expect_counts({.spare = 40});
}

TEST(PageStore, TakesSinglePagesForShortRunsAndWhereMemoryGetsScarce) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.map({0, 15}));
  EXPECT_EQ(fixture.calls("cuMemCreate"), 15U) << "each can go back by itself";
  SimulatedDevice::expect(fixture.store.unmap({0, 15}));
  SimulatedDevice::expect(fixture.store.close());
  fixture.config.calm_part = 4;
  fixture.open();
  const std::uint64_t before = fixture.calls("cuMemCreate");
  SimulatedDevice::expect(fixture.store.map({0, 16}));
  EXPECT_EQ(fixture.calls("cuMemCreate"), before + 1) << "a quarter of the limit";
  SimulatedDevice::expect(fixture.store.map({16, 32}));
  EXPECT_EQ(fixture.calls("cuMemCreate"), before + 33);
}

TEST(PageStore, TakesSpareMemoryBeforeNew) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.map({0, 18}));
  SimulatedDevice::expect(fixture.store.unmap({0, 18}));
  const std::uint64_t created = fixture.calls("cuMemCreate");
  SimulatedDevice::expect(fixture.store.map({50, 18}));
  EXPECT_EQ(fixture.calls("cuMemCreate"), created);
  EXPECT_EQ(fixture.calls("cuMemRelease"), 0U);
  fixture.expect_counts({.mapped = 18});
}

TEST(PageStore, RefusesLargeHandlesThatAreNoPowerOfTwo) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.close());
  for (const std::uint32_t pages : {0U, 3U, 24U, 256U}) {
    fixture.config.pages_of_large = pages;
    EXPECT_EQ(fixture.store.open(fixture.device.driver, fixture.config), Result::kInvalidValue);
  }
  fixture.config.pages_of_large = 16;
  fixture.config.calm_part = 0;
  EXPECT_EQ(fixture.store.open(fixture.device.driver, fixture.config), Result::kInvalidValue);
}
}  // namespace
}  // namespace drey::cuda
