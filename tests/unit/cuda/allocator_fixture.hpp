// allocator_fixture.hpp: a device allocator on the simulated device, which is told of every block; and the
// short forms that tests use.
// Invariants: at the end there is no hazard, and the simulated driver has nothing left of the allocator's.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/device_allocator.hpp>

#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace drey::cuda {
inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = kKiB * 1024;
inline constexpr std::uint64_t kPageBytes = 2 * kMiB;

inline sim::Config allocator_device(std::uint64_t pages = 512,
                                    sim::Schedule schedule = sim::Schedule::kNever) {
  sim::Config config;
  config.memory_bytes = pages * kPageBytes;
  config.schedule = schedule;
  return config;
}

class AllocatorFixture {
 public:
  explicit AllocatorFixture(const AllocatorConfig& config = {},
                            const sim::Config& device_config = allocator_device())
      : device(device_config), before_(device.simulator.counts()) {
    const Outcome opened = allocator.open(device.driver, config);
    EXPECT_TRUE(opened.is_ok()) << text_of(opened.status);
  }
  ~AllocatorFixture() {
    EXPECT_TRUE(allocator.invariants_hold());
    device.expect_none();
    const sim::Counts streams = device.simulator.counts();
    EXPECT_TRUE(allocator.close().is_ok());
    sim::Counts after = device.simulator.counts();
    EXPECT_EQ(after.physical_bytes, before_.physical_bytes);
    EXPECT_EQ(after.reservations, before_.reservations);
    EXPECT_EQ(after.handles, before_.handles);
    EXPECT_LE(after.events, streams.events);
  }
  AllocatorFixture(const AllocatorFixture&) = delete;
  AllocatorFixture& operator=(const AllocatorFixture&) = delete;

  static void expect_ok(const Outcome& outcome) {
    EXPECT_TRUE(outcome.is_ok()) << text_of(outcome.status) << ", driver "
                                 << static_cast<unsigned>(outcome.driver);
  }
  static DevicePointer number_of(const void* pointer) {
    return reinterpret_cast<DevicePointer>(pointer);
  }

  /// Allocates, tells the simulator, and lets work write all of it.
  void* allocate(std::size_t bytes, Stream stream = nullptr, std::size_t alignment = 256) {
    const Allocation made = allocator.try_allocate(bytes, alignment, stream);
    expect_ok(made.outcome);
    if (made.pointer == nullptr) return nullptr;
    device.simulator.block_allocated(number_of(made.pointer), bytes, stream);
    device.launch(stream, number_of(made.pointer), bytes, "first use");
    return made.pointer;
  }
  void free(void* pointer) {
    device.simulator.block_freed(number_of(pointer));
    expect_ok(allocator.try_deallocate(pointer));
  }
  void free(void* pointer, Stream stream) {
    device.simulator.block_freed(number_of(pointer), stream);
    expect_ok(allocator.try_deallocate(pointer, stream));
  }
  [[nodiscard]] std::uint64_t calls() { return device.simulator.faults().calls(); }
  [[nodiscard]] std::uint64_t calls(const char* name) {
    return device.simulator.faults().calls(name);
  }

  sim::SimulatedDevice device;
  DeviceAllocator allocator;

 private:
  sim::Counts before_;
};
}  // namespace drey::cuda
