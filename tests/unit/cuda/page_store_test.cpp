// page_store_test.cpp: physical pages on the simulated device: what is mapped, what it costs in driver
// calls, and that a failed call leaves nothing behind, whichever driver call it was that failed.
// SPDX-License-Identifier: MIT
#include "pages/page_store.hpp"

#include "support/seed.hpp"
#include "unit/cuda/page_store_fixture.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace drey::cuda {
namespace {
TEST(PageStore, MapsMemoryThatWorkCanUse) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.map({3, 2}));
  fixture.expect_counts({.mapped = 2});
  EXPECT_TRUE(fixture.store.is_mapped(3));
  EXPECT_FALSE(fixture.store.is_mapped(2));
  EXPECT_FALSE(fixture.store.is_mapped(5));
  fixture.device.launch(nullptr, fixture.store.address_of(3), 2 * kPage, "work");
  fixture.device.expect_none();
  fixture.device.launch(nullptr, fixture.store.address_of(2), 1, "beside it");
  fixture.device.expect_one(sim::HazardKind::kUnmapped, sim::Blame::kUser);
}

TEST(PageStore, GivesPeersAccessWhereverItMaps) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.close());
  fixture.config.peers[0] = 1;
  fixture.config.peer_count = 1;
  fixture.open();
  SimulatedDevice::expect(fixture.store.map({0, 1}));
  SimulatedDevice::expect(fixture.store.move({0, 1}, {7, 1}));
  unsigned long long flags = 0;
  const MemoryLocation peer{MemoryLocation::kDevice, 1};
  SimulatedDevice::expect(
      fixture.device.driver.mem_get_access(&flags, &peer, fixture.store.address_of(7)));
  EXPECT_EQ(flags, MemoryAccess::kReadWrite);
}

TEST(PageStore, MovesMemoryWithoutCreatingAny) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.map({0, kLimit}));
  const std::uint64_t created = fixture.calls("cuMemCreate");
  SimulatedDevice::expect(fixture.store.move({16, 16}, {71, 16}));
  EXPECT_EQ(fixture.calls("cuMemCreate"), created);
  fixture.expect_counts({.mapped = kLimit});
  EXPECT_FALSE(fixture.store.is_mapped(16));
  EXPECT_TRUE(fixture.store.is_mapped(86));
}

TEST(PageStore, StopsAtItsLimitWithoutAskingTheDriver) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.map({0, kLimit}));
  const std::uint64_t calls = fixture.device.simulator.faults().calls();
  EXPECT_EQ(fixture.store.map({kLimit, 1}), Result::kOutOfMemory);
  EXPECT_EQ(fixture.device.simulator.faults().calls(), calls);
  fixture.expect_counts({.mapped = kLimit});
}

TEST(PageStore, GivesUpAllOfARangeThatDoesNotFit) {
  PageStoreFixture fixture;
  fixture.device.simulator.set_other_processes(0, 60 * kPage);
  EXPECT_EQ(fixture.store.map({0, 21}), Result::kOutOfMemory);
  fixture.expect_counts({});
  SimulatedDevice::expect(fixture.store.map({0, 20}));
  fixture.expect_counts({.mapped = 20});
}

TEST(PageStore, TakesSmallHandlesWhereThereIsNoLargeOne) {
  PageStoreFixture fixture;
  fixture.device.simulator.faults().fail_if(
      [](const sim::CallInfo& call) { return call.name == "cuMemCreate" && call.bytes > kPage; },
      Result::kOutOfMemory);
  SimulatedDevice::expect(fixture.store.map({0, 20}));
  fixture.expect_counts({.mapped = 20});
  EXPECT_TRUE(fixture.store.is_whole({3, 1}));
}

TEST(PageStore, ReleasesSparesButAsManyAsAreKept) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.map({0, 20}));
  SimulatedDevice::expect(fixture.store.unmap({0, 20}));
  EXPECT_EQ(fixture.store.release_spares(10), 4U) << "the large one would go below";
  EXPECT_EQ(fixture.store.release_spares(0), 16U);
  fixture.expect_counts({});
}

TEST(PageStore, SleepsAndWakesAtTheSameAddresses) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.map({0, 18}));
  SimulatedDevice::expect(fixture.store.map({30, 3}));
  SimulatedDevice::expect(fixture.store.sleep());
  fixture.expect_counts({.asleep = 21});
  SimulatedDevice::expect(fixture.store.sleep());
  EXPECT_EQ(fixture.store.map({50, 1}), Result::kIllegalState);
  const std::uint64_t calls = fixture.device.simulator.faults().calls();
  SimulatedDevice::expect(fixture.store.unmap({30, 2}));
  EXPECT_EQ(fixture.device.simulator.faults().calls(), calls) << "a free asleep is book-keeping";
  SimulatedDevice::expect(fixture.store.wake());
  fixture.expect_counts({.mapped = 19});
  EXPECT_TRUE(fixture.store.is_mapped(32));
  EXPECT_FALSE(fixture.store.is_mapped(30));
}

