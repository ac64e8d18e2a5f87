// device_kernels.cu: the kernels as a device runs them: the same functions as on the host, phase by phase, with
// a barrier between. Compiled to an image that the program carries (device_code.hpp); no CUDA runtime.
// Invariant: a function for each kernel of kernel_list.hpp, by its name.
// Read next: kernel_body.hpp, module_launcher.hpp. SPDX-License-Identifier: MIT
#include "trainer/device/kernel_list.hpp"

namespace drey::trainer {
namespace {
template <class Kernel>
__device__ void run_on_device(const typename Kernel::Arguments& arguments) {
  __shared__ typename Kernel::Shared shared;
  typename Kernel::Registers registers{};
  const Place place{blockIdx.x, threadIdx.x};
  const std::uint32_t phases = Kernel::phase_count(arguments);
  for (std::uint32_t phase = 0; phase < phases; ++phase) {
    if (phase > 0) __syncthreads();
    Kernel::run(arguments, place, shared, registers, phase);
  }
}
}  // namespace
}  // namespace drey::trainer

using namespace drey::trainer;

extern "C" {
__global__ void __launch_bounds__(ProductKernel::kThreads)
    drey_product(const __grid_constant__ ProductKernel::Arguments arguments) {
  run_on_device<ProductKernel>(arguments);
}
__global__ void __launch_bounds__(GatherKernel::kThreads)
    drey_gather(const __grid_constant__ GatherKernel::Arguments arguments) {
  run_on_device<GatherKernel>(arguments);
}
__global__ void __launch_bounds__(JoinKernel::kThreads)
    drey_join(const __grid_constant__ JoinKernel::Arguments arguments) {
  run_on_device<JoinKernel>(arguments);
}
__global__ void __launch_bounds__(SplitKernel::kThreads)
    drey_split(const __grid_constant__ SplitKernel::Arguments arguments) {
  run_on_device<SplitKernel>(arguments);
}
__global__ void __launch_bounds__(RowSumsKernel::kThreads)
    drey_row_sums(const __grid_constant__ RowSumsKernel::Arguments arguments) {
  run_on_device<RowSumsKernel>(arguments);
}
__global__ void __launch_bounds__(LossKernel::kThreads)
    drey_loss(const __grid_constant__ LossKernel::Arguments arguments) {
  run_on_device<LossKernel>(arguments);
}
__global__ void __launch_bounds__(NormKernel::kThreads)
    drey_norm(const __grid_constant__ NormKernel::Arguments arguments) {
  run_on_device<NormKernel>(arguments);
}
__global__ void __launch_bounds__(AdamKernel::kThreads)
    drey_adam(const __grid_constant__ AdamKernel::Arguments arguments) {
  run_on_device<AdamKernel>(arguments);
}
}
