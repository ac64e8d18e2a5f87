// kernel_list.hpp: all kernels, in one list: what a module holds, and where a launcher finds each.
// Read next: module_launcher.hpp, host_kernels.cpp, device_kernels.cu. SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "trainer/device/layer_kernels.hpp"
#include "trainer/device/loss_kernels.hpp"
#include "trainer/device/product_kernel.hpp"
#include "trainer/device/update_kernels.hpp"

namespace drey::trainer {
template <class... Kernels>
struct KernelList {
  static constexpr std::size_t kCount = sizeof...(Kernels);
  static constexpr std::array<const char*, kCount> kNames = {Kernels::kName...};

  /// kCount for what is not in the list.
  template <class Kernel>
  [[nodiscard]] static constexpr std::size_t index_of() {
    constexpr std::array<bool, kCount> kIsThis = {std::is_same_v<Kernel, Kernels>...};
    std::size_t index = 0;
    while (index < kCount && !kIsThis[index]) ++index;
    return index;
  }

  /// make.operator()<Kernel>() of each, in order.
  template <class Make>
  [[nodiscard]] static constexpr auto each(Make make) {
    return std::array{make.template operator()<Kernels>()...};
  }
};

using DeviceKernels = KernelList<ProductKernel, GatherKernel, JoinKernel, SplitKernel,
                                 RowSumsKernel, LossKernel, NormKernel, AdamKernel>;
}  // namespace drey::trainer
