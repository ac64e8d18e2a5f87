// device_code.hpp: the kernels as nvcc compiled them, bytes within the program: machine code for the devices
// that the build was told, and PTX for those that come after. Read next: device_kernels.cu, CMakeLists.txt.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace drey::trainer {
/// For cuModuleLoadData. Empty: the program was built without nvcc.
[[nodiscard]] std::span<const std::byte> device_code() noexcept;
}  // namespace drey::trainer
