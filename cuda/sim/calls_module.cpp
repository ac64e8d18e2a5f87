// calls_module.cpp: modules and kernels of the simulated driver: functions of the host (host_module.hpp).
// SPDX-License-Identifier: MIT
#include "sim/calls.hpp"

#include <cstddef>
#include <cstring>

namespace drey::cuda::sim {
namespace {
const HostModule* host_module_of(const void* image) {
  if (image == nullptr || std::memcmp(image, HostModule::kMagic, sizeof(HostModule::kMagic)) != 0)
    return nullptr;
  return static_cast<const HostModule*>(image);
}

Result module_load_data(Module* module, const void* image) {
  return call_outside_capture("cuModuleLoadData", 0, [&](Machine& machine) {
    if (machine.current_device() < 0) return Result::kInvalidContext;
    const HostModule* const found = host_module_of(image);
    // Without contents nothing can run: to such a device the functions are as foreign as to a real one.
    if (found == nullptr || !machine.config.has_contents) return Result::kInvalidImage;
    *module = machine.modules.add(std::make_shared<ModuleState>(ModuleState{found, {}}));
    return Result::kSuccess;
  });
}

Result module_unload(Module module) {
  return call_outside_capture("cuModuleUnload", 0, [&](Machine& machine) {
    const ModuleState* const state = machine.modules.find(module);
    if (state == nullptr) return Result::kInvalidHandle;
    for (Function function : state->functions) machine.functions.erase(function);
    machine.modules.erase(module);
    return Result::kSuccess;
  });
}

Result module_get_function(Function* function, Module module, const char* name) {
  return call("cuModuleGetFunction", [&](Machine& machine) {
    ModuleState* const state = machine.modules.find(module);
    if (state == nullptr) return Result::kInvalidHandle;
    for (std::size_t index = 0; index < state->module->kernel_count; ++index) {
      const HostKernel& kernel = state->module->kernels[index];
      if (std::strcmp(kernel.name, name) != 0) continue;
      *function = machine.functions.add(std::make_shared<HostKernel>(kernel));
      state->functions.push_back(*function);
      return Result::kSuccess;
    }
    return Result::kNotFound;
  });
}

Result launch_kernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z,
                     unsigned /*shared_bytes*/, Stream handle, void** parameters, void** extra) {
  return stream_call("cuLaunchKernel", handle, [&](Machine& machine, StreamState& stream) {
    const HostKernel* const found = machine.functions.find(function);
    if (found == nullptr) return Result::kInvalidHandle;
    const bool is_flat = grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1;
    if (!is_flat || grid_x == 0 || block_x == 0 || parameters == nullptr || extra != nullptr)
      return Result::kInvalidValue;
    const auto* const bytes = static_cast<const std::byte*>(parameters[0]);
    std::vector<std::byte> argument(bytes, bytes + found->argument_bytes);
    std::vector<Access> accesses;
    found->accesses(argument.data(), &accesses,
                    [](void* list, const void* base, std::size_t size, bool is_write) {
                      static_cast<std::vector<Access>*>(list)->push_back(
                          {reinterpret_cast<DevicePointer>(base), size, is_write});
                    });
    const HostKernel kernel = *found;
    const Device device = stream.device;
    return machine.submit(stream, accesses, kernel.name,
                          [&memory = machine.memory, kernel, grid_x, device, accesses,
                           argument = std::move(argument)] {
                            // What cannot be reached is a hazard, reported by now, and not touched.
                            for (const Access& access : accesses) {
                              if (memory.is_device_address(access.base) &&
                                  memory.reach(access, device) != Reach::kMemory)
                                return;
                            }
                            kernel.run(argument.data(), grid_x);
                          });
  });
}
}  // namespace

void set_module_calls(DriverTable& table) noexcept {
  table.module_load_data = module_load_data;
  table.module_unload = module_unload;
  table.module_get_function = module_get_function;
  table.launch_kernel = launch_kernel;
}
}  // namespace drey::cuda::sim
