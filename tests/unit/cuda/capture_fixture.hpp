// capture_fixture.hpp: an allocator on the simulated device with two streams, and the short forms for captures.
// Invariants: those of AllocatorFixture.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/capture_scope.hpp>

#include "unit/cuda/allocator_fixture.hpp"

namespace drey::cuda {
class CaptureFixture : public AllocatorFixture {
 public:
  explicit CaptureFixture(const AllocatorConfig& config = {},
                          const sim::Config& device_config = allocator_device())
      : AllocatorFixture(config, device_config) {}

  [[nodiscard]] PoolId new_pool(bool is_for_oom = false) {
    PoolId pool;
    expect_ok(allocator.create_pool(&pool, is_for_oom));
    return pool;
  }
  /// Allocates in a capture and lets captured work write all of it.
  void* captured(std::size_t bytes, Stream stream, PoolId pool) {
    const Allocation made = allocator.try_allocate(bytes, 256, stream);
    expect_ok(made.outcome);
    if (made.pointer == nullptr) return nullptr;
    device.simulator.block_allocated(number_of(made.pointer), bytes, stream, pool.value);
    device.launch(stream, number_of(made.pointer), bytes, "captured");
    return made.pointer;
  }
  void begin(CaptureScope& scope, Stream stream, PoolId pool) {
    expect_ok(scope.begin(stream, CaptureMode::kGlobal, pool));
  }
  GraphExec end(CaptureScope& scope) {
    Graph graph = nullptr;
    expect_ok(scope.end(&graph));
    GraphExec exec = nullptr;
    device.expect(device.driver.graph_instantiate_with_flags(&exec, graph, 0));
    device.expect(device.driver.graph_destroy(graph));
    return exec;
  }
  void replay(GraphExec exec, Stream stream) {
    device.expect(device.driver.graph_launch(exec, stream));
  }
  /// `waiter` comes after what is in `waited`, captured or not.
  void order(Stream waited, Stream waiter) {
    device.record(event, waited);
    device.wait(waiter, event);
  }
  [[nodiscard]] std::uint64_t held() {
    return static_cast<std::uint64_t>(allocator.statistics().reserved_bytes.current);
  }
  /// Everything idle to the driver.
  std::uint64_t held_after_trim() {
    device.expect(device.driver.ctx_synchronize());
    expect_ok(allocator.trim_to(0));
    return held();
  }

  Stream a = device.new_stream();
  Stream b = device.new_stream();
  Event event = device.new_event();
};
}  // namespace drey::cuda
