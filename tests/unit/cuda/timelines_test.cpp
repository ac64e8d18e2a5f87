// timelines_test.cpp: what the allocator may believe of the order of streams, and what that costs in
// driver calls. The random test is the proof: blocks go between streams as the timelines say, and the
// simulated device, which knows the true order, finds no hazard.
// SPDX-License-Identifier: MIT
#include "timeline/timelines.hpp"

#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace drey::cuda {
namespace {
using sim::SimulatedDevice;

struct Fixture {
  explicit Fixture(const sim::Config& config = {}) : device(config) {
    SimulatedDevice::expect(lines.open(device.driver, {}));
  }
  ~Fixture() {
    SimulatedDevice::expect(lines.close());
    EXPECT_EQ(device.simulator.counts().events, events_of_test);
    device.expect_none();
  }
  StreamIndex find(Stream stream) {
    StreamIndex index;
    SimulatedDevice::expect(lines.find(stream, &index));
    return index;
  }
  void work(Stream stream) { device.launch(stream, memory, 1, "work"); }
  [[nodiscard]] std::uint64_t calls() { return device.simulator.faults().calls(); }

  SimulatedDevice device;
  DevicePointer memory = device.new_memory(512);
  Timelines lines;
  std::size_t events_of_test = 0;
};

TEST(Timelines, OneStreamNeedsNoEventAndNoCall) {
  Fixture fixture;
  const StreamIndex stream = fixture.find(fixture.device.new_stream());
  const std::uint64_t calls = fixture.calls();
  for (int round = 0; round < 10'000; ++round) {
    const Stamp stamp = fixture.lines.now(stream);
    SimulatedDevice::expect(fixture.lines.note_free(stream, 1 << 20));
    EXPECT_TRUE(fixture.lines.is_ordered(stream, stamp));
  }
  EXPECT_EQ(fixture.calls(), calls);
}

TEST(Timelines, RecordOneEventForManyFreesOnceThereAreTwoStreams) {
  Fixture fixture;
  const StreamIndex one = fixture.find(fixture.device.new_stream());
  fixture.find(fixture.device.new_stream());
  for (int round = 0; round < 6500; ++round) {
    static_cast<void>(fixture.lines.now(one));
    SimulatedDevice::expect(fixture.lines.note_free(one, 512));
  }
  EXPECT_EQ(fixture.lines.counts().events_recorded, 100U) << "one for each 65 frees";
  for (int round = 0; round < 4; ++round) {
    static_cast<void>(fixture.lines.now(one));
    SimulatedDevice::expect(fixture.lines.note_free(one, 65 << 20));
  }
  EXPECT_EQ(fixture.lines.counts().events_recorded, 104U) << "one for each 64 MiB";
  EXPECT_TRUE(fixture.lines.invariants_hold());
}

TEST(Timelines, AStampOfAnotherStreamIsUsableWhenItIsSeenToBeComplete) {
  Fixture fixture;
  Stream handle = fixture.device.new_stream();
  const StreamIndex one = fixture.find(handle);
  const StreamIndex two = fixture.find(fixture.device.new_stream());
  fixture.work(handle);
  const Stamp stamp = fixture.lines.now(one);
  EXPECT_TRUE(fixture.lines.is_ordered(one, stamp));
  EXPECT_FALSE(fixture.lines.is_ordered(two, stamp));
  SimulatedDevice::expect(fixture.lines.close_epoch(one));
  SimulatedDevice::expect(fixture.lines.poll());
  EXPECT_FALSE(fixture.lines.is_ordered(two, stamp)) << "the work is not complete";
  fixture.device.simulator.complete(handle);
  EXPECT_FALSE(fixture.lines.is_ordered(two, stamp)) << "nobody asked";
  SimulatedDevice::expect(fixture.lines.poll());
  EXPECT_TRUE(fixture.lines.is_ordered(two, stamp));
  EXPECT_FALSE(fixture.lines.is_ordered(two, fixture.lines.now(one))) << "a later one is not";
}

TEST(Timelines, OneWaitCoversAllStampsBeforeItsEvent) {
  Fixture fixture;
  const StreamIndex one = fixture.find(fixture.device.new_stream());
  const StreamIndex two = fixture.find(fixture.device.new_stream());
  const Stamp first = fixture.lines.now(one);
  static_cast<void>(fixture.lines.mark(one));
  const Stamp second = fixture.lines.now(one);
  SimulatedDevice::expect(fixture.lines.make_ordered(two, second));
  EXPECT_TRUE(fixture.lines.is_ordered(two, first));
  const std::uint64_t calls = fixture.calls();
  SimulatedDevice::expect(fixture.lines.make_ordered(two, first));
  EXPECT_EQ(fixture.calls(), calls);
  EXPECT_EQ(fixture.lines.counts().waits_inserted, 1U);
  EXPECT_FALSE(fixture.lines.is_ordered(fixture.find(fixture.device.new_stream()), first));
}

TEST(Timelines, AWaitOfTheProgramIsBelievedUpToItsMark) {
  Fixture fixture;
  Stream streams[2] = {fixture.device.new_stream(), fixture.device.new_stream()};
  const StreamIndex one = fixture.find(streams[0]);
  const StreamIndex two = fixture.find(streams[1]);
  const Stamp before = fixture.lines.now(one);
  const Stamp mark = fixture.lines.mark(one);
  Event event = fixture.device.new_event();
  fixture.events_of_test = 1;
  fixture.device.record(event, streams[0]);
  const Stamp after = fixture.lines.now(one);
  fixture.device.wait(streams[1], event);
  fixture.lines.note_wait(two, mark);
  EXPECT_TRUE(fixture.lines.is_ordered(two, before));
  EXPECT_FALSE(fixture.lines.is_ordered(two, after));
}

TEST(Timelines, CompleteWaitsForOneEventOnly) {
  Fixture fixture;
  Stream handle = fixture.device.new_stream();
  Stream busy = fixture.device.new_stream();
  const StreamIndex one = fixture.find(handle);
  fixture.work(handle);
  fixture.work(busy);
  const Stamp stamp = fixture.lines.now(one);
  SimulatedDevice::expect(fixture.lines.complete(stamp));
  EXPECT_TRUE(fixture.lines.is_ordered(fixture.find(busy), stamp));
  EXPECT_EQ(fixture.device.simulator.pending(), 1U) << "the other stream was not waited for";
}

TEST(Timelines, AHandleMadeAgainIsAnotherStream) {
  Fixture fixture;
  Stream handle = fixture.device.new_stream();
  const StreamIndex old_stream = fixture.find(handle);
  fixture.work(handle);
  const Stamp stamp = fixture.lines.now(old_stream);
  SimulatedDevice::expect(fixture.device.driver.stream_destroy(handle));
  ASSERT_EQ(fixture.device.new_stream(), handle) << "the simulator uses handles again";
  const StreamIndex new_stream = fixture.find(handle);
  EXPECT_FALSE(new_stream == old_stream);
  EXPECT_FALSE(fixture.lines.is_ordered(new_stream, stamp));
  EXPECT_EQ(fixture.lines.make_ordered(new_stream, stamp), Result::kInvalidHandle)
      << "an event in the new stream would say nothing of the old one";
  SimulatedDevice::expect(fixture.lines.complete(stamp));
  EXPECT_TRUE(fixture.lines.is_ordered(new_stream, stamp));
  EXPECT_EQ(fixture.device.simulator.pending(), 0U) << "only the whole device could be waited for";
}

TEST(Timelines, ARetiredStreamCanStillBeWaitedFor) {
  Fixture fixture;
  Stream handle = fixture.device.new_stream();
  const StreamIndex one = fixture.find(handle);
  const StreamIndex two = fixture.find(fixture.device.new_stream());
  fixture.work(handle);
  SimulatedDevice::expect(fixture.lines.retire(one));
  SimulatedDevice::expect(fixture.device.driver.stream_destroy(handle));
  const Stamp stamp = fixture.lines.now(one);  // of a block that lived longer than its stream
  EXPECT_FALSE(fixture.lines.is_ordered(two, stamp));
  SimulatedDevice::expect(fixture.lines.make_ordered(two, stamp));
  EXPECT_EQ(fixture.lines.counts().synchronised, 0U);
}

// The next stream of a place has waits of its own; they say nothing of the stream before it.
TEST(Timelines, AStreamWhosePlaceIsTakenWaitsForNobody) {
  Fixture fixture;
  Stream handle = fixture.device.new_stream();
  const StreamIndex first = fixture.find(handle);
  Stream other = fixture.device.new_stream();
  const StreamIndex used = fixture.find(other);
  SimulatedDevice::expect(fixture.lines.retire(first));
  SimulatedDevice::expect(fixture.device.driver.stream_destroy(handle));
  SimulatedDevice::expect(fixture.lines.complete_all());
  fixture.work(other);
  const Stamp stamp = fixture.lines.now(used);
  const StreamIndex second = fixture.find(fixture.device.new_stream());
  ASSERT_EQ(second.place, first.place);
  SimulatedDevice::expect(fixture.lines.make_ordered(second, stamp));
  EXPECT_TRUE(fixture.lines.is_ordered(second, stamp));
  EXPECT_FALSE(fixture.lines.is_ordered(first, stamp));
}

TEST(Timelines, PlacesAreUsedAgainOnceTheStreamIsPast) {
  Fixture fixture;
  StreamIndex first;
  for (std::size_t round = 0; round < 3 * Timelines::kStreamsMax; ++round) {
    Stream handle = fixture.device.new_stream();
    const StreamIndex index = fixture.find(handle);
    if (round == 0) first = index;
    fixture.work(handle);
    SimulatedDevice::expect(fixture.lines.retire(index));
    fixture.device.simulator.complete(handle);
    SimulatedDevice::expect(fixture.device.driver.stream_destroy(handle));
    ASSERT_TRUE(fixture.lines.invariants_hold());
  }
  EXPECT_EQ(fixture.lines.stream_count(), Timelines::kStreamsMax);
  const StreamIndex now = fixture.find(fixture.device.new_stream());
  EXPECT_TRUE(fixture.lines.is_ordered(now, fixture.lines.now(first))) << "its turn is over";
  EXPECT_EQ(fixture.lines.counts().synchronised, 0U);
}

TEST(Timelines, StreamsDestroyedWithoutAWordAreFoundWhenTheTableIsFull) {
  Fixture fixture;
  for (std::size_t round = 0; round <= Timelines::kStreamsMax; ++round) {
    Stream handle = fixture.device.new_stream();
    static_cast<void>(fixture.lines.now(fixture.find(handle)));
    SimulatedDevice::expect(fixture.device.driver.stream_destroy(handle));
  }
  EXPECT_EQ(fixture.lines.counts().synchronised, 1U) << "one wait for all of them";
}

TEST(Timelines, AFullTableOfLiveStreamsIsAnError) {
  Fixture fixture;
  for (std::size_t round = 0; round < Timelines::kStreamsMax; ++round)
    fixture.find(fixture.device.new_stream());
  StreamIndex index;
  EXPECT_EQ(fixture.lines.find(fixture.device.new_stream(), &index), Result::kOutOfMemory);
  EXPECT_EQ(fixture.lines.find(Stream{reinterpret_cast<Stream>(std::uintptr_t{48})}, &index),
            Result::kInvalidHandle);
}

TEST(Timelines, TheLegacyStreamIsOneAndPerThreadStreamsAreMany) {
  Fixture fixture;
  EXPECT_EQ(fixture.find(nullptr), fixture.find(legacy_stream()));
  const StreamIndex mine = fixture.find(per_thread_stream());
  const StreamIndex user = fixture.find(fixture.device.new_stream());
  const Stamp stamp = fixture.lines.now(mine);
  std::thread([&] {
    SimulatedDevice::expect(fixture.device.driver.ctx_set_current(fixture.device.context));
    EXPECT_FALSE(fixture.find(per_thread_stream()) == mine);
    EXPECT_EQ(fixture.lines.make_ordered(user, stamp), Result::kInvalidHandle);
  }).join();
  SimulatedDevice::expect(fixture.lines.make_ordered(user, stamp));
}

TEST(Timelines, AskAndRecordNothingWhileACaptureIsUnderWay) {
  Fixture fixture;
  Stream handle = fixture.device.new_stream();
  Stream captured = fixture.device.new_stream();
  const StreamIndex one = fixture.find(handle);
  const StreamIndex two = fixture.find(captured);
  fixture.work(handle);
  const Stamp stamp = fixture.lines.now(one);
  SimulatedDevice::expect(fixture.lines.close_epoch(one));
  SimulatedDevice::expect(
      fixture.device.driver.stream_begin_capture(captured, CaptureMode::kGlobal));
  fixture.lines.capture_began();
  SimulatedDevice::expect(fixture.lines.poll());
  EXPECT_EQ(fixture.lines.make_ordered(two, stamp), Result::kCaptureUnsupported);
  EXPECT_EQ(fixture.lines.complete(stamp), Result::kCaptureUnsupported);
  static_cast<void>(fixture.lines.now(two));
  EXPECT_EQ(fixture.lines.close_epoch(two), Result::kCaptureUnsupported);
  EXPECT_EQ(fixture.lines.retire(two), Result::kCaptureUnsupported);
  Graph graph = nullptr;
  SimulatedDevice::expect(fixture.device.driver.stream_end_capture(captured, &graph));
  fixture.lines.capture_ended();
  SimulatedDevice::expect(fixture.lines.make_ordered(two, stamp));
}

// Whichever driver call fails, the same call succeeds the next time, and nothing was believed too soon.
TEST(Timelines, AreTrueAfterAnyOneDriverCallFailed) {
  std::uint64_t calls = UINT64_MAX;
  for (std::uint64_t nth = 1; nth <= calls; ++nth) {
    SCOPED_TRACE(nth);
    Fixture fixture;
    Stream handle = fixture.device.new_stream();
    Stream other = fixture.device.new_stream();
    const std::uint64_t first = fixture.calls();
    fixture.device.simulator.faults().fail_nth(nth, Result::kUnknown);
    std::uint64_t failed = 0;
    const auto twice = [&](auto&& call) {
      Result result = call();
      EXPECT_TRUE(fixture.lines.invariants_hold());
      if (result != Result::kSuccess) {
        ++failed;
        result = call();
      }
      SimulatedDevice::expect(result);
    };
    StreamIndex one;
    StreamIndex two;
    twice([&] { return fixture.lines.find(handle, &one); });
    twice([&] { return fixture.lines.find(other, &two); });
    const Stamp stamp = fixture.lines.now(one);
    twice([&] { return fixture.lines.make_ordered(two, stamp); });
    const Stamp later = fixture.lines.now(one);
    EXPECT_FALSE(fixture.lines.is_ordered(two, later));
    twice([&] { return fixture.lines.complete(later); });
    static_cast<void>(fixture.lines.now(two));
    twice([&] { return fixture.lines.retire(two); });
    twice([&] { return fixture.lines.poll(); });
    twice([&] { return fixture.lines.close(); });
    calls = fixture.calls() - first - failed;
    EXPECT_EQ(failed, 1U);
    SimulatedDevice::expect(fixture.lines.open(fixture.device.driver, {}));
  }
}
}  // namespace
}  // namespace drey::cuda
