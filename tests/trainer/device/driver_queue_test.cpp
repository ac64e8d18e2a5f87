// driver_queue_test.cpp: the device backend through a driver table, on the simulated device: its checker
// sees every piece of work that is not ordered after what it needs, and its counts what is not given back.
// Contents are not simulated here; device_backend_test.cpp compares those. SPDX-License-Identifier: MIT
#include "trainer/device/driver_queue.hpp"

#include <drey/cuda/sim/simulator.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "trainer/agent/basic_learner.hpp"
#include "trainer/device/device_backend.hpp"

namespace drey::trainer {
namespace {
using cuda::sim::Access;
using cuda::sim::Simulator;

/// Tells the simulator what a kernel uses. Does not run it.
struct SimulatedLauncher {
  Simulator* simulator = nullptr;

  template <class Kernel>
  cuda::Result launch(cuda::Stream stream, std::uint32_t blocks,
                      const typename Kernel::Arguments& arguments) {
    EXPECT_GT(blocks, 0u);
    std::vector<Access> accesses;
    Kernel::accesses(arguments, [&](const void* base, std::size_t bytes, bool is_write) {
      accesses.push_back({reinterpret_cast<std::uintptr_t>(base), bytes, is_write});
    });
    return simulator->launch(stream, accesses, "kernel");
  }
};
using Queue = DriverQueue<SimulatedLauncher>;
using Device = DeviceBackend<Queue>;

constexpr std::size_t kBatch = 16;
constexpr std::size_t kRows = 64;

/// A backend on a simulated device, and batches for it.
class DriverQueueTest : public ::testing::Test {
 protected:
  DriverQueueTest() : values_(kRows * kStride) {}

  [[nodiscard]] Device make_device() {
    const std::vector<std::size_t> widths = {kWidth, 24, 3};
    return Device({NetworkShape(widths, Head::kDueling), kBatch, Precision::kFloat, {}, 0, {}},
                  std::make_unique<Queue>(Simulator::driver(), SimulatedLauncher{&simulator_}));
  }
  void step(Device& device, bool is_fixed, bool is_whole) {
    device.gather(batch_, {values_.data(), kRows, kWidth, kStride, nullptr, is_fixed});
    if (is_whole) {
      device.whole_step(true, Loss::kHuber, terms(), {true, 0.1f});
      return;
    }
    device.forward(true);
    device.compute_loss(Loss::kHuber, terms());
    device.backward();
    device.update({true, 0.1f});
  }
  [[nodiscard]] BatchTerms terms() const { return {rewards_, rewards_, {}, actions_}; }
  [[nodiscard]] std::uint64_t calls(const char* name) { return simulator_.faults().calls(name); }

  static constexpr std::size_t kWidth = 10;
  static constexpr std::size_t kStride = 16;
  Simulator simulator_;
  AlignedArray<float> values_;
  std::vector<Transition> batch_ =
      std::vector<Transition>(kBatch, Transition{1, 2, 0.5f, 1, false});
  std::vector<float> rewards_ = std::vector<float>(kBatch, 0.5f);
  std::vector<Action> actions_ = std::vector<Action>(kBatch, Action{1});
};

TEST_F(DriverQueueTest, EveryStepIsOrderedAfterWhatItNeeds) {
  Device device = make_device();
  for (const bool is_whole : {false, true}) {
    for (const bool is_fixed : {false, true}) {
      for (int time = 0; time < 3; ++time) step(device, is_fixed, is_whole);
    }
  }
  static_cast<void>(device.values_of(values_.data()));
  EXPECT_TRUE(simulator_.hazards().empty()) << simulator_.report();
}

TEST_F(DriverQueueTest, AWholeStepIsOneLaunchOfAGraphAndOneWait) {
  Device device = make_device();
  step(device, true, true);
  const std::uint64_t launches = calls("cuGraphLaunch");
  const std::uint64_t waits = calls("cuStreamSynchronize");
  const std::uint64_t all = simulator_.faults().calls();
  for (int time = 0; time < 10; ++time) step(device, true, true);
  EXPECT_EQ(calls("cuGraphLaunch") - launches, 10u);
  EXPECT_EQ(calls("cuStreamSynchronize") - waits, 10u);
  EXPECT_EQ(simulator_.faults().calls() - all, 20u);
}

TEST_F(DriverQueueTest, LeavesNothingBehind) {
  const cuda::sim::Counts before = simulator_.counts();
  {
    Device device = make_device();
    step(device, true, true);
    step(device, false, true);
    step(device, false, false);
  }
  EXPECT_EQ(simulator_.counts(), before);
  EXPECT_TRUE(simulator_.hazards().empty()) << simulator_.report();
}

TEST_F(DriverQueueTest, ADriverCallThatFailsIsAnErrorThatNamesIt) {
  Device device = make_device();
  step(device, true, true);
  simulator_.faults().fail_nth("cuGraphLaunch", 1, cuda::Result::kIllegalAddress);
  try {
    step(device, true, true);
    FAIL() << "the call failed, and nobody said so";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("cuGraphLaunch"), std::string::npos) << error.what();
  }
}

TEST_F(DriverQueueTest, WhereverTheStartFailsNothingIsLeftBehind) {
  const cuda::sim::Counts before = simulator_.counts();
  const std::uint64_t calls_before = simulator_.faults().calls();
  std::uint64_t calls_of_start = 0;
  {
    const Device device = make_device();
    calls_of_start = simulator_.faults().calls() - calls_before;
  }
  ASSERT_GT(calls_of_start, 20u);
  for (std::uint64_t nth = 1; nth <= calls_of_start; ++nth) {
    simulator_.faults().fail_nth(nth, cuda::Result::kOutOfMemory);
    try {
      const Device device = make_device();  // some calls can do without what they asked for
    } catch (const DeviceError&) {
    }
    simulator_.faults().clear();
    ASSERT_EQ(simulator_.counts(), before) << "call " << nth << " of " << calls_of_start;
  }
}

TEST(DriverSession, SaysInOneLineThatThereIsNoDriver) {
  ::setenv("DREY_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
  try {
    const DriverSession session;
    FAIL() << "there is no such library";
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("/nowhere/libcuda.so"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
  ::unsetenv("DREY_CUDA_LIBRARY");
}
}  // namespace
}  // namespace drey::trainer
