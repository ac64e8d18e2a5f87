// pinned_fixture.hpp: a pinned cache on the simulated device, which is told of every block.
// Invariants: at the end there is no hazard, and the simulated driver has nothing left of the cache's.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/pinned_cache.hpp>

#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
class PinnedFixture {
 public:
  explicit PinnedFixture(const PinnedConfig& config = {}, const sim::Config& device_config = {})
      : device(device_config), before_(device.simulator.counts()) {
    expect_ok(cache.open(device.driver, config));
  }
  ~PinnedFixture() {
    EXPECT_TRUE(cache.invariants_hold());
    device.expect_none();
    EXPECT_TRUE(cache.close().is_ok());
    EXPECT_EQ(device.simulator.counts().host_allocations, before_.host_allocations);
    EXPECT_EQ(device.simulator.counts().host_bytes, before_.host_bytes);
    EXPECT_EQ(device.simulator.counts().events, before_.events + events_of_test);
  }
  PinnedFixture(const PinnedFixture&) = delete;
  PinnedFixture& operator=(const PinnedFixture&) = delete;

  static void expect_ok(const Outcome& outcome) {
    EXPECT_TRUE(outcome.is_ok()) << text_of(outcome.status) << ", driver "
                                 << static_cast<unsigned>(outcome.driver);
  }
  static DevicePointer number_of(const void* pointer) {
    return reinterpret_cast<DevicePointer>(pointer);
  }

  /// Allocates for the host, which writes all of it.
  void* allocate(std::size_t bytes) {
    const Allocation made = cache.try_allocate(bytes);
    expect_ok(made.outcome);
    if (made.pointer == nullptr) return nullptr;
    device.simulator.block_allocated(number_of(made.pointer), bytes, nullptr);
    device.simulator.host_access(made.pointer, bytes, "the host's first use");
    return made.pointer;
  }
  /// Allocates for a stream, whose work writes all of it.
  void* allocate(std::size_t bytes, Stream stream) {
    const Allocation made = cache.try_allocate(bytes, 512, stream);
    expect_ok(made.outcome);
    if (made.pointer == nullptr) return nullptr;
    device.simulator.block_allocated(number_of(made.pointer), bytes, stream);
    use(made.pointer, bytes, stream);
    return made.pointer;
  }
  void use(const void* pointer, std::size_t bytes, Stream stream) {
    device.launch(stream, number_of(pointer), bytes, "a copy");
  }
  void record(void* pointer, Stream stream) {
    device.simulator.block_used(number_of(pointer), stream, true);
    expect_ok(cache.record_use(pointer, stream));
  }
  void free(void* pointer) {
    device.simulator.block_freed(number_of(pointer));
    expect_ok(cache.try_deallocate(pointer));
  }
  void free(void* pointer, Stream stream) {
    device.simulator.block_freed(number_of(pointer), stream);
    expect_ok(cache.try_deallocate(pointer, stream));
  }
  [[nodiscard]] std::uint64_t calls(const char* name) {
    return device.simulator.faults().calls(name);
  }
  [[nodiscard]] std::uint64_t waits() {
    return calls("cuMemFreeHost") + calls("cuCtxSynchronize") + calls("cuEventSynchronize") +
           calls("cuStreamSynchronize");
  }

  sim::SimulatedDevice device;
  PinnedCache cache;
  std::size_t events_of_test = 0;  // the test's own, which are left

 private:
  sim::Counts before_;
};
}  // namespace drey::cuda
