// pinned_random_test.cpp: the pinned cache under random programs of three streams and the host, under driver calls
// that fail, each in turn, and under threads.
// SPDX-License-Identifier: MIT
#include "unit/cuda/pinned_fixture.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <vector>

namespace drey::cuda {
namespace {
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Uses blocks as the contract allows, and nothing more: hazards are the cache's.
class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, sim::Schedule schedule)
      : random_(seed), fixture_({.bytes_max = 64 * kMiB}, device_of(seed, schedule)) {
    for (Stream& stream : streams_) stream = fixture_.device.new_stream();
  }

  void run(int operations) {
    for (int count = 0; count < operations && !::testing::Test::HasFailure(); ++count) {
      step();
      if (count % 64 != 0) continue;
      EXPECT_TRUE(fixture_.cache.invariants_hold()) << "operation " << count;
    }
    fixture_.device.expect_none();
    EXPECT_LE(fixture_.cache.statistics().held_bytes_peak, 64 * kMiB);
    EXPECT_GT(fixture_.cache.statistics().hits, static_cast<std::uint64_t>(operations) / 5);
  }

 private:
  struct Block {
    void* pointer;
    std::size_t bytes;
    bool is_for_host;
    std::size_t owner;          // of a stream's
    std::vector<bool> is_used;  // by stream, since the last record
  };

  static sim::Config device_of(std::uint64_t seed, sim::Schedule schedule) {
    sim::Config config;
    config.seed = seed;
    config.schedule = schedule;
    return config;
  }
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  void allocate() {
    Block block{nullptr, std::size_t{1} << draw(22), draw(2) == 0, draw(3), {}};
    block.bytes += draw(block.bytes);
    block.pointer = block.is_for_host ? fixture_.allocate(block.bytes)
                                      : fixture_.allocate(block.bytes, streams_[block.owner]);
    block.is_used.assign(3, false);
    if (block.pointer != nullptr) blocks_.push_back(block);
  }
  // A stream uses memory of the host's, or its own.
  void use(Block& block) {
    const std::size_t stream = block.is_for_host ? draw(3) : block.owner;
    fixture_.use(block.pointer, block.bytes, streams_[stream]);
    block.is_used[stream] = block.is_for_host;
  }
  // One stream may be named; what the others have done is recorded.
  void free(std::size_t place) {
    Block block = blocks_[place];
    blocks_[place] = blocks_.back();
    blocks_.pop_back();
    std::size_t named = 3;
    if (block.is_for_host) {
      for (std::size_t stream = 0; stream < 3; ++stream) {
        if (!block.is_used[stream]) continue;
        if (named == 3 && draw(2) == 0) {
          named = stream;
        } else {
          fixture_.record(block.pointer, streams_[stream]);
        }
      }
    }
    if (named == 3) {
      fixture_.free(block.pointer);
    } else {
      fixture_.free(block.pointer, streams_[named]);
    }
  }
  void step() {
    const std::uint64_t kind = draw(100);
    if (blocks_.empty() || (kind < 40 && blocks_.size() < 8)) {
      allocate();
    } else if (kind < 60) {
      use(blocks_[draw(blocks_.size())]);
    } else if (kind < 97) {
      free(draw(blocks_.size()));
    } else if (kind < 98) {
      fixture_.device.simulator.complete(streams_[draw(3)]);
    } else if (kind < 99) {
      PinnedFixture::expect_ok(fixture_.cache.trim_to(draw(64) * kMiB));
    } else {
      fixture_.device.expect(fixture_.device.driver.stream_synchronize(streams_[draw(3)]));
    }
  }

  std::mt19937_64 random_;
  PinnedFixture fixture_;
  std::array<Stream, 3> streams_ = {};
  std::vector<Block> blocks_;
};

