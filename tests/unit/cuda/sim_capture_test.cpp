// sim_capture_test.cpp: captures: who is in one, what breaks one, what is left when it ends, and what a
// graph's replay is checked for.
// SPDX-License-Identifier: MIT
#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace drey::cuda::sim {
namespace {
constexpr std::size_t kBytes = 4096;

class Captures : public ::testing::Test {
 protected:
  void begin(CaptureMode mode = CaptureMode::kGlobal) {
    SimulatedDevice::expect(device.driver.stream_begin_capture(a, mode));
  }
  Graph end() {
    Graph graph = nullptr;
    SimulatedDevice::expect(device.driver.stream_end_capture(a, &graph));
    return graph;
  }
  void expect_broken(Result by_what, Result result) {
    EXPECT_EQ(result, by_what);
    device.expect_one(HazardKind::kIllegalCapture, Blame::kCaller);
    CaptureStatus status = CaptureStatus::kNone;
    SimulatedDevice::expect(device.driver.stream_is_capturing(a, &status));
    EXPECT_EQ(status, CaptureStatus::kInvalidated);
    EXPECT_EQ(device.simulator.launch(a, {}, "more"), Result::kCaptureInvalidated);
    Graph graph = a_graph;
    EXPECT_EQ(device.driver.stream_end_capture(a, &graph), Result::kCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(device.simulator.counts().captures, 0U);
    EXPECT_EQ(device.simulator.counts().graphs, 0U);
  }
  GraphExec instantiate(Graph graph) {
    GraphExec exec = nullptr;
    SimulatedDevice::expect(device.driver.graph_instantiate_with_flags(&exec, graph, 0));
    return exec;
  }

  SimulatedDevice device;
  Stream a = device.new_stream();
  Stream b = device.new_stream();
  Event event = device.new_event();
  DevicePointer memory = device.new_memory(kBytes);
  Graph a_graph = nullptr;
};

TEST_F(Captures, CapturedWorkDoesNotRunUntilItIsReplayed) {
  begin();
  device.launch(a, memory, kBytes, "captured");
  EXPECT_EQ(device.simulator.pending(), 0U);
  GraphExec exec = instantiate(end());
  SimulatedDevice::expect(device.driver.graph_launch(exec, b));
  EXPECT_EQ(device.simulator.pending(), 1U);
  EXPECT_EQ(device.driver.stream_query(b), Result::kNotReady);
}

TEST_F(Captures, AStreamThatWaitsForACapturedEventJoins) {
  begin();
  device.launch(a, memory, kBytes, "fork");
  device.record(event, a);
  device.wait(b, event);
  CaptureStatus status = CaptureStatus::kNone;
  unsigned long long ids[2] = {};
  Stream streams[2] = {a, b};
  for (int index = 0; index < 2; ++index) {
    SimulatedDevice::expect(device.driver.stream_get_capture_info(
        streams[index], &status, &ids[index], nullptr, nullptr, nullptr, nullptr));
    EXPECT_EQ(status, CaptureStatus::kActive);
  }
  EXPECT_EQ(ids[0], ids[1]);
  device.launch(b, memory, kBytes, "joined");
  device.record(event, b);
  device.wait(a, event);
  EXPECT_NE(end(), nullptr);
  SimulatedDevice::expect(device.driver.stream_is_capturing(b, &status));
  EXPECT_EQ(status, CaptureStatus::kNone);
}

TEST_F(Captures, AStreamThatDidNotComeBackSpoilsTheEnd) {
  begin();
  device.record(event, a);
  device.wait(b, event);
  device.launch(b, memory, kBytes, "lost");
  Graph graph = nullptr;
  EXPECT_EQ(device.driver.stream_end_capture(b, &graph), Result::kCaptureUnmatched);
  EXPECT_EQ(device.driver.stream_end_capture(a, &graph), Result::kCaptureUnjoined);
  EXPECT_EQ(device.simulator.counts().graphs, 0U);
  device.launch(b, memory, kBytes, "free again");
  EXPECT_EQ(device.simulator.pending(), 1U);
}

TEST_F(Captures, BreakByCallsThatWaitOrAskOrAllocate) {
  const DriverTable& driver = device.driver;
  DevicePointer more = 0;
  begin();
  expect_broken(Result::kCaptureUnsupported, driver.stream_query(a));
  begin();
  expect_broken(Result::kCaptureUnsupported, driver.stream_synchronize(b));
  begin();
  expect_broken(Result::kCaptureUnsupported, driver.event_query(event));
  begin();
  expect_broken(Result::kCaptureUnsupported, driver.mem_alloc(&more, 512));
  begin();
  expect_broken(Result::kCaptureUnsupported, driver.mem_free(memory));
  begin();
  device.record(event, a);
  expect_broken(Result::kCapturedEvent, driver.event_query(event));
  begin();
  expect_broken(Result::kCaptureUnsupported, driver.ctx_synchronize());
  begin();
  expect_broken(Result::kCaptureUnsupported, driver.stream_destroy(a));
  begin();
  device.launch(b, memory, 1, "outside");
  device.record(event, b);
  expect_broken(Result::kCaptureIsolation, driver.stream_wait_event(a, event, 0));
}

TEST_F(Captures, OfBlockingStreamsBreakByWorkInTheLegacyStream) {
  a = device.new_stream(0);
  begin();
  expect_broken(Result::kCaptureImplicit, device.simulator.launch(nullptr, {}, "legacy"));
  EXPECT_EQ(device.driver.stream_begin_capture(nullptr, CaptureMode::kGlobal),
            Result::kCaptureUnsupported);
}

TEST_F(Captures, DoNotMix) {
  begin();
  SimulatedDevice::expect(device.driver.stream_begin_capture(b, CaptureMode::kGlobal));
  EXPECT_EQ(device.driver.stream_begin_capture(b, CaptureMode::kGlobal), Result::kIllegalState);
  device.record(event, b);
  EXPECT_EQ(device.driver.stream_wait_event(a, event, 0), Result::kCaptureMerge);
  EXPECT_EQ(device.simulator.hazards().size(), 2U) << "both are broken";
}

TEST_F(Captures, AllowAllocationsInRelaxedModeOnly) {
  CaptureMode mode = CaptureMode::kRelaxed;
  begin();
  SimulatedDevice::expect(device.driver.thread_exchange_stream_capture_mode(&mode));
  EXPECT_EQ(mode, CaptureMode::kGlobal);
  device.new_memory(512);
  SimulatedDevice::expect(device.driver.thread_exchange_stream_capture_mode(&mode));
  EXPECT_EQ(mode, CaptureMode::kRelaxed);
  end();
  begin(CaptureMode::kRelaxed);
  device.new_memory(512);
  end();
  device.expect_none();
}

TEST_F(Captures, OfOneThreadConcernOthersOnlyIfGlobal) {
  const auto allocate_elsewhere = [&] {
    Result result = Result::kUnknown;
    std::thread([&] {
      SimulatedDevice::expect(device.driver.ctx_set_current(device.context));
      DevicePointer more = 0;
      result = device.driver.mem_alloc(&more, 512);
    }).join();
    return result;
  };
  begin(CaptureMode::kThreadLocal);
  EXPECT_EQ(allocate_elsewhere(), Result::kSuccess);
  SimulatedDevice::expect(device.driver.graph_destroy(end()));
  device.expect_none();
  begin(CaptureMode::kGlobal);
  expect_broken(Result::kCaptureUnsupported, allocate_elsewhere());
}

TEST_F(Captures, ThreadsDoNotEndEachOthersCaptures) {
  begin();
  std::thread([&] {
    SimulatedDevice::expect(device.driver.ctx_set_current(device.context));
    Graph graph = nullptr;
    EXPECT_EQ(device.driver.stream_end_capture(a, &graph), Result::kCaptureWrongThread);
  }).join();
  EXPECT_NE(end(), nullptr);
}

TEST_F(Captures, TellTheirGraphToWhoAsksForIt) {
  begin();
  device.launch(a, memory, 1, "first");
  CaptureStatus status = CaptureStatus::kNone;
  Graph graph = nullptr;
  const GraphNode* tail = nullptr;
  std::size_t count = 0;
  const auto ask = [&] {
    SimulatedDevice::expect(
        device.driver.stream_get_capture_info(a, &status, nullptr, &graph, &tail, nullptr, &count));
  };
  ask();
  ASSERT_EQ(count, 1U);
  GraphNode marker = nullptr;
  SimulatedDevice::expect(device.driver.graph_add_empty_node(&marker, graph, tail, count));
  SimulatedDevice::expect(device.driver.stream_update_capture_dependencies(
      a, &marker, nullptr, 1, kSetCaptureDependencies));
  GraphNode first = tail[0];
  ask();
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(tail[0], marker);
  GraphNode before[2] = {};
  std::size_t room = 2;
  SimulatedDevice::expect(device.driver.graph_node_get_dependencies(marker, before, &room));
  EXPECT_EQ(room, 1U);
  EXPECT_EQ(before[0], first);
  EXPECT_EQ(device.driver.graph_destroy(graph), Result::kInvalidValue) << "still being built";
  SimulatedDevice::expect(device.driver.graph_destroy(end()));
  EXPECT_EQ(device.driver.graph_node_get_dependencies(marker, before, &room),
            Result::kInvalidValue);
}

TEST_F(Captures, ReuseWithinAGraphMustFollowItsEdges) {
  for (const bool is_joined : {true, false}) {
    begin();
    device.record(event, a);
    device.wait(b, event);
    device.simulator.block_allocated(memory, kBytes, a);
    device.launch(a, memory, kBytes, "first life");
    device.simulator.block_freed(memory, a);
    if (is_joined) {
      device.record(event, a);
      device.wait(b, event);
    }
    device.simulator.block_allocated(memory, kBytes, b);
    device.launch(b, memory, kBytes, "second life");
    device.simulator.block_freed(memory, b);
    if (is_joined) {
      device.expect_none();
    } else {
      device.expect_one(HazardKind::kReuse, Blame::kAllocator);
    }
    device.record(event, b);
    device.wait(a, event);
    end();
  }
}

TEST_F(Captures, AReplayOfMemoryThatTheAllocatorGaveAwayIsItsFault) {
  begin();
  device.simulator.block_allocated(memory, kBytes, a);
  device.launch(a, memory, kBytes, "captured");
  device.simulator.block_freed(memory, a);
  GraphExec exec = instantiate(end());
  SimulatedDevice::expect(device.driver.graph_launch(exec, a));
  SimulatedDevice::expect(device.driver.graph_launch(exec, a));
  device.expect_none();
  device.simulator.block_allocated(memory, kBytes, a);
  SimulatedDevice::expect(device.driver.graph_launch(exec, a));
  device.expect_one(HazardKind::kGraph, Blame::kAllocator);
}

TEST_F(Captures, AReplayOfMemoryThatTheUserFreedIsTheUsersFault) {
  device.simulator.block_allocated(memory, kBytes, a);
  begin();
  device.launch(a, memory, kBytes, "captured");
  GraphExec exec = instantiate(end());
  SimulatedDevice::expect(device.driver.graph_launch(exec, a));
  device.expect_none();
  device.simulator.block_freed(memory, a);
  SimulatedDevice::expect(device.driver.graph_launch(exec, a));
  device.expect_one(HazardKind::kGraph, Blame::kUser);
}
}  // namespace
}  // namespace drey::cuda::sim
