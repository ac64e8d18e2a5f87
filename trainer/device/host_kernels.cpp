// host_kernels.cpp: see host_kernels.hpp. SPDX-License-Identifier: MIT
#include "trainer/device/host_kernels.hpp"

#include "trainer/device/kernel_list.hpp"

namespace drey::trainer {
namespace {
template <class Kernel>
void run(const void* argument, std::uint32_t blocks) {
  run_on_host<Kernel>(*static_cast<const typename Kernel::Arguments*>(argument), blocks);
}

template <class Kernel>
void report_accesses(const void* argument, void* list, cuda::sim::ReportAccess report) {
  Kernel::accesses(*static_cast<const typename Kernel::Arguments*>(argument),
                   [&](const void* base, std::size_t bytes, bool is_write) {
                     report(list, base, bytes, is_write);
                   });
}

constexpr auto kKernels = DeviceKernels::each([]<class Kernel>() {
  return cuda::sim::HostKernel{Kernel::kName, sizeof(typename Kernel::Arguments), run<Kernel>,
                               report_accesses<Kernel>};
});
constexpr cuda::sim::HostModule kModule = {
    {"drey kernels on a host"}, kKernels.data(), kKernels.size()};
}  // namespace

const cuda::sim::HostModule& host_kernels() noexcept {
  return kModule;
}
}  // namespace drey::trainer
