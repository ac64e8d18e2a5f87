// host_kernels.hpp: the kernels as a module of the host, which the simulated driver runs: the same program,
// the same launches, without a device. Read next: drey/cuda/sim/host_module.hpp, kernel_body.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/sim/host_module.hpp>

namespace drey::trainer {
/// Valid as long as the program runs.
[[nodiscard]] const cuda::sim::HostModule& host_kernels() noexcept;
}  // namespace drey::trainer
