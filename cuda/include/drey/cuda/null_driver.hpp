// null_driver.hpp: a driver of which every call succeeds at once and does nothing but hand out numbers:
// what an allocator costs the CPU by itself, without a driver and without the simulator's checks.
//
// Invariants: every entry of the table is set. Addresses, handles and ids are never handed out twice.
// All work is complete; nothing captures. Device memory cannot be read or written; host memory can.
// Read next: sim/simulator.hpp, which checks what this one takes on trust.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_table.hpp>

namespace drey::cuda {
/// One device of compute capability 9.0 with 2^40 bytes, all of them always free.
/// Threads: any. Cost: a few instructions a call; memory is the kernel's for mem_host_alloc only.
[[nodiscard]] const DriverTable& null_driver() noexcept;
}  // namespace drey::cuda
