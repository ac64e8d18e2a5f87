// simulated_device.hpp: a simulator with its context current, and the short forms that tests use.
// Invariant: every driver call in here must succeed; tests of failures call the driver themselves.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/sim/simulator.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>

namespace drey::cuda::sim {
class SimulatedDevice {
 public:
  explicit SimulatedDevice(const Config& config = {})
      : own_(std::make_unique<Simulator>(config)), simulator(*own_) {
    start();
  }
  /// Of a simulator that is there: explore()'s.
  explicit SimulatedDevice(Simulator& existing) : simulator(existing) { start(); }
  ~SimulatedDevice() { static_cast<void>(driver.ctx_set_current(nullptr)); }
  SimulatedDevice(const SimulatedDevice&) = delete;
  SimulatedDevice& operator=(const SimulatedDevice&) = delete;

  static void expect(Result result) {
    EXPECT_EQ(result, Result::kSuccess) << name_of(Simulator::driver(), result);
  }

  Stream new_stream(unsigned flags = kStreamNonBlocking) const {
    Stream stream = nullptr;
    expect(driver.stream_create_with_priority(&stream, flags, 0));
    return stream;
  }
  Event new_event() const {
    Event event = nullptr;
    expect(driver.event_create(&event, kEventDisableTiming));
    return event;
  }
  DevicePointer new_memory(std::size_t bytes) const {
    DevicePointer memory = 0;
    expect(driver.mem_alloc(&memory, bytes));
    return memory;
  }
  void launch(Stream stream, DevicePointer base, std::size_t bytes, const char* label) {
    expect(simulator.launch(stream, {{base, bytes, true}}, label));
  }
  void record(Event event, Stream stream) const { expect(driver.event_record(event, stream)); }
  void wait(Stream stream, Event event) const {
    expect(driver.stream_wait_event(stream, event, 0));
  }

  /// The one hazard that is expected.
  void expect_one(HazardKind kind, Blame blame) {
    ASSERT_EQ(simulator.hazards().size(), 1U) << simulator.report();
    EXPECT_EQ(simulator.hazards()[0].kind, kind) << simulator.report();
    EXPECT_EQ(simulator.hazards()[0].blame, blame) << simulator.report();
    simulator.forget_hazards();
  }
  void expect_none() { EXPECT_TRUE(simulator.hazards().empty()) << simulator.report(); }

 private:
  void start() {
    expect(driver.init(0));
    expect(driver.device_primary_ctx_retain(&context, 0));
    expect(driver.ctx_set_current(context));
  }

  std::unique_ptr<Simulator> own_;

 public:
  Simulator& simulator;
  const DriverTable& driver = Simulator::driver();
  Context context = nullptr;
};
}  // namespace drey::cuda::sim
