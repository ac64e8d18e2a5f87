// host_module.hpp: what the simulated driver takes as a module: kernels as functions of the host. A device's
// driver refuses it as no image, so a program may offer it after its own. A launch is checked by what the
// kernel says it uses; its work is done at once, or at each launch of the graph that it was captured to.
// Invariant: plain data, valid as long as the module is loaded. Needs Config::has_contents.
// Read next: simulator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey::cuda::sim {
/// Called for each range of memory that a kernel uses.
using ReportAccess = void (*)(void* list, const void* base, std::size_t bytes, bool is_write);

/// A kernel of one argument, which is copied at the launch.
struct HostKernel {
  const char* name;
  std::size_t argument_bytes;
  void (*run)(const void* argument, std::uint32_t blocks);
  void (*accesses)(const void* argument, void* list, ReportAccess report);
};

struct HostModule {
  static constexpr char kMagic[24] = "drey kernels on a host";

  char magic[24];  ///< ends with NUL: to a driver that reads text, it is all there is
  const HostKernel* kernels;
  std::size_t kernel_count;
};
}  // namespace drey::cuda::sim
