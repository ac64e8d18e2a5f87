// simulated_device.cpp: a stream hazard, found without a GPU: a block goes from one stream to another and
// nothing makes the second wait for the first.
//
// Build: link drey::cuda_sim.
// SPDX-License-Identifier: MIT
#include <drey/cuda/sim/simulator.hpp>

#include <cstdio>
#include <cstdlib>

using drey::cuda::Context;
using drey::cuda::DevicePointer;
using drey::cuda::DriverTable;
using drey::cuda::Event;
using drey::cuda::kStreamNonBlocking;
using drey::cuda::Result;
using drey::cuda::Stream;
using drey::cuda::sim::Simulator;

namespace {
constexpr std::size_t kBytes = 1 << 20;

void check(Result result) {
  if (result == Result::kSuccess) return;
  std::fprintf(stderr, "driver: %s\n", name_of(Simulator::driver(), result));
  std::exit(EXIT_FAILURE);
}

// One block, used on one stream, freed, and given to another. Returns: hazards.
std::size_t hand_over(bool waits) {
  Simulator simulator;
  const DriverTable& driver = Simulator::driver();
  Context context = nullptr;
  check(driver.init(0));
  check(driver.device_primary_ctx_retain(&context, 0));
  check(driver.ctx_set_current(context));
  Stream first = nullptr;
  Stream second = nullptr;
  check(driver.stream_create_with_priority(&first, kStreamNonBlocking, 0));
  check(driver.stream_create_with_priority(&second, kStreamNonBlocking, 0));

  DevicePointer block = 0;
  check(driver.mem_alloc(&block, kBytes));
  simulator.block_allocated(block, kBytes, first);
  check(simulator.launch(first, {{block, kBytes, true}}, "produce"));
  simulator.block_freed(block, first);
  if (waits) {
    Event done = nullptr;
    check(driver.event_create(&done, 0));
    check(driver.event_record(done, first));
    check(driver.stream_wait_event(second, done, 0));
  }
  simulator.block_allocated(block, kBytes, second);
  check(simulator.launch(second, {{block, kBytes, true}}, "consume"));
  std::printf("%s: %zu hazards\n%s", waits ? "with a wait" : "without a wait",
              simulator.hazards().size(), simulator.report().c_str());
  return simulator.hazards().size();
}
}  // namespace

int main() {
  return hand_over(false) == 1 && hand_over(true) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
