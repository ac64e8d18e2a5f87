// pinned_cache_test.cpp: the contract of pinned_cache.hpp, call by call: who gets a block again and when, misuse,
// limits, trims, captures, forks, exits.
// SPDX-License-Identifier: MIT
#include "unit/cuda/pinned_fixture.hpp"

#include <drey/cuda/pinned_resource.hpp>

#include <cstdlib>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace drey::cuda {
namespace {
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = kKiB * 1024;

TEST(PinnedCache, TheHostGetsABlockAgainOnlyWhenItsStreamsHavePassed) {
  PinnedFixture fixture;
  Stream stream = fixture.device.new_stream();
  void* const first = fixture.allocate(kMiB);
  fixture.use(first, kMiB, stream);
  fixture.free(first, stream);
  void* const second = fixture.allocate(kMiB);
  EXPECT_NE(second, first);
  fixture.device.simulator.complete(stream);
  EXPECT_EQ(fixture.allocate(kMiB), first);
  EXPECT_EQ(fixture.cache.statistics().hits, 1U);
  EXPECT_EQ(fixture.waits(), 0U);
}

TEST(PinnedCache, AStreamGetsItsOwnBlockAgainWithoutAnEvent) {
  PinnedFixture fixture;
  Stream stream = fixture.device.new_stream();
  void* const first = fixture.allocate(5000, stream);
  fixture.free(first);
  EXPECT_EQ(fixture.allocate(5000, stream), first);
  EXPECT_EQ(fixture.calls("cuEventRecord"), 0U);
  EXPECT_EQ(fixture.calls("cuMemHostAlloc"), 1U);
}

TEST(PinnedCache, AnotherStreamDoesNotGetWhatIsNotPast) {
  PinnedFixture fixture;
  const Stream streams[] = {fixture.device.new_stream(), fixture.device.new_stream()};
  void* const first = fixture.allocate(kMiB, streams[0]);
  fixture.free(first);
  EXPECT_NE(fixture.allocate(kMiB, streams[1]), first);
  fixture.device.simulator.complete(streams[0]);
  EXPECT_EQ(fixture.allocate(kMiB, streams[1]), first);
}

TEST(PinnedCache, ABlockHandedToAStreamKeepsWhatItWaitedFor) {
  PinnedFixture fixture;
  const Stream streams[] = {fixture.device.new_stream(), fixture.device.new_stream()};
  void* const block = fixture.allocate(kMiB, streams[0]);
  fixture.free(block, streams[0]);
  const Allocation again = fixture.cache.try_allocate(kMiB, 512, streams[0]);
  ASSERT_EQ(again.pointer, block);
  // Nothing of its second life is in the first stream, whose work of the first life still runs.
  PinnedFixture::expect_ok(fixture.cache.try_deallocate(block, streams[1]));
  fixture.device.simulator.complete(streams[1]);
  EXPECT_NE(fixture.allocate(kMiB), block);
}

TEST(PinnedCache, ARecordedUseEndsWhenItIsRecorded) {
  PinnedFixture fixture;
  Stream stream = fixture.device.new_stream();
  void* const block = fixture.allocate(kMiB);
  fixture.use(block, kMiB, stream);
  fixture.record(block, stream);
  Event copied = fixture.device.new_event();
  fixture.events_of_test = 1;
  fixture.device.record(copied, stream);
  void* const other = fixture.allocate(kKiB, stream);  // work that is not over
  fixture.free(block);
  EXPECT_NE(fixture.allocate(kMiB), block);
  fixture.device.expect(fixture.device.driver.event_synchronize(copied));
  EXPECT_EQ(fixture.allocate(kMiB), block);
  fixture.free(other);
}

TEST(PinnedCache, FreesNeitherWaitNorGiveMemoryToTheDriver) {
  PinnedConfig config;
  config.frees_per_event = 4;
  PinnedFixture fixture(config);
  Stream stream = fixture.device.new_stream();
  for (std::size_t bytes = 1; bytes < 40 * kMiB; bytes *= 3) {
    void* const block = fixture.allocate(bytes);
    fixture.use(block, bytes, stream);
    fixture.free(block, stream);
  }
  EXPECT_EQ(fixture.waits(), 0U);
  EXPECT_EQ(fixture.calls("cuEventRecord"), 4U) << "16 frees, one in four";
  EXPECT_GT(fixture.cache.statistics().cached_bytes, 14 * kMiB);
}

TEST(PinnedCache, AtMostAnEighthIsWasted) {
  PinnedFixture fixture;
  for (std::size_t bytes = 4097; bytes < 20 * kMiB; bytes += bytes / 50 + 1) {
    const std::uint64_t before = fixture.cache.statistics().live_bytes;
    const Allocation made = fixture.cache.try_allocate(bytes);
    PinnedFixture::expect_ok(made.outcome);
    EXPECT_LE((fixture.cache.statistics().live_bytes - before) * 8, bytes * 9) << bytes;
    PinnedFixture::expect_ok(fixture.cache.try_deallocate(made.pointer));
    PinnedFixture::expect_ok(fixture.cache.trim_to(0));
  }
  // Nor is anything lost where blocks share an allocation.
  for (int count = 0; count < 64; ++count)
    EXPECT_NE(fixture.cache.try_allocate(600).pointer, nullptr);
  const PinnedStatistics counts = fixture.cache.statistics();
  EXPECT_EQ(counts.held_bytes, counts.live_bytes);
  EXPECT_EQ(counts.live_bytes, 64 * kKiB);
  EXPECT_EQ(counts.requested_bytes, 64U * 600);
}

TEST(PinnedCache, AlignmentsUpToAPageAreKept) {
  PinnedFixture fixture;
  for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    for (const std::size_t bytes : {1UL, 700UL, 5000UL, 9217UL, 70'000UL}) {
      const Allocation made = fixture.cache.try_allocate(bytes, alignment);
      EXPECT_EQ(PinnedFixture::number_of(made.pointer) % alignment, 0U) << bytes;
    }
  }
}

TEST(PinnedCache, MisuseIsNamedAndChangesNothing) {
  PinnedFixture fixture;
  PinnedCache& cache = fixture.cache;
  Stream stream = fixture.device.new_stream();
  void* const block = fixture.allocate(5000);
  char* const inside = static_cast<char*>(block) + 512;
  int local = 0;
  EXPECT_EQ(cache.try_deallocate(inside).status, Status::kInteriorPointer);
  EXPECT_EQ(cache.record_use(inside, stream).status, Status::kInteriorPointer);
  EXPECT_EQ(cache.try_deallocate(&local).status, Status::kForeignPointer);
  EXPECT_EQ(cache.try_deallocate_sized(block, 5001).status, Status::kWrongSize);
  EXPECT_EQ(cache.try_deallocate_sized(block, 5001, stream).status, Status::kWrongSize);
  EXPECT_EQ(cache.try_allocate(100, 3).outcome.status, Status::kInvalidAlignment);
  EXPECT_EQ(cache.try_allocate(100, 0).outcome.status, Status::kInvalidAlignment);
  EXPECT_EQ(cache.try_allocate(100, 8192).outcome.status, Status::kInvalidAlignment);
  for (std::size_t less = 0; less < 5000; ++less)
    ASSERT_EQ(cache.try_allocate(SIZE_MAX - less).outcome.status, Status::kInvalidSize);
  EXPECT_EQ(cache.try_allocate(0).pointer, nullptr);
  EXPECT_TRUE(cache.try_allocate(0).outcome.is_ok());
  EXPECT_TRUE(cache.try_deallocate(nullptr).is_ok());
  EXPECT_TRUE(cache.stream_retired(stream).is_ok());
  fixture.device.expect(fixture.device.driver.stream_destroy(stream));
  EXPECT_EQ(cache.try_deallocate(block, stream).status, Status::kInvalidStream);
  EXPECT_EQ(cache.record_use(block, stream).status, Status::kInvalidStream);
  EXPECT_EQ(cache.try_allocate(100, 512, stream).outcome.status, Status::kInvalidStream);
  EXPECT_EQ(cache.statistics().live_blocks, 1U);
  fixture.device.simulator.block_freed(PinnedFixture::number_of(block));
  EXPECT_TRUE(cache.try_deallocate_sized(block, 5000).is_ok());
  EXPECT_EQ(cache.try_deallocate(block).status, Status::kDoubleFree);
  EXPECT_THROW(cache.deallocate(block), MisuseError);
  EXPECT_TRUE(cache.trim_to(0).is_ok());
  EXPECT_EQ(cache.try_deallocate(block).status, Status::kForeignPointer);
  EXPECT_EQ(cache.statistics().misuse, 5 + 3 + 5000 + 3U);
  PinnedCache closed;
  EXPECT_EQ(closed.try_allocate(1).outcome.status, Status::kClosed);
  EXPECT_THROW(static_cast<void>(closed.allocate(1)), UnusableError);
  EXPECT_EQ(closed.open(fixture.device.driver, {.device = 7}).status, Status::kInvalidConfig);
  EXPECT_FALSE(closed.is_open());
}

TEST(PinnedCache, ABlockOfAStreamThatWasDestroyedWaitsForTheDevice) {
  PinnedFixture fixture({.bytes_max = kMiB});
  Stream stream = fixture.device.new_stream();
  void* const block = fixture.allocate(kMiB, stream);
  fixture.device.simulator.block_freed(PinnedFixture::number_of(block), stream);
  fixture.device.expect(fixture.device.driver.stream_destroy(stream));
  PinnedFixture::expect_ok(fixture.cache.try_deallocate(block));
  const std::uint64_t waits = fixture.calls("cuCtxSynchronize");
  EXPECT_EQ(fixture.allocate(kMiB), block);
  EXPECT_EQ(fixture.calls("cuCtxSynchronize"), waits + 1);
}

TEST(PinnedCache, TheLimitIsKeptAndPendingMemoryWaitedForBeforeAFailure) {
  PinnedFixture fixture({.bytes_max = 4 * kMiB});
  Stream stream = fixture.device.new_stream();
  fixture.free(fixture.allocate(3 * kMiB));
  void* const pending = fixture.allocate(2 * kMiB, stream);  // in place of what was idle
  EXPECT_EQ(fixture.cache.statistics().driver_frees, 1U);
  fixture.free(pending);
  void* const large = fixture.allocate(4 * kMiB);  // after the host waited for the stream
  EXPECT_EQ(fixture.cache.statistics().synchronised, 1U);
  EXPECT_EQ(fixture.cache.statistics().held_bytes, 4 * kMiB);
  EXPECT_EQ(fixture.cache.try_allocate(1).outcome.status, Status::kOutOfPinnedMemory);
  EXPECT_THROW(static_cast<void>(fixture.cache.allocate(1)), OutOfPinnedMemory);
  EXPECT_EQ(fixture.cache.statistics().live_bytes, 4 * kMiB);
  EXPECT_EQ(fixture.cache.statistics().held_bytes_peak, 4 * kMiB);
  PinnedFixture::expect_ok(fixture.cache.set_bytes_max(4 * kMiB + 8 * kKiB));
  for (int count = 0; count < 16; ++count)
    EXPECT_NE(fixture.allocate(500), nullptr) << "whole pages";
  EXPECT_EQ(fixture.cache.try_allocate(1).outcome.status, Status::kOutOfPinnedMemory);
  fixture.free(large);
  EXPECT_NE(fixture.allocate(4 * kMiB), nullptr);
}

TEST(PinnedCache, WhatTheDriverRefusesIsTriedAgainWithIdleMemoryGivenBack) {
  PinnedFixture fixture;
  fixture.free(fixture.allocate(3 * kMiB));
  fixture.device.simulator.faults().fail_nth("cuMemHostAlloc", 1, Result::kOutOfMemory);
  EXPECT_NE(fixture.allocate(kMiB), nullptr);
  EXPECT_EQ(fixture.cache.statistics().driver_frees, 1U);
  fixture.device.simulator.faults().fail_if(
      [](const sim::CallInfo& call) { return call.name == "cuMemHostAlloc"; },
      Result::kOutOfMemory);
  EXPECT_EQ(fixture.cache.try_allocate(5 * kMiB).outcome.status, Status::kOutOfPinnedMemory);
  fixture.device.simulator.faults().clear();
  EXPECT_NE(fixture.allocate(5 * kMiB), nullptr);
}

TEST(PinnedCache, ATrimGivesBackTheOldestIdleMemoryAndNoOther) {
  PinnedFixture fixture;
  Stream stream = fixture.device.new_stream();
  void* const old = fixture.allocate(3 * kMiB);
  void* const young = fixture.allocate(2 * kMiB);
  void* const pending = fixture.allocate(kMiB, stream);
  void* const live = fixture.allocate(5 * kMiB);
  for (void* const block : {old, young, pending}) fixture.free(block);
  std::uint64_t released = 0;
  PinnedFixture::expect_ok(fixture.cache.trim_to(8 * kMiB, &released));
  EXPECT_EQ(released, 3 * kMiB);
  EXPECT_EQ(fixture.cache.try_deallocate(old).status, Status::kForeignPointer);
  EXPECT_EQ(fixture.cache.try_deallocate(young).status, Status::kDoubleFree);
  fixture.use(live, kMiB, stream);  // behind the wait of the driver's own free
  void* const other = fixture.allocate(kMiB, stream);
  EXPECT_EQ(other, pending);
  fixture.free(other);
  PinnedFixture::expect_ok(fixture.cache.trim_to(0, &released));
  EXPECT_EQ(released, 2 * kMiB) << "not what is pending";
  fixture.free(live, stream);
  fixture.device.simulator.complete(stream);
  PinnedFixture::expect_ok(fixture.cache.trim_to(0, &released));
  EXPECT_EQ(released, 6 * kMiB);
  EXPECT_EQ(fixture.cache.statistics().held_bytes, 0U);
}

TEST(PinnedCache, ACaptureIsNeitherUsedNorBroken) {
  PinnedFixture fixture;
  const DriverTable& driver = fixture.device.driver;
  Stream captured = fixture.device.new_stream();
  Stream stream = fixture.device.new_stream();
  void* const block = fixture.allocate(kMiB, captured);
  void* const own = fixture.allocate(kMiB, captured);
  void* const pending = fixture.allocate(kMiB, stream);
  fixture.free(own);
  fixture.free(pending);
  fixture.device.expect(driver.stream_begin_capture(captured, CaptureMode::kGlobal));
  EXPECT_EQ(fixture.cache.try_allocate(kMiB, 512, captured).outcome.status,
            Status::kCaptureForbids);
  EXPECT_EQ(fixture.cache.record_use(block, captured).status, Status::kCaptureForbids);
  EXPECT_EQ(fixture.cache.try_deallocate(block).status, Status::kCaptureForbids);
  EXPECT_EQ(fixture.cache.try_deallocate(block, captured).status, Status::kCaptureForbids);
  EXPECT_NE(fixture.allocate(kMiB), pending) << "asks and grows";
  fixture.device.simulator.complete(stream);
  EXPECT_EQ(fixture.allocate(kMiB), pending);
  PinnedFixture::expect_ok(fixture.cache.set_bytes_max(kMiB));
  EXPECT_EQ(fixture.cache.try_allocate(kMiB).outcome.status, Status::kOutOfPinnedMemory);
  Graph graph = nullptr;
  fixture.device.expect(driver.stream_end_capture(captured, &graph));
  fixture.device.expect(driver.graph_destroy(graph));
  fixture.free(block);
}

TEST(PinnedResource, ContainersHavePinnedMemoryInTheOrderOfAStream) {
  PinnedFixture fixture;
  Stream stream = fixture.device.new_stream();
  PinnedResource resource(fixture.cache, stream);
  PinnedResource other(fixture.cache);
  EXPECT_FALSE(resource.is_equal(other));
  const void* first = nullptr;
  {
    std::pmr::vector<float> values(1000, 1.5F, &resource);
    first = values.data();
    EXPECT_EQ(fixture.cache.statistics().requested_bytes, 4000U);
    fixture.use(first, 4000, stream);
  }
  EXPECT_EQ(fixture.cache.statistics().live_blocks, 0U);
  std::pmr::vector<float> values(1000, 0.0F, &other);
  EXPECT_NE(values.data(), first);
  EXPECT_THROW(values.reserve(std::size_t{1} << 50), MisuseError);
}

PinnedFixture* at_exit = nullptr;
void* left_at_exit = nullptr;

TEST(PinnedExit, NoCallReachesTheDriverOnceExitHasBegun) {
  // Begun anew in a process of its own, where nobody opened a cache before.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static_cast<void>(std::atexit([] {
          sim::Faults& faults = at_exit->device.simulator.faults();
          PinnedCache& cache = at_exit->cache;
          const std::uint64_t calls = faults.calls();
          const bool is_quiet = cache.try_deallocate(left_at_exit).is_ok() &&
                                cache.try_allocate(1).outcome.status == Status::kClosed &&
                                cache.record_use(left_at_exit, nullptr).status == Status::kClosed &&
                                cache.trim_to(0).status == Status::kClosed &&
                                cache.close().is_ok() && faults.calls() == calls;
          ::_exit(is_quiet ? 0 : 1);
        }));
        at_exit = new PinnedFixture;
        left_at_exit = at_exit->allocate(5 * kMiB);
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(PinnedFork, AChildIsToldNoAndCallsNoDriver) {
  PinnedFixture fixture;
  void* const block = fixture.allocate(1000);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::uint64_t calls = fixture.device.simulator.faults().calls();
    PinnedCache& cache = fixture.cache;
    const bool is_told = cache.try_allocate(1000).outcome.status == Status::kForkedChild &&
                         cache.try_deallocate(block).status == Status::kForkedChild &&
                         cache.trim_to(0).status == Status::kForkedChild &&
                         cache.statistics().live_blocks == 1 && cache.close().is_ok() &&
                         fixture.device.simulator.faults().calls() == calls;
    ::_exit(is_told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  fixture.free(block);
}
}  // namespace
}  // namespace drey::cuda
