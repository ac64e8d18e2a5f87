// calls_context.cpp: start, devices and contexts of the simulated driver.
// Only primary contexts exist, as for any program of the CUDA runtime. When the last reference to
// one is released, its streams, events and allocations are gone.
// SPDX-License-Identifier: MIT
#include "sim/calls.hpp"

#include <array>

namespace drey::cuda::sim {
namespace {
struct ResultName {
  Result result;
  const char* name;
};
constexpr std::array<ResultName, 28> kResultNames{{
    {Result::kSuccess, "CUDA_SUCCESS"},
    {Result::kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
    {Result::kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {Result::kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
    {Result::kDeinitialized, "CUDA_ERROR_DEINITIALIZED"},
    {Result::kNoDevice, "CUDA_ERROR_NO_DEVICE"},
    {Result::kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
    {Result::kInvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
    {Result::kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
    {Result::kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
    {Result::kIllegalState, "CUDA_ERROR_ILLEGAL_STATE"},
    {Result::kNotFound, "CUDA_ERROR_NOT_FOUND"},
    {Result::kNotReady, "CUDA_ERROR_NOT_READY"},
    {Result::kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {Result::kHostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {Result::kHostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
    {Result::kNotPermitted, "CUDA_ERROR_NOT_PERMITTED"},
    {Result::kNotSupported, "CUDA_ERROR_NOT_SUPPORTED"},
    {Result::kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {Result::kCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {Result::kCaptureMerge, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    {Result::kCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {Result::kCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    {Result::kCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {Result::kCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {Result::kCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT"},
    {Result::kCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    {Result::kUnknown, "CUDA_ERROR_UNKNOWN"},
}};

bool is_device(const Machine& machine, Device device) {
  return device >= 0 && device < machine.config.device_count;
}

Result init(unsigned flags) {
  Machine* const machine = Machine::installed();
  if (machine == nullptr) return Result::kDeinitialized;
  const std::lock_guard guard(machine->lock);
  const Result fault = machine->faults.next("cuInit", 0, -1);
  if (fault != Result::kSuccess) return fault;
  if (flags != 0) return Result::kInvalidValue;
  machine->is_initialised = true;
  return machine->config.device_count == 0 ? Result::kNoDevice : Result::kSuccess;
}

Result driver_get_version(int* version) {
  const Machine* const machine = Machine::installed();
  if (version == nullptr) return Result::kInvalidValue;
  if (machine == nullptr) return Result::kDeinitialized;
  *version = machine->config.driver_version;
  return Result::kSuccess;
}

Result get_error_name(Result result, const char** name) {
  for (const ResultName& known : kResultNames) {
    if (known.result != result) continue;
    *name = known.name;
    return Result::kSuccess;
  }
  *name = nullptr;
  return Result::kInvalidValue;
}

Result device_get_count(int* count) {
  return call("cuDeviceGetCount", [&](Machine& machine) {
    *count = machine.config.device_count;
    return Result::kSuccess;
  });
}

Result device_get(Device* device, int ordinal) {
  return call("cuDeviceGet", [&](Machine& machine) {
    if (!is_device(machine, ordinal)) return Result::kInvalidDevice;
    *device = ordinal;
    return Result::kSuccess;
  });
}

Result device_get_attribute(int* value, DeviceAttribute attribute, Device device) {
  return call("cuDeviceGetAttribute", [&](Machine& machine) {
    if (!is_device(machine, device)) return Result::kInvalidDevice;
    switch (attribute) {
      case DeviceAttribute::kUnifiedAddressing:
        *value = 1;
        return Result::kSuccess;
      case DeviceAttribute::kComputeCapabilityMajor:
        *value = 9;
        return Result::kSuccess;
      case DeviceAttribute::kVirtualMemory:
        *value = machine.config.has_virtual_memory ? 1 : 0;
        return Result::kSuccess;
      case DeviceAttribute::kMemoryPools:
        *value = 1;
        return Result::kSuccess;
      case DeviceAttribute::kPosixFileDescriptors:
        *value = machine.config.has_file_descriptors ? 1 : 0;
        return Result::kSuccess;
      case DeviceAttribute::kComputeCapabilityMinor:
      case DeviceAttribute::kDirectRdmaWithVirtualMemory:
        *value = 0;
        return Result::kSuccess;
    }
    return Result::kInvalidValue;
  });
}

Result device_total_mem(std::size_t* bytes, Device device) {
  return call("cuDeviceTotalMem", [&](Machine& machine) {
    if (!is_device(machine, device)) return Result::kInvalidDevice;
    *bytes = machine.config.memory_bytes;
    return Result::kSuccess;
  });
}

Result device_can_access_peer(int* can, Device device, Device peer) {
  return call("cuDeviceCanAccessPeer", [&](Machine& machine) {
    if (!is_device(machine, device) || !is_device(machine, peer)) return Result::kInvalidDevice;
    *can = device != peer ? 1 : 0;
    return Result::kSuccess;
  });
}

Result device_primary_ctx_retain(Context* context, Device device) {
  return call("cuDevicePrimaryCtxRetain", [&](Machine& machine) {
    if (!is_device(machine, device)) return Result::kInvalidDevice;
    ++machine.devices[static_cast<std::size_t>(device)].context_references;
    *context = Machine::context_of(device);
    return Result::kSuccess;
  });
}

Result device_primary_ctx_release(Device device) {
  return call("cuDevicePrimaryCtxRelease", [&](Machine& machine) {
    if (!is_device(machine, device)) return Result::kInvalidDevice;
    std::size_t& references = machine.devices[static_cast<std::size_t>(device)].context_references;
    if (references == 0) return Result::kInvalidContext;
    if (--references == 0) machine.reset(device);
    return Result::kSuccess;
  });
}

Result ctx_get_current(Context* context) {
  return call("cuCtxGetCurrent", [&](Machine& machine) {
    const ThreadState& thread = machine.thread();
    *context = thread.contexts.empty() ? nullptr : thread.contexts.back();
    return Result::kSuccess;
  });
}

Result ctx_set_current(Context context) {
  return call("cuCtxSetCurrent", [&](Machine& machine) {
    if (context != nullptr && machine.device_of(context) < 0) return Result::kInvalidContext;
    std::vector<Context>& contexts = machine.thread().contexts;
    if (!contexts.empty()) contexts.pop_back();
    if (context != nullptr) contexts.push_back(context);
    return Result::kSuccess;
  });
}

Result ctx_push_current(Context context) {
  return call("cuCtxPushCurrent", [&](Machine& machine) {
    if (machine.device_of(context) < 0) return Result::kInvalidContext;
    machine.thread().contexts.push_back(context);
    return Result::kSuccess;
  });
}

Result ctx_pop_current(Context* context) {
  return call("cuCtxPopCurrent", [&](Machine& machine) {
    std::vector<Context>& contexts = machine.thread().contexts;
    if (contexts.empty()) return Result::kInvalidContext;
    if (context != nullptr) *context = contexts.back();
    contexts.pop_back();
    return Result::kSuccess;
  });
}

Result ctx_get_device(Device* device) {
  return call("cuCtxGetDevice", [&](Machine& machine) {
    const Device current = machine.current_device();
    if (current < 0) return Result::kInvalidContext;
    *device = current;
    return Result::kSuccess;
  });
}

Result ctx_synchronize() {
  return call_outside_capture("cuCtxSynchronize", 0, [](Machine& machine) {
    const Device device = machine.current_device();
    if (device < 0) return Result::kInvalidContext;
    machine.wait_for_device(device);
    return Result::kSuccess;
  });
}
}  // namespace

void set_context_calls(DriverTable& table) noexcept {
  table.init = init;
  table.driver_get_version = driver_get_version;
  table.get_error_name = get_error_name;
  table.device_get_count = device_get_count;
  table.device_get = device_get;
  table.device_get_attribute = device_get_attribute;
  table.device_total_mem = device_total_mem;
  table.device_can_access_peer = device_can_access_peer;
  table.device_primary_ctx_retain = device_primary_ctx_retain;
  table.device_primary_ctx_release = device_primary_ctx_release;
  table.ctx_get_current = ctx_get_current;
  table.ctx_set_current = ctx_set_current;
  table.ctx_push_current = ctx_push_current;
  table.ctx_pop_current = ctx_pop_current;
  table.ctx_get_device = ctx_get_device;
  table.ctx_synchronize = ctx_synchronize;
}
}  // namespace drey::cuda::sim
