// sim_stream_test.cpp: what the simulated device orders, and what it does not. Method: two uses of
// one block's memory by two lives of it; a hazard is reported exactly if nothing orders the two.
// SPDX-License-Identifier: MIT
#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <thread>

namespace drey::cuda::sim {
namespace {
constexpr std::size_t kBytes = 4096;

// First life in `from`, second in `to`, with `between` in the middle. The free promises the end of
// `from`, so that a hazard is the allocator's.
std::size_t hazards_of(SimulatedDevice& device, Stream from, Stream to,
                       const std::function<void()>& between) {
  const DevicePointer memory = device.new_memory(kBytes);
  device.simulator.block_allocated(memory, kBytes, from);
  device.launch(from, memory, kBytes, "first");
  device.simulator.block_freed(memory, from);
  between();
  device.simulator.block_allocated(memory, kBytes, to);
  device.launch(to, memory, kBytes, "second");
  const std::size_t hazards = device.simulator.hazards().size();
  for (const Hazard& hazard : device.simulator.hazards())
    EXPECT_EQ(hazard.blame, Blame::kAllocator) << hazard.text;
  device.simulator.forget_hazards();
  device.simulator.block_freed(memory, to);
  SimulatedDevice::expect(device.driver.mem_free(memory));
  return hazards;
}

std::size_t hazards_of(SimulatedDevice& device, Stream from, Stream to) {
  return hazards_of(device, from, to, [] {});
}

TEST(SimulatedStreams, AreOrderedInThemselvesAndNotAmongEachOther) {
  SimulatedDevice device;
  Stream a = device.new_stream();
  Stream b = device.new_stream();
  EXPECT_EQ(hazards_of(device, a, a), 0U);
  EXPECT_EQ(hazards_of(device, a, b), 1U);
  EXPECT_EQ(hazards_of(device, b, a), 1U);
}

TEST(SimulatedStreams, TheLegacyStreamIsABarrierOfBlockingStreamsOnly) {
  SimulatedDevice device;
  Stream blocking = device.new_stream(0);
  Stream free_running = device.new_stream(kStreamNonBlocking);
  for (Stream legacy : {Stream{nullptr}, legacy_stream()}) {
    EXPECT_EQ(hazards_of(device, blocking, legacy), 0U);
    EXPECT_EQ(hazards_of(device, legacy, blocking), 0U);
    EXPECT_EQ(hazards_of(device, per_thread_stream(), legacy), 0U);
    EXPECT_EQ(hazards_of(device, free_running, legacy), 1U);
    EXPECT_EQ(hazards_of(device, legacy, free_running), 1U);
  }
  EXPECT_EQ(hazards_of(device, nullptr, legacy_stream()), 0U) << "two names of one stream";
  EXPECT_EQ(hazards_of(device, blocking, device.new_stream(0)), 1U);
  EXPECT_EQ(hazards_of(device, blocking, per_thread_stream()), 1U);
}

TEST(SimulatedStreams, WorkOfADestroyedBlockingStreamIsStillBeforeTheLegacyStream) {
  SimulatedDevice device;
  Stream stream = device.new_stream(0);
  EXPECT_EQ(hazards_of(device, stream, nullptr,
                       [&] { SimulatedDevice::expect(device.driver.stream_destroy(stream)); }),
            0U);
}

TEST(SimulatedStreams, TheDeviceWaitsForWorkOfDestroyedStreamsToo) {
  for (const unsigned flags : {0U, kStreamNonBlocking}) {
    SimulatedDevice device;
    Stream stream = device.new_stream(flags);
    EXPECT_EQ(hazards_of(device, stream, device.new_stream(),
                         [&] {
                           SimulatedDevice::expect(device.driver.stream_destroy(stream));
                           EXPECT_EQ(device.simulator.pending(), 1U);
                           SimulatedDevice::expect(device.driver.ctx_synchronize());
                           EXPECT_EQ(device.simulator.pending(), 0U);
                         }),
              0U);
  }
}

TEST(SimulatedStreams, EachThreadHasADefaultStreamOfItsOwn) {
  SimulatedDevice device;
  unsigned long long ids[2] = {};
  SimulatedDevice::expect(device.driver.stream_get_id(per_thread_stream(), &ids[0]));
  std::thread([&] {
    SimulatedDevice::expect(device.driver.ctx_set_current(device.context));
    SimulatedDevice::expect(device.driver.stream_get_id(per_thread_stream(), &ids[1]));
  }).join();
  EXPECT_NE(ids[0], ids[1]);
}

TEST(SimulatedStreams, AHandleIsUsedAgainAtOnceForAnotherStream) {
  SimulatedDevice device;
  Stream first = device.new_stream();
  unsigned long long old_id = 0;
  SimulatedDevice::expect(device.driver.stream_get_id(first, &old_id));
  EXPECT_EQ(hazards_of(device, first, first,
                       [&] {
                         SimulatedDevice::expect(device.driver.stream_destroy(first));
                         EXPECT_EQ(device.driver.stream_query(first), Result::kInvalidHandle);
                         EXPECT_EQ(device.new_stream(), first);
                       }),
            1U)
      << "the same handle, another stream";
  unsigned long long id = 0;
  SimulatedDevice::expect(device.driver.stream_get_id(first, &id));
  EXPECT_NE(id, old_id);
}

TEST(SimulatedEvents, OrderTheWaiterAfterTheRecordAtTheTimeOfTheWait) {
  SimulatedDevice device;
  Stream a = device.new_stream();
  Stream b = device.new_stream();
  Event event = device.new_event();
  const auto record = [&] { device.record(event, a); };
  const auto wait = [&] { device.wait(b, event); };
  EXPECT_EQ(hazards_of(device, a, b, [&] { wait(); }), 1U) << "never recorded: a wait for nothing";
  EXPECT_EQ(hazards_of(device, a, b, [&] { record(), wait(); }), 0U);
  EXPECT_EQ(hazards_of(device, a, b, [&] { wait(); }), 1U) << "the record is older than the use";
  EXPECT_EQ(hazards_of(device, a, b, [&] { wait(), record(); }), 1U)
      << "a later record is too late";
}

TEST(SimulatedEvents, OutliveTheirStreamAndItsHandle) {
  SimulatedDevice device;
  Stream a = device.new_stream();
  Stream b = device.new_stream();
  Event event = device.new_event();
  EXPECT_EQ(hazards_of(device, a, b,
                       [&] {
                         device.record(event, a);
                         SimulatedDevice::expect(device.driver.stream_destroy(a));
                         device.wait(b, event);
                       }),
            0U);
}

TEST(SimulatedEvents, AreCompleteOnlyWhenSomebodyWaited) {
  SimulatedDevice device;
  Stream a = device.new_stream();
  Event event = device.new_event();
  EXPECT_EQ(device.driver.event_query(event), Result::kSuccess) << "never recorded";
  const DevicePointer memory = device.new_memory(kBytes);
  device.launch(a, memory, kBytes, "work");
  device.record(event, a);
  EXPECT_EQ(device.driver.event_query(event), Result::kNotReady);
  EXPECT_EQ(device.driver.stream_query(a), Result::kNotReady);
  EXPECT_EQ(device.simulator.pending(), 1U);
  SimulatedDevice::expect(device.driver.stream_synchronize(a));
  EXPECT_EQ(device.driver.event_query(event), Result::kSuccess);
  EXPECT_EQ(device.simulator.pending(), 0U);
}

TEST(SimulatedEvents, AQueryThatSaysCompleteOrdersTheHostAndThroughItOtherStreams) {
  SimulatedDevice device;
  Stream a = device.new_stream();
  Stream b = device.new_stream();
  Event event = device.new_event();
  const auto record_and_complete = [&] {
    device.record(event, a);
    device.simulator.complete(a);
  };
  EXPECT_EQ(hazards_of(device, a, b, [&] { record_and_complete(); }), 1U)
      << "complete, but nobody knows";
  EXPECT_EQ(hazards_of(device, a, b,
                       [&] {
                         record_and_complete();
                         SimulatedDevice::expect(device.driver.event_query(event));
                       }),
            0U);
}

TEST(SimulatedEvents, AWaitAloneIsNoWorkThatCouldBePending) {
  SimulatedDevice device;
  Stream a = device.new_stream();
  Stream b = device.new_stream();
  Event event = device.new_event();
  device.launch(a, device.new_memory(kBytes), kBytes, "work");
  device.record(event, a);
  device.wait(b, event);
  EXPECT_EQ(device.driver.stream_query(b), Result::kNotReady);
  SimulatedDevice::expect(device.driver.event_synchronize(event));
  EXPECT_EQ(device.driver.stream_query(b), Result::kSuccess);
}

TEST(SimulatedEvents, BelongToADevice) {
  SimulatedDevice device({.device_count = 2});
  Event event = device.new_event();
  Context other = nullptr;
  SimulatedDevice::expect(device.driver.device_primary_ctx_retain(&other, 1));
  SimulatedDevice::expect(device.driver.ctx_push_current(other));
  Stream stream = device.new_stream();
  EXPECT_EQ(device.driver.event_record(event, stream), Result::kInvalidHandle);
  device.wait(stream, event);
  SimulatedDevice::expect(device.driver.ctx_pop_current(nullptr));
}

TEST(SimulatedHost, SynchronisingAStreamOrdersOnlyThatStream) {
  SimulatedDevice device;
  Stream a = device.new_stream(0);
  Stream b = device.new_stream(0);
  const auto synchronise = [&](Stream stream) {
    SimulatedDevice::expect(device.driver.stream_synchronize(stream));
  };
  EXPECT_EQ(hazards_of(device, a, b, [&] { synchronise(b); }), 1U);
  EXPECT_EQ(hazards_of(device, a, b, [&] { synchronise(a); }), 0U);
  EXPECT_EQ(hazards_of(device, a, b, [&] { synchronise(nullptr); }), 0U);
  EXPECT_EQ(
      hazards_of(device, a, b, [&] { SimulatedDevice::expect(device.driver.ctx_synchronize()); }),
      0U);
}

// What thread A learns by waiting, thread B knows only if something tells it.
TEST(SimulatedHost, ThreadsCanBeOrderedBySignalsAlone) {
  for (const bool is_told : {false, true}) {
    SimulatedDevice device({.host_order = HostOrder::kBySignal});
    Stream a = device.new_stream();
    Stream b = device.new_stream();
    const DevicePointer memory = device.new_memory(kBytes);
    device.simulator.block_allocated(memory, kBytes, a);
    device.launch(a, memory, kBytes, "first");
    device.simulator.block_freed(memory, a);
    SimulatedDevice::expect(device.driver.stream_synchronize(a));
    if (is_told) device.simulator.signal(&device);
    std::thread([&] {
      SimulatedDevice::expect(device.driver.ctx_set_current(device.context));
      if (is_told) device.simulator.await(&device);
      device.simulator.block_allocated(memory, kBytes, b);
      device.launch(b, memory, kBytes, "second");
    }).join();
    EXPECT_EQ(device.simulator.hazards().size(), is_told ? 0U : 1U);
  }
}

TEST(SimulatedHost, TheSameSeedGivesTheSameAnswers) {
  const auto answers = [](std::uint64_t seed) {
    SimulatedDevice device({.schedule = Schedule::kRandom, .seed = seed});
    std::vector<Result> results;
    for (int round = 0; round < 64; ++round) {
      Stream stream = device.new_stream();
      device.launch(stream, device.new_memory(kBytes), kBytes, "work");
      results.push_back(device.driver.stream_query(stream));
    }
    return results;
  };
  EXPECT_EQ(answers(1), answers(1));
  EXPECT_NE(answers(1), answers(2));
}

// Ten thousand streams, one after the other: what is known to be over costs nothing.
TEST(SimulatedStreams, ChainsOfStreamsThatAreOverAreUsedAgain) {
  SimulatedDevice device;
  const DevicePointer memory = device.new_memory(kBytes);
  for (int round = 0; round < 10'000; ++round) {
    Stream stream = device.new_stream();
    device.simulator.block_allocated(memory, kBytes, stream);
    device.launch(stream, memory, kBytes, "work");
    device.simulator.block_freed(memory, stream);
    SimulatedDevice::expect(device.driver.stream_synchronize(stream));
    SimulatedDevice::expect(device.driver.stream_destroy(stream));
  }
  device.expect_none();
  EXPECT_EQ(device.simulator.pending(), 0U);
  EXPECT_EQ(device.simulator.counts().streams, 0U);
}

TEST(SimulatedExplore, AnswersEveryQueryInEveryWayOnce) {
  std::set<std::vector<Result>> seen;
  const Explored explored = explore(
      {},
      [&](Simulator& simulator) {
        SimulatedDevice device(simulator);
        std::vector<Result> answers;
        for (int index = 0; index < 3; ++index) {
          Stream stream = device.new_stream();
          device.launch(stream, device.new_memory(kBytes), kBytes, "work");
          // A second query of what is complete is no choice any more.
          answers.push_back(device.driver.stream_query(stream));
          answers.push_back(device.driver.stream_query(stream));
        }
        EXPECT_TRUE(seen.insert(answers).second) << "twice the same run";
      },
      1000);
  EXPECT_TRUE(explored.is_complete);
  EXPECT_EQ(explored.runs, 27U) << "each stream: never, at the second, at the first query";
  EXPECT_FALSE(explore(
                   {},
                   [](Simulator& simulator) {
                     SimulatedDevice device(simulator);
                     device.launch(nullptr, device.new_memory(kBytes), kBytes, "work");
                     static_cast<void>(device.driver.stream_query(nullptr));
                   },
                   1)
                   .is_complete);
}
}  // namespace
}  // namespace drey::cuda::sim
