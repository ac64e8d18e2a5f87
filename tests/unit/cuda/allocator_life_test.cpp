// allocator_life_test.cpp: what happens to a device allocator besides allocating: threads that come, go and
// free for others, trims, sleep, limits, callbacks, forks.
// SPDX-License-Identifier: MIT
#include "unit/cuda/allocator_fixture.hpp"
#include "unit/cuda/allocator_program.hpp"

#include <drey/cuda/null_driver.hpp>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace drey::cuda {
namespace {
std::uint64_t served(const DeviceAllocator& allocator, LadderStep step) {
  return allocator.statistics().served_by[static_cast<std::size_t>(step)];
}

TEST(AllocatorThreads, AThreadThatEndsLeavesItsBlocksWithoutADriverCall) {
  AllocatorFixture fixture;
  Stream stream = fixture.device.new_stream();
  std::uint64_t calls = 0;
  std::thread([&] {
    fixture.device.expect(fixture.device.driver.ctx_set_current(fixture.device.context));
    for (int count = 0; count < 30; ++count) fixture.free(fixture.allocate(4096, stream));
    EXPECT_GT(fixture.allocator.statistics().magazine_bytes, 0U);
    fixture.device.expect(fixture.device.driver.ctx_set_current(nullptr));
    calls = fixture.calls();
  }).join();
  EXPECT_EQ(fixture.calls(), calls);
  const Statistics after = fixture.allocator.statistics();
  EXPECT_EQ(after.magazine_bytes, 0U);
  EXPECT_EQ(after.allocation.small.allocated, 30U);
  EXPECT_EQ(after.allocation.small.freed, 30U);
  EXPECT_EQ(after.active.current, 0U);
}

TEST(AllocatorThreads, AMagazineIsTakenFromARunningThreadThatHasAllTheMemory) {
  AllocatorConfig config;
  config.limits.hard = 8 * kMiB;
  AllocatorFixture fixture(config);
  Stream stream = fixture.device.new_stream();
  std::atomic<int> stage{0};
  std::thread other([&] {
    fixture.device.expect(fixture.device.driver.ctx_set_current(fixture.device.context));
    std::vector<void*> blocks;
    for (int count = 0; count < 8; ++count) blocks.push_back(fixture.allocate(kMiB, stream));
    for (void* const block : blocks) fixture.free(block);
    stage.store(1);
    while (stage.load() != 2) std::this_thread::yield();
    fixture.free(fixture.allocate(kMiB, stream));
  });
  while (stage.load() != 1) std::this_thread::yield();
  EXPECT_GT(fixture.allocator.statistics().magazine_bytes, 0U);
  void* const all = fixture.allocate(8 * kMiB, stream);
  EXPECT_NE(all, nullptr);
  fixture.free(all);
  stage.store(2);
  other.join();
}

// Two threads allocate, exchange blocks and free each other's, while a third takes their magazines.
TEST(AllocatorThreads, ExchangeBlocksWithoutAHazard) {
  const std::uint64_t seed = test::test_seed(51);
  AllocatorFixture fixture({}, allocator_device(64));
  Stream streams[] = {nullptr, fixture.device.new_stream(), fixture.device.new_stream(0),
                      per_thread_stream()};
  struct Shared {
    std::mutex lock;
    std::vector<void*> blocks;
  } shared;
  const auto work = [&](std::uint64_t own_seed) {
    fixture.device.expect(fixture.device.driver.ctx_set_current(fixture.device.context));
    test::Random random(own_seed);
    for (std::size_t step = 0; step < test::scaled(4'000); ++step) {
      if (random.below(2) == 0) {
        const std::size_t bytes = 1 + random.below(random.below(8) == 0 ? 3 * kMiB : 64 * kKiB);
        void* const block = fixture.allocate(bytes, streams[random.below(4)]);
        const std::lock_guard guard(shared.lock);
        shared.blocks.push_back(block);
        continue;
      }
      void* block = nullptr;
      {
        const std::lock_guard guard(shared.lock);
        if (shared.blocks.size() < 16) continue;
        std::swap(shared.blocks[random.below(shared.blocks.size())], shared.blocks.back());
        block = shared.blocks.back();
        shared.blocks.pop_back();
      }
      fixture.free(block);
    }
    fixture.device.expect(fixture.device.driver.ctx_set_current(nullptr));
  };
  std::atomic<bool> is_over{false};
  std::thread trimmer([&] {
    while (!is_over.load()) {
      AllocatorFixture::expect_ok(fixture.allocator.trim_to(20 * kPageBytes));
      static_cast<void>(fixture.allocator.statistics());
      std::this_thread::yield();
    }
  });
  std::thread first(work, seed);
  std::thread second(work, seed + 1);
  first.join();
  second.join();
  is_over.store(true);
  trimmer.join();
  for (void* const block : shared.blocks) fixture.free(block);
  EXPECT_EQ(fixture.allocator.statistics().allocation.all.current, 0U);
}

// On the null driver, so that the allocator itself is what runs.
TEST(AllocatorThreads, CountExactlyWhileMagazinesAreTaken) {
  DeviceAllocator allocator;
  ASSERT_TRUE(allocator.open(null_driver(), {}).is_ok());
  const auto stream = reinterpret_cast<Stream>(std::uintptr_t{0x5000});
  const std::size_t steps = test::scaled(100'000);
  std::atomic<int> running{2};
  const auto work = [&](std::uint64_t seed) {
    test::Random random(seed);
    std::vector<void*> blocks(64);
    for (std::size_t step = 0; step < steps; ++step) {
      void*& block = blocks[random.below(64)];
      if (block != nullptr) {
        EXPECT_TRUE(allocator.try_deallocate(block).is_ok());
      }
      block = allocator.try_allocate(1 + random.below(20'000), 256, stream).pointer;
    }
    for (void* const block : blocks) EXPECT_TRUE(allocator.try_deallocate(block).is_ok());
    running.fetch_sub(1);
  };
  std::thread first(work, 1);
  std::thread second(work, 2);
  while (running.load() != 0) EXPECT_TRUE(allocator.trim_to(0).is_ok());
  first.join();
  second.join();
  const Statistics counts = allocator.statistics();
  EXPECT_EQ(counts.allocation.all.allocated, 2 * steps);
  EXPECT_EQ(counts.allocation.all.freed, 2 * steps);
  EXPECT_EQ(counts.allocated_bytes.all.current, 0U);
  EXPECT_EQ(counts.requested_bytes.all.current, 0U);
  EXPECT_EQ(counts.active.current, 0U);
  EXPECT_TRUE(allocator.invariants_hold());
  EXPECT_TRUE(allocator.close().is_ok());
}

TEST(AllocatorTrim, ReturnsWhatIsIdleWithoutWaitingForTheDevice) {
  AllocatorFixture fixture({}, allocator_device(512, sim::Schedule::kEager));
  Stream streams[] = {fixture.device.new_stream(), fixture.device.new_stream()};
  std::vector<void*> blocks;
  for (int count = 0; count < 100; ++count)
    blocks.push_back(fixture.allocate(10'000 + count * 50'000, streams[count % 2]));
  void* const kept = fixture.allocate(3 * kMiB, streams[0]);
  for (void* const block : blocks) fixture.free(block);
  const std::uint64_t before = fixture.allocator.statistics().reserved_bytes.current;
  std::uint64_t released = 0;
  AllocatorFixture::expect_ok(fixture.allocator.trim_to(0, &released));
  const std::uint64_t idle = before - 2 * kPageBytes;  // the block that is kept lies on two
  EXPECT_GE(released * 100, idle * 99) << released << " of " << idle;
  EXPECT_EQ(fixture.calls("cuCtxSynchronize"), 0U);
  EXPECT_EQ(fixture.calls("cuEventSynchronize"), 0U);
  EXPECT_EQ(fixture.calls("cuStreamSynchronize"), 0U);
  fixture.free(kept);
}

TEST(AllocatorTrim, LeavesWhatWorkMayStillUse) {
  AllocatorFixture fixture;
  fixture.free(fixture.allocate(20 * kMiB, fixture.device.new_stream()));
  std::uint64_t released = 1;
  AllocatorFixture::expect_ok(fixture.allocator.trim_to(0, &released));
  EXPECT_EQ(released, 0U);
}

TEST(AllocatorTrim, ByAgeLeavesWhatWasFreedJustNow) {
  AllocatorFixture fixture({}, allocator_device(512, sim::Schedule::kEager));
  fixture.free(fixture.allocate(20 * kMiB));
  std::uint64_t released = 1;
  AllocatorFixture::expect_ok(fixture.allocator.trim_older_than(3'600'000, &released));
  EXPECT_EQ(released, 0U);
  AllocatorFixture::expect_ok(fixture.allocator.trim_older_than(0, &released));
  EXPECT_EQ(released, 20 * kMiB);
}

TEST(AllocatorLimits, AreKept) {
  AllocatorConfig config;
  config.limits.hard = 10 * kMiB;
  config.limits.headroom = 0;
  AllocatorFixture fixture(config);
  void* const block = fixture.allocate(9 * kMiB);
  EXPECT_EQ(fixture.allocator.try_allocate(3 * kMiB, 256, nullptr).outcome.status,
            Status::kOutOfMemory);
  AllocatorFixture::expect_ok(fixture.allocator.set_limits({0, 0, 1000 * kMiB}));
  OomReport report;
  EXPECT_EQ(fixture.allocator.try_allocate(20 * kMiB, 256, nullptr, &report).outcome.status,
            Status::kOutOfMemory);
  EXPECT_EQ(report.headroom, 1000 * kMiB);
  EXPECT_EQ(report.split.live, 9 * kMiB);
  AllocatorFixture::expect_ok(fixture.allocator.set_limits({}));
  fixture.free(fixture.allocate(20 * kMiB));
  EXPECT_EQ(fixture.allocator.set_limits({kMiB, 2 * kMiB, 0}).status, Status::kInvalidConfig);
  fixture.free(block);
}

TEST(AllocatorLimits, TheSoftOneGivesIdleMemoryBackBeforeGrowing) {
  AllocatorConfig config;
  config.limits.soft = 40 * kMiB;
  AllocatorFixture fixture(config, allocator_device(512, sim::Schedule::kEager));
  for (int round = 0; round < 6; ++round) {
    // Never fits into what is there.
    fixture.free(fixture.allocate((10 + 4 * static_cast<std::size_t>(round)) * kMiB));
    EXPECT_LE(fixture.allocator.statistics().reserved_bytes.current, 40 * kMiB);
  }
}

TEST(AllocatorLimits, CallbacksMayFreeBeforeAnAllocationFails) {
  AllocatorConfig config;
  config.limits.hard = 10 * kMiB;
  AllocatorFixture fixture(config);
  struct Hoard {
    AllocatorFixture& owner;
    void* block;
  } hoard{fixture, fixture.allocate(8 * kMiB)};
  AllocatorFixture::expect_ok(fixture.allocator.on_oom(
      [](void* context, std::uint64_t needed) noexcept {
        auto& kept = *static_cast<Hoard*>(context);
        EXPECT_EQ(needed, 7 * kMiB);
        if (kept.block == nullptr) return false;
        kept.owner.free(kept.block);  // the allocator's lock is not held
        kept.block = nullptr;
        return true;
      },
      &hoard));
  fixture.free(fixture.allocate(7 * kMiB));
  EXPECT_EQ(hoard.block, nullptr);
}

TEST(AllocatorPages, MoveToWhereABlockNeedsThem) {
  AllocatorConfig config;
  config.pages_of_large = 1;
  config.limits.hard = 16 * kPageBytes;
  AllocatorFixture fixture(config);
  std::vector<void*> blocks;
  for (int count = 0; count < 16; ++count) blocks.push_back(fixture.allocate(kPageBytes));
  for (std::size_t place = 0; place < 16; place += 2) fixture.free(blocks[place]);
  // Eight pages are free, no two of them side by side.
  void* const large = fixture.allocate(8 * kPageBytes);
  EXPECT_EQ(served(fixture.allocator, LadderStep::kSteal) +
                served(fixture.allocator, LadderStep::kSynchronise),
            1U);
  EXPECT_EQ(fixture.allocator.statistics().reserved_bytes.current, 16 * kPageBytes);
  fixture.free(large);
  for (std::size_t place = 1; place < 16; place += 2) fixture.free(blocks[place]);
}

TEST(AllocatorSleep, KeepsAddressesAndBookKeepsFrees) {
  AllocatorFixture fixture;
  const Allocation kept = fixture.allocator.try_allocate(5 * kMiB, 256, nullptr);
  const Allocation freed = fixture.allocator.try_allocate(5000, 256, nullptr);
  AllocatorFixture::expect_ok(fixture.allocator.sleep());
  AllocatorFixture::expect_ok(fixture.allocator.sleep());
  EXPECT_EQ(fixture.device.simulator.counts().physical_bytes, 0U);
  EXPECT_EQ(fixture.allocator.try_allocate(1, 1, nullptr).outcome.status, Status::kAsleep);
  const std::uint64_t calls = fixture.calls();
  AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(freed.pointer));
  EXPECT_EQ(fixture.allocator.try_deallocate(freed.pointer).status, Status::kDoubleFree);
  EXPECT_EQ(fixture.calls(), calls);
  AllocatorFixture::expect_ok(fixture.allocator.wake());
  fixture.device.launch(nullptr, AllocatorFixture::number_of(kept.pointer), 5 * kMiB, "awake");
  AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(kept.pointer));
  EXPECT_EQ(fixture.allocator.statistics().allocation.all.current, 0U);
}

TEST(AllocatorSleep, StaysAsleepWithoutMemoryForAll) {
  AllocatorFixture fixture;
  const Allocation kept = fixture.allocator.try_allocate(40 * kMiB, 256, nullptr);
  AllocatorFixture::expect_ok(fixture.allocator.sleep());
  fixture.device.simulator.set_other_processes(0, 510 * kPageBytes);
  EXPECT_EQ(fixture.allocator.wake().status, Status::kOutOfMemory);
  EXPECT_EQ(fixture.allocator.try_allocate(1, 1, nullptr).outcome.status, Status::kAsleep);
  fixture.device.simulator.set_other_processes(0, 0);
  AllocatorFixture::expect_ok(fixture.allocator.wake());
  AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(kept.pointer));
}

TEST(AllocatorDevices, EachHasItsOwnStreamsAndMemory) {
  sim::Config two = allocator_device(64);
  two.device_count = 2;
  sim::SimulatedDevice device(two);
  DeviceAllocator allocators[2];
  for (int number = 0; number < 2; ++number) {
    AllocatorConfig config;
    config.device = number;
    ASSERT_TRUE(allocators[number].open(device.driver, config).is_ok());
  }
  for (int round = 0; round < 50; ++round) {
    for (DeviceAllocator& allocator : allocators) {
      // The legacy stream is each device's own: the allocator makes its device current.
      const Allocation made = allocator.try_allocate(100'000, 256, nullptr);
      ASSERT_NE(made.pointer, nullptr);
      EXPECT_TRUE(allocator.owns(made.pointer));
      EXPECT_EQ(allocators[&allocator == allocators ? 1 : 0].try_deallocate(made.pointer).status,
                Status::kForeignPointer);
      EXPECT_TRUE(allocator.try_deallocate(made.pointer).is_ok());
    }
  }
  Device current = -1;
  device.expect(device.driver.ctx_get_device(&current));
  EXPECT_EQ(current, 0) << "the thread's own context is as it was";
  for (DeviceAllocator& allocator : allocators) EXPECT_TRUE(allocator.close().is_ok());
}

AllocatorFixture* at_exit = nullptr;
void* left_at_exit = nullptr;

TEST(AllocatorExit, NoCallReachesTheDriverOnceExitHasBegun) {
  // Begun anew in a process of its own, where nobody opened an allocator before.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        // Runs after the allocator's handler, as the destructor of an older static object would.
        static_cast<void>(std::atexit([] {
          const std::uint64_t calls = at_exit->calls();
          DeviceAllocator& allocator = at_exit->allocator;
          const bool is_quiet =
              allocator.try_deallocate(left_at_exit).is_ok() &&
              allocator.try_allocate(kMiB, 256, nullptr).outcome.status == Status::kClosed &&
              allocator.record_use(left_at_exit, nullptr).status == Status::kClosed &&
              allocator.trim_to(0).status == Status::kClosed && allocator.close().is_ok() &&
              at_exit->calls() == calls;
          ::_exit(is_quiet ? 0 : 1);
        }));
        at_exit = new AllocatorFixture;
        left_at_exit = at_exit->allocate(5 * kMiB, nullptr);
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(AllocatorFork, AChildIsToldNoAndCallsNoDriver) {
  AllocatorFixture fixture;
  const Allocation made = fixture.allocator.try_allocate(1000, 256, nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::uint64_t calls = fixture.calls();
    const bool is_told =
        fixture.allocator.try_allocate(1000, 256, nullptr).outcome.status == Status::kForkedChild &&
        fixture.allocator.try_deallocate(made.pointer).status == Status::kForkedChild &&
        fixture.allocator.trim_to(0).status == Status::kForkedChild &&
        fixture.allocator.statistics().allocation.all.current == 1 &&
        fixture.allocator.close().is_ok() && fixture.calls() == calls;
    ::_exit(is_told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(made.pointer));
}

}  // namespace
}  // namespace drey::cuda
