// module_launcher.cpp: see module_launcher.hpp. SPDX-License-Identifier: MIT
#include "trainer/device/module_launcher.hpp"

#include <utility>

#include "trainer/device/device_code.hpp"
#include "trainer/device/host_kernels.hpp"

namespace drey::trainer {
namespace {
/// Machine code first. What runs none says so, and may know the host's functions: then it is simulated.
cuda::Result load(const cuda::DriverTable& driver, cuda::Module* module) {
  cuda::Result result = cuda::Result::kInvalidImage;
  if (!device_code().empty()) result = driver.module_load_data(module, device_code().data());
  if (result != cuda::Result::kInvalidImage) return result;
  return driver.module_load_data(module, &host_kernels());
}

/// What a driver answers to the host's functions, which to it are a text that is no program.
bool is_refusal(cuda::Result result) {
  return result == cuda::Result::kInvalidImage || result == cuda::Result::kInvalidProgram;
}
}  // namespace

ModuleLauncher::ModuleLauncher(const DriverSession& session) : driver_(&session.driver()) {
  if (driver_->module_load_data == nullptr || driver_->module_unload == nullptr ||
      driver_->module_get_function == nullptr || driver_->launch_kernel == nullptr) {
    throw DeviceError(session.option() + "the driver cannot load kernels");
  }
  const cuda::Result loaded = load(*driver_, &module_);
  if (is_refusal(loaded) && device_code().empty()) {
    throw DeviceError(session.option() +
                      "this build has no device kernels (build with the preset cuda, which needs "
                      "nvcc)");
  }
  session.check("cuModuleLoadData", loaded);
  for (std::size_t index = 0; index < functions_.size(); ++index) {
    const cuda::Result found =
        driver_->module_get_function(&functions_[index], module_, DeviceKernels::kNames[index]);
    if (found != cuda::Result::kSuccess) static_cast<void>(driver_->module_unload(module_));
    session.check("cuModuleGetFunction", found);
  }
}

ModuleLauncher::ModuleLauncher(ModuleLauncher&& other) noexcept
    : driver_(other.driver_),
      module_(std::exchange(other.module_, nullptr)),
      functions_(other.functions_) {}

ModuleLauncher::~ModuleLauncher() {
  // What fails here cannot be mended: the process is about to drop the device anyway.
  if (module_ != nullptr) static_cast<void>(driver_->module_unload(module_));
}
}  // namespace drey::trainer