TEST(PageStore, StaysAsleepWhenThereIsNotMemoryForAll) {
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.map({0, 20}));
  SimulatedDevice::expect(fixture.store.map({30, 20}));
  SimulatedDevice::expect(fixture.store.sleep());
  fixture.device.simulator.set_other_processes(0, 50 * kPage);
  EXPECT_EQ(fixture.store.wake(), Result::kOutOfMemory);
  fixture.expect_counts({.asleep = 40});
  fixture.device.simulator.set_other_processes(0, 0);
  SimulatedDevice::expect(fixture.store.wake());
  fixture.expect_counts({.mapped = 40});
}

TEST(PageStore, MakesNoCallWhenItIsAbandoned) {
  SimulatedDevice device(device_config());
  PageStore store;
  PageStoreConfig config;
  config.address_bytes = kPage;
  config.limit_bytes = kPage;
  SimulatedDevice::expect(store.open(device.driver, config));
  SimulatedDevice::expect(store.map({0, 1}));
  const std::uint64_t calls = device.simulator.faults().calls();
  store.abandon();
  SimulatedDevice::expect(store.close());
  EXPECT_EQ(device.simulator.faults().calls(), calls);
}

TEST(PageStore, RefusesWhatMakesNoSense) {
  SimulatedDevice device(device_config());
  PageStore store;
  PageStoreConfig config;
  EXPECT_EQ(store.open(device.driver, config), Result::kInvalidValue);
  config.address_bytes = UINT64_MAX;
  EXPECT_EQ(store.open(device.driver, config), Result::kInvalidValue);
  config.address_bytes = kPage;
  config.peer_count = 17;
  EXPECT_EQ(store.open(device.driver, config), Result::kInvalidValue);
  EXPECT_FALSE(store.is_open());
  EXPECT_EQ(device.simulator.counts(), sim::Counts{});
}

// The checker sees a store that is told to unmap too soon.
TEST(PageStore, DoesNotWaitForWork) {
  PageStoreFixture fixture;
  Stream stream = fixture.device.new_stream();
  SimulatedDevice::expect(fixture.store.map({0, 1}));
  const DevicePointer block = fixture.store.address_of(0);
  fixture.device.simulator.block_allocated(block, 4096, stream);
  fixture.device.launch(stream, block, 4096, "work");
  fixture.device.simulator.block_freed(block, stream);
  SimulatedDevice::expect(fixture.store.move({0, 1}, {1, 1}));
  fixture.device.expect_one(sim::HazardKind::kUnmapPending, sim::Blame::kAllocator);
}

// After a failure that could not be undone `from` is unmapped, its memory spare.
Result move_or_map(PageStore& store, PageRange from, PageRange to) {
  return store.is_mapped(from.first) ? store.move(from, to) : store.map(to);
}

// Every way to use the store, as steps that can be tried again.
using Step = std::function<Result(PageStore&)>;
std::vector<Step> steps() {
  return {
      [](PageStore& store) {
        return store.map({0, 20});
      },
      [](PageStore& store) {
        return store.map({40, 17});
      },
      [](PageStore& store) {
        return store.unmap({0, 16});
      },
      [](PageStore& store) {
        return store.map({20, 12});
      },
      [](PageStore& store) {
        return move_or_map(store, {40, 16}, {70, 18});
      },
      [](PageStore& store) { return store.sleep(); },
      [](PageStore& store) {
        return store.unmap({16, 2});
      },
      [](PageStore& store) { return store.wake(); },
      [](PageStore& store) {
        return move_or_map(store, {18, 2}, {0, 1});
      },
      [](PageStore& store) {
        return store.map({40, 2});
      },
  };
}

std::vector<bool> mapped_pages(const PageStore& store) {
  std::vector<bool> mapped;
  for (std::uint32_t page = 0; page < store.page_count(); ++page)
    mapped.push_back(store.is_mapped(page));
  return mapped;
}

struct SweepResult {
  std::uint64_t calls = 0;   // of all steps and the close
  std::uint64_t failed = 0;  // steps that failed once
};

