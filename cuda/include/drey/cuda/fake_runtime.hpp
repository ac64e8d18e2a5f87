// fake_runtime.hpp: enough of the CUDA runtime's interface, on any driver table, that host code written for
// it links and runs without a GPU: libraries of others can be raced and checked for hazards.
//
// Invariant: a call of the runtime is one call of the driver, but for the context's first use of a device,
// so that counts and times are those of the code under test.
// Read next: fake_runtime/fake_runtime.cpp; cuda/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_table.hpp>

namespace drey::cuda {
/// The driver that the runtime's functions call from now on; all threads begin at device 0 again.
/// Requires: the table stays. Threads: no other call. Fails: as cuInit and the primary context.
[[nodiscard]] Result use_fake_runtime(const DriverTable& driver) noexcept;

/// Called at the beginning of each cudaEventRecord: where a thread may be stopped. Null: nothing.
/// Threads: no other call.
void set_before_event_record(void (*function)(void* context), void* context) noexcept;
}  // namespace drey::cuda
