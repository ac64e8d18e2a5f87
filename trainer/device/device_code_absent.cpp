// device_code_absent.cpp: a build without nvcc has no kernels for a device. SPDX-License-Identifier: MIT
#include "trainer/device/device_code.hpp"

namespace drey::trainer {
std::span<const std::byte> device_code() noexcept {
  return {};
}
}  // namespace drey::trainer