TEST(PinnedRandom, NoHazardInRandomPrograms) {
  const sim::Schedule schedules[] = {sim::Schedule::kNever, sim::Schedule::kRandom,
                                     sim::Schedule::kEager};
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgram program(seed, schedules[seed % 3]);
    program.run(3000);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

// Every driver call of a program fails, one in each run. The call that made it says so or does without, and goes
// through when it is tried again; nothing is lost.
class FailingPinnedProgram {
 public:
  explicit FailingPinnedProgram(std::uint64_t failing) {
    for (Stream& stream : streams_) stream = device_.new_stream();
    const sim::Counts before = device_.simulator.counts();
    if (failing != 0) device_.simulator.faults().fail_nth(failing, Result::kUnknown);
    const std::uint64_t first = device_.simulator.faults().calls();
    try_twice([&] { return cache_.open(device_.driver, {.bytes_max = 8 * kMiB}); });
    run();
    try_twice([&] { return cache_.close(); });
    calls = device_.simulator.faults().calls() - first;
    device_.simulator.faults().clear();
    EXPECT_TRUE(device_.simulator.counts() == before) << failing;
    EXPECT_EQ(device_.simulator.report(), "") << failing;
  }

  std::uint64_t calls = 0;

 private:
  void try_twice(const std::function<Outcome()>& call) {
    const PinnedStatistics before = cache_.statistics();
    if (call().is_ok()) return;
    EXPECT_EQ(cache_.statistics().live_bytes, before.live_bytes);
    EXPECT_EQ(cache_.statistics().allocations, before.allocations);
    const Outcome second = call();
    EXPECT_TRUE(second.is_ok()) << text_of(second.status);
  }
  void* allocate(std::size_t bytes, const Stream* stream) {
    Allocation made;
    try_twice([&] {
      made =
          stream == nullptr ? cache_.try_allocate(bytes) : cache_.try_allocate(bytes, 512, *stream);
      return made.outcome;
    });
    EXPECT_TRUE(cache_.invariants_hold());
    Stream told = stream == nullptr ? nullptr : *stream;
    device_.simulator.block_allocated(PinnedFixture::number_of(made.pointer), bytes, told);
    if (stream == nullptr) device_.simulator.host_access(made.pointer, bytes, "the host");
    return made.pointer;
  }
  // A launch may be the call that fails; then nothing was launched.
  void use(const void* pointer, std::size_t bytes, Stream stream) {
    while (device_.simulator.launch(stream, {{PinnedFixture::number_of(pointer), bytes, true}},
                                    "copy") != Result::kSuccess) {
    }
  }
  void free(void* pointer, const Stream* stream) {
    if (stream != nullptr) {
      device_.simulator.block_freed(PinnedFixture::number_of(pointer), *stream);
      try_twice([&] { return cache_.try_deallocate(pointer, *stream); });
    } else {
      device_.simulator.block_freed(PinnedFixture::number_of(pointer));
      try_twice([&] { return cache_.try_deallocate(pointer); });
    }
  }
  void run() {
    void* const kept = allocate(2 * kMiB, nullptr);
    use(kept, 2 * kMiB, streams_[0]);
    device_.simulator.block_used(PinnedFixture::number_of(kept), streams_[0], true);
    try_twice([&] { return cache_.record_use(kept, streams_[0]); });
    void* const own = allocate(3 * kMiB, &streams_[1]);
    use(own, 3 * kMiB, streams_[1]);
    free(own, nullptr);
    free(allocate(3 * kMiB, &streams_[1]), &streams_[1]);
    free(kept, &streams_[1]);
    free(allocate(2 * kMiB, nullptr), nullptr);  // asks, and grows
    free(allocate(6 * kMiB, nullptr), nullptr);  // waits, and gives back
    void* const small = allocate(100, nullptr);
    try_twice([&] { return cache_.trim_to(0); });
    free(small, nullptr);
    try_twice([&] { return cache_.stream_retired(streams_[0]); });
  }

  sim::SimulatedDevice device_;
  PinnedCache cache_;
  std::array<Stream, 2> streams_ = {};
};

TEST(PinnedFaults, AnyDriverCallMayFail) {
  const std::uint64_t calls = FailingPinnedProgram(0).calls;
  EXPECT_GT(calls, 60U);
  for (std::uint64_t failing = 1; failing <= calls + 4; ++failing) {
    const FailingPinnedProgram program(failing);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "call " << failing << " failed";
  }
}

TEST(PinnedThreads, ThreadsShareTheCacheAndHandBlocksOn) {
  PinnedFixture fixture;
  const Stream streams[] = {fixture.device.new_stream(), fixture.device.new_stream()};
  std::vector<std::thread> threads;
  for (Stream stream : streams) {
    threads.emplace_back([&fixture, stream] {
      PinnedFixture::expect_ok({Status::kOk, fixture.device.driver.ctx_set_current(nullptr)});
      for (std::size_t count = 1; count <= 2000; ++count) {
        const Allocation made = count % 2 == 0
                                    ? fixture.cache.try_allocate(count * 37)
                                    : fixture.cache.try_allocate(count * 37, 512, stream);
        PinnedFixture::expect_ok(made.outcome);
        if (count % 2 == 0) *static_cast<std::size_t*>(made.pointer) = count;
        PinnedFixture::expect_ok(
            fixture.cache.try_deallocate_sized(made.pointer, count * 37, stream));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fixture.cache.statistics().allocations, 4000U);
  EXPECT_EQ(fixture.cache.statistics().live_blocks, 0U);
}
}  // namespace
}  // namespace drey::cuda
