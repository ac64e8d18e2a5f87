// allocator_fault_test.cpp: driver calls that fail under the device allocator, each of a whole program in turn.
// SPDX-License-Identifier: MIT
#include "unit/cuda/allocator_fixture.hpp"

#include <cstdint>
#include <functional>

namespace drey::cuda {
namespace {
// Every driver call of a program of all kinds of calls fails, one in each run. Then the call that made it
// says so or does without, and goes through when it is tried again; nothing is lost.
class FailingProgram {
 public:
  explicit FailingProgram(std::uint64_t failing) : device(allocator_device(24)) {
    AllocatorConfig config;
    config.pages_of_large = failing % 2 == 0 ? 1 : 16;
    const sim::Counts before = device.simulator.counts();
    if (failing != 0) device.simulator.faults().fail_nth(failing, Result::kUnknown);
    const std::uint64_t first = device.simulator.faults().calls();
    try_twice([&] { return allocator.open(table, config); });
    run();
    try_twice([&] { return allocator.close(); });
    calls = device.simulator.faults().calls() - first;
    device.simulator.faults().clear();
    const sim::Counts after = device.simulator.counts();
    EXPECT_EQ(after.physical_bytes, before.physical_bytes) << failing;
    EXPECT_EQ(after.reservations, before.reservations) << failing;
    EXPECT_EQ(after.events, before.events) << failing;
    EXPECT_EQ(device.simulator.report(), "") << failing;
  }

  std::uint64_t calls = 0;

 private:
  void try_twice(const std::function<Outcome()>& call) {
    if (call().is_ok()) return;
    const Outcome second = call();
    EXPECT_TRUE(second.is_ok()) << text_of(second.status);
  }
  void* allocate(std::size_t bytes, Stream stream) {
    Allocation made;
    try_twice([&] {
      made = allocator.try_allocate(bytes, 256, stream);
      return made.outcome;
    });
    EXPECT_TRUE(allocator.invariants_hold());
    device.simulator.block_allocated(reinterpret_cast<DevicePointer>(made.pointer), bytes, stream);
    return made.pointer;
  }
  void free(void* pointer) {
    device.simulator.block_freed(reinterpret_cast<DevicePointer>(pointer));
    try_twice([&] { return allocator.try_deallocate(pointer); });
  }

  void run() {
    Stream streams[2] = {};
    for (Stream& stream : streams) {
      while (table.stream_create_with_priority(&stream, kStreamNonBlocking, 0) !=
             Result::kSuccess) {
      }
    }
    void* const small = allocate(1000, streams[0]);
    free(allocate(20 * kMiB, streams[0]));
    free(allocate(5000, streams[1]));
    void* const large = allocate(30 * kMiB, streams[1]);  // waits, moves
    try_twice([&] { return allocator.record_use(large, streams[0]); });
    free(large);
    try_twice([&] { return allocator.trim_to(30 * kMiB); });
    free(allocate(40 * kMiB, streams[0]));
    try_twice([&] { return allocator.sleep(); });
    device.simulator.forget_hazards();  // live blocks lose their memory
    try_twice([&] { return allocator.wake(); });
    try_twice([&] { return allocator.try_deallocate(small); });
    try_twice([&] { return allocator.stream_retired(streams[1]); });
    for (Stream& stream : streams) {
      while (table.stream_destroy(stream) != Result::kSuccess) {
      }
    }
  }

  sim::SimulatedDevice device;
  const DriverTable& table = sim::Simulator::driver();
  DeviceAllocator allocator;
};

TEST(AllocatorFaults, AnyDriverCallMayFail) {
  const std::uint64_t calls = FailingProgram(0).calls;
  EXPECT_GT(calls, 60U);
  for (std::uint64_t failing = 1; failing <= calls + 4; ++failing) {
    const FailingProgram program(failing);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "call " << failing << " failed";
  }
}
}  // namespace
}  // namespace drey::cuda