// Runs all steps, each until it succeeds. `changes_nothing`: a failed step must leave all as it was;
SweepResult run_steps(const sim::Faults::Predicate& fails, bool changes_nothing) {
  SimulatedDevice device(device_config());
  SweepResult swept;
  PageStore store;
  PageStoreConfig config;
  config.address_bytes = kPages * kPage;
  config.limit_bytes = kLimit * kPage;
  SimulatedDevice::expect(store.open(device.driver, config));
  const std::uint64_t first = device.simulator.faults().calls();
  device.simulator.faults().fail_if(
      [&](const sim::CallInfo& call) {
        sim::CallInfo relative = call;
        relative.number -= first;
        return fails(relative);
      },
      Result::kUnknown);
  for (const Step& step : steps()) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const PageCounts before = store.counts();
      const std::vector<bool> mapped = mapped_pages(store);
      const bool succeeded = step(store) == Result::kSuccess;
      EXPECT_TRUE(store.invariants_hold());
      EXPECT_EQ(device.simulator.counts().physical_bytes, store.counts().held() * kPage);
      if (succeeded) break;
      ++swept.failed;
      EXPECT_LT(attempt, 3) << "the step never succeeds";
      if (!changes_nothing) continue;
      EXPECT_EQ(store.counts(), before);
      EXPECT_EQ(mapped_pages(store), mapped);
    }
  }
  for (int attempt = 0; attempt < 4 && store.close() != Result::kSuccess; ++attempt)
    EXPECT_LT(attempt, 3) << "the store never closes";
  EXPECT_FALSE(store.is_open());
  EXPECT_EQ(device.simulator.counts(), sim::Counts{});
  EXPECT_TRUE(device.simulator.hazards().empty()) << device.simulator.report();
  swept.calls = device.simulator.faults().calls() - first;
  return swept;
}

TEST(PageStore, IsAsItWasAfterAnyOneDriverCallFailed) {
  const std::uint64_t calls = run_steps([](const sim::CallInfo&) { return false; }, true).calls;
  EXPECT_GT(calls, 60U);
  std::uint64_t failed = 0;
  for (std::uint64_t nth = 1; nth <= calls; ++nth) {
    SCOPED_TRACE(nth);
    failed += run_steps([&](const sim::CallInfo& call) { return call.number == nth; }, true).failed;
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(failed, calls / 2) << "most calls are not optional";
}

// Also while it is undone: nothing is lost, and what could not be undone is mended later.
TEST(PageStore, SurvivesTwoFailuresInOneCall) {
  const std::uint64_t calls = run_steps([](const sim::CallInfo&) { return false; }, false).calls;
  for (std::uint64_t nth = 1; nth <= calls; ++nth) {
    for (std::uint64_t more = 1; more <= 12; ++more) {
      SCOPED_TRACE(std::to_string(nth) + " and " + std::to_string(nth + more));
      run_steps(
          [&](const sim::CallInfo& call) {
            return call.number == nth || call.number == nth + more;
          },
          false);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// A model of what is mapped, random ranges, and one call in forty that fails.
TEST(PageStore, AgreesWithAModelUnderRandomFailures) {
  test::Random random(test::test_seed(20));
  PageStoreFixture fixture;
  SimulatedDevice::expect(fixture.store.close());
  fixture.config.pages_of_large = 4;
  fixture.open();
  std::vector<bool> mapped(kPages, false);
  std::uint64_t done[4] = {};
  fixture.device.simulator.faults().fail_if(
      [&](const sim::CallInfo& call) {
        // Failures of the undoing are the test above.
        return call.name != "cuMemUnmap" && call.name != "cuMemRelease" && random.below(40) == 0;
      },
      Result::kUnknown);
  const auto all_are = [&](PageRange range, bool value) {
    for (std::uint32_t page = range.first; page < range.end(); ++page) {
      if (mapped[page] != value) return false;
    }
    return true;
  };
  for (std::size_t round = 0; round < test::scaled(20'000); ++round) {
    const std::uint32_t first = static_cast<std::uint32_t>(random.below(kPages));
    const PageRange range{first, 1 + static_cast<std::uint32_t>(random.below(kPages - first) % 9)};
    const std::size_t kind = random.below(16);
    if (kind == 0) {
      fixture.store.release_spares(random.below(8));
    } else if (all_are(range, false)) {
      if (fixture.store.map(range) != Result::kSuccess) continue;
      ++done[0];
      for (std::uint32_t page = range.first; page < range.end(); ++page) mapped[page] = true;
    } else if (all_are(range, true) && fixture.store.is_whole(range)) {
      if (fixture.store.unmap(range) != Result::kSuccess) continue;
      ++done[1];
      for (std::uint32_t page = range.first; page < range.end(); ++page) mapped[page] = false;
    } else if (kind == 1) {
      if (fixture.store.sleep() == Result::kSuccess) ++done[2];
      while (fixture.store.counts().asleep != 0) {
        if (fixture.store.wake() == Result::kSuccess) ++done[3];
      }
    }
    if (round % 64 == 0) {
      ASSERT_TRUE(fixture.store.invariants_hold()) << "round " << round;
      ASSERT_EQ(mapped_pages(fixture.store), mapped) << "round " << round;
    }
  }
  fixture.device.simulator.faults().clear();
  EXPECT_EQ(mapped_pages(fixture.store), mapped);
  for (const std::uint64_t count : done) EXPECT_GT(count, 10U);
  fixture.device.expect_none();
}
}  // namespace
}  // namespace drey::cuda
