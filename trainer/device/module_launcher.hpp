// module_launcher.hpp: the kernels of a module, launched through a driver table: nvcc's code on a device, the
// host's functions on the simulated one. Needs no CUDA runtime.
// Invariant: the module is loaded as long as this lives. Threads: that of the session.
// Read next: module_launcher.cpp, kernel_list.hpp, driver_queue.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "trainer/device/driver_session.hpp"
#include "trainer/device/kernel_list.hpp"

namespace drey::trainer {
/// Movable.
class ModuleLauncher {
 public:
  /// Requires: `session` outlives it. Fails: DeviceError where no kernels of this program run there.
  explicit ModuleLauncher(const DriverSession& session);
  ModuleLauncher(ModuleLauncher&& other) noexcept;
  ModuleLauncher& operator=(ModuleLauncher&&) = delete;
  ~ModuleLauncher();

  template <class Kernel>
  [[nodiscard]] cuda::Result launch(cuda::Stream stream, std::uint32_t blocks,
                                    const typename Kernel::Arguments& arguments) const {
    constexpr std::size_t kIndex = DeviceKernels::index_of<Kernel>();
    static_assert(kIndex < DeviceKernels::kCount);
    // The driver copies the argument and does not change it.
    void* parameter = const_cast<typename Kernel::Arguments*>(&arguments);
    return driver_->launch_kernel(functions_[kIndex], blocks, 1, 1, Kernel::kThreads, 1, 1, 0,
                                  stream, &parameter, nullptr);
  }

 private:
  const cuda::DriverTable* driver_;
  cuda::Module module_ = nullptr;
  std::array<cuda::Function, DeviceKernels::kCount> functions_{};
};
}  // namespace drey::trainer
