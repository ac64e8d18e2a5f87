// sim_module_test.cpp: a kernel of the host on the simulated device does its work when it is launched, and
// again at each launch of the graph it was captured to, and is checked by what it says it uses.
// SPDX-License-Identifier: MIT
#include "unit/cuda/simulated_device.hpp"

#include <drey/cuda/sim/host_module.hpp>

#include <gtest/gtest.h>

namespace drey::cuda::sim {
namespace {
/// Adds 1 to a number for each block.
struct Counting {
  int* number;
};
constexpr HostKernel kCounting = {
    "count", sizeof(Counting),
    [](const void* argument, std::uint32_t blocks) {
      *static_cast<const Counting*>(argument)->number += static_cast<int>(blocks);
    },
    [](const void* argument, void* list, ReportAccess report) {
      report(list, static_cast<const Counting*>(argument)->number, sizeof(int), true);
    }};
constexpr HostModule kImage = {{"drey kernels on a host"}, &kCounting, 1};

Config with_contents(bool has_contents) {
  Config config;
  config.has_contents = has_contents;
  config.address_space_bytes = std::uint64_t{1} << 32;
  return config;
}

class SimModule : public ::testing::Test {
 protected:
  void load() {
    SimulatedDevice::expect(device_.driver.module_load_data(&module_, &kImage));
    SimulatedDevice::expect(device_.driver.module_get_function(&function_, module_, "count"));
  }
  Result launch(Stream stream, unsigned blocks, int* number) const {
    Counting argument{number};
    void* parameters[] = {&argument};
    return device_.driver.launch_kernel(function_, blocks, 1, 1, 32, 1, 1, 0, stream, parameters,
                                        nullptr);
  }
  [[nodiscard]] int* new_number() {
    return reinterpret_cast<int*>(device_.new_memory(sizeof(int)));  // of this process
  }

  SimulatedDevice device_{with_contents(true)};
  Module module_ = nullptr;
  Function function_ = nullptr;
};

TEST_F(SimModule, RunsAKernelOnceForEachLaunch) {
  load();
  Stream stream = device_.new_stream();
  int* const number = new_number();
  EXPECT_EQ(launch(stream, 3, number), Result::kSuccess);
  EXPECT_EQ(launch(stream, 4, number), Result::kSuccess);
  EXPECT_EQ(*number, 7);
  EXPECT_EQ(device_.simulator.faults().calls("cuLaunchKernel"), 2U);
  device_.expect_none();
}

TEST_F(SimModule, RunsACapturedKernelAtEachLaunchOfItsGraphAndNotBefore) {
  load();
  const DriverTable& driver = device_.driver;
  Stream stream = device_.new_stream();
  int* const number = new_number();
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  SimulatedDevice::expect(driver.stream_begin_capture(stream, CaptureMode::kThreadLocal));
  EXPECT_EQ(launch(stream, 5, number), Result::kSuccess);
  SimulatedDevice::expect(
      driver.memset_d8_async(reinterpret_cast<DevicePointer>(number) + 3, 1, 1, stream));
  SimulatedDevice::expect(driver.stream_end_capture(stream, &graph));
  SimulatedDevice::expect(driver.graph_instantiate_with_flags(&exec, graph, 0));
  EXPECT_EQ(*number, 0);
  SimulatedDevice::expect(driver.graph_launch(exec, stream));
  EXPECT_EQ(*number, (1 << 24) + 5);
  SimulatedDevice::expect(driver.graph_launch(exec, stream));
  EXPECT_EQ(*number, (1 << 24) + 10);
  device_.expect_none();
}

TEST_F(SimModule, DoesNotTouchWhatAKernelCannotReach) {
  load();
  DevicePointer bare = 0;
  SimulatedDevice::expect(device_.driver.mem_address_reserve(&bare, std::size_t{2} << 20, 0, 0, 0));
  EXPECT_EQ(launch(device_.new_stream(), 1, reinterpret_cast<int*>(bare)), Result::kSuccess);
  device_.expect_one(HazardKind::kUnmapped, Blame::kUser);
}

TEST_F(SimModule, RefusesWhatIsNoModuleOfTheHostOrHasNoSuchKernel) {
  const char elf[64] = "\177ELF";
  EXPECT_EQ(device_.driver.module_load_data(&module_, elf), Result::kInvalidImage);
  load();
  Function other = nullptr;
  EXPECT_EQ(device_.driver.module_get_function(&other, module_, "counts"), Result::kNotFound);
  SimulatedDevice::expect(device_.driver.module_unload(module_));
  EXPECT_EQ(launch(device_.new_stream(), 1, nullptr), Result::kInvalidHandle);
  EXPECT_EQ(device_.driver.module_unload(module_), Result::kInvalidHandle);
  EXPECT_EQ(device_.simulator.counts().modules, 0U);
}

TEST_F(SimModule, EachCallCanBeMadeToFailAndHasThenDoneNothing) {
  load();
  Faults& faults = device_.simulator.faults();
  Stream stream = device_.new_stream();
  int* const number = new_number();
  const Counts before = device_.simulator.counts();
  const auto fail_next = [&](const char* name) { faults.fail_nth(name, 1, Result::kNotPermitted); };
  Module module = nullptr;
  Function function = nullptr;
  fail_next("cuModuleLoadData");
  EXPECT_EQ(device_.driver.module_load_data(&module, &kImage), Result::kNotPermitted);
  fail_next("cuModuleGetFunction");
  EXPECT_EQ(device_.driver.module_get_function(&function, module_, "count"), Result::kNotPermitted);
  fail_next("cuLaunchKernel");
  EXPECT_EQ(launch(stream, 1, number), Result::kNotPermitted);
  fail_next("cuModuleUnload");
  EXPECT_EQ(device_.driver.module_unload(module_), Result::kNotPermitted);
  EXPECT_EQ(device_.simulator.counts(), before);
  EXPECT_EQ(*number, 0);
  EXPECT_EQ(launch(stream, 1, number), Result::kSuccess);
  EXPECT_EQ(*number, 1);
}

TEST(SimModules, NeedContents) {
  SimulatedDevice device{with_contents(false)};
  Module module = nullptr;
  EXPECT_EQ(device.driver.module_load_data(&module, &kImage), Result::kInvalidImage);
}
}  // namespace
}  // namespace drey::cuda::sim
