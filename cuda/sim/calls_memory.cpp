// calls_memory.cpp: memory without mappings: device allocations, host memory, copies and fills.
// cuMemFree and cuMemFreeHost wait for everything, as they do in practice: a cache that calls them on
// its hot path is seen by the count of calls, not by a hazard.
// SPDX-License-Identifier: MIT
#include "sim/calls.hpp"

namespace drey::cuda::sim {
namespace {
Result mem_get_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call("cuMemGetInfo", [&](Machine& machine) {
    const Device device = machine.current_device();
    if (device < 0) return Result::kInvalidContext;
    *free_bytes = machine.memory.free_bytes(device);
    *total_bytes = machine.config.memory_bytes;
    return Result::kSuccess;
  });
}

Result mem_alloc(DevicePointer* pointer, std::size_t bytes) {
  return call_outside_capture("cuMemAlloc", bytes, [&](Machine& machine) {
    const Device device = machine.current_device();
    if (device < 0) return Result::kInvalidContext;
    return machine.memory.allocate(pointer, bytes, device);
  });
}

Result mem_free(DevicePointer pointer) {
  return call_outside_capture("cuMemFree", 0, [&](Machine& machine) {
    const Device device = machine.current_device();
    if (device < 0) return Result::kInvalidContext;
    if (pointer == 0) return Result::kSuccess;
    if (machine.pools.owns(pointer)) {
      const Result given = machine.pools.deallocate(pointer, 0, {});
      if (given == Result::kSuccess) machine.wait_for_device(device);
      return given;
    }
    std::size_t bytes = 0;
    const Result freed = machine.memory.deallocate(pointer, &bytes);
    if (freed != Result::kSuccess) return freed;
    for (Device other = 0; other < machine.config.device_count; ++other)
      machine.wait_for_device(other);
    machine.shadow.unmap({pointer, pointer + bytes}, machine.timeline.host().clock,
                         machine.faults.calls());
    return Result::kSuccess;
  });
}

Result mem_host_alloc(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  return call_outside_capture("cuMemHostAlloc", bytes, [&](Machine& machine) {
    if (machine.current_device() < 0) return Result::kInvalidContext;
    return machine.memory.allocate_host(pointer, bytes);
  });
}

void host_memory_gone(Machine& machine, void* pointer, std::size_t bytes) {
  for (Device device = 0; device < machine.config.device_count; ++device)
    machine.wait_for_device(device);
  const auto base = reinterpret_cast<DevicePointer>(pointer);
  machine.shadow.unmap({base, base + bytes}, machine.timeline.host().clock, machine.faults.calls());
}

Result mem_free_host(void* pointer) {
  return call_outside_capture("cuMemFreeHost", 0, [&](Machine& machine) {
    if (machine.current_device() < 0) return Result::kInvalidContext;
    std::size_t bytes = 0;
    const Result freed = machine.memory.deallocate_host(pointer, &bytes);
    if (freed == Result::kSuccess) host_memory_gone(machine, pointer, bytes);
    return freed;
  });
}

Result mem_host_register(void* pointer, std::size_t bytes, unsigned /*flags*/) {
  return call_outside_capture("cuMemHostRegister", bytes, [&](Machine& machine) {
    if (machine.current_device() < 0) return Result::kInvalidContext;
    return machine.memory.register_host(pointer, bytes);
  });
}

Result mem_host_unregister(void* pointer) {
  return call_outside_capture("cuMemHostUnregister", 0, [&](Machine& machine) {
    if (machine.current_device() < 0) return Result::kInvalidContext;
    std::size_t bytes = 0;
    const Result freed = machine.memory.unregister_host(pointer, &bytes);
    if (freed == Result::kSuccess) host_memory_gone(machine, pointer, bytes);
    return freed;
  });
}

// Host memory that the driver does not know is the program's own business.
bool is_checked(const Machine& machine, const Access& access) {
  return machine.memory.is_device_address(access.base) ||
         machine.memory.reach(access, 0) == Reach::kMemory;
}

Result memcpy_async(DevicePointer to, DevicePointer from, std::size_t bytes, Stream handle) {
  return stream_call("cuMemcpyAsync", handle, [&](Machine& machine, StreamState& stream) {
    std::vector<Access> accesses;
    for (const Access& access : {Access{from, bytes, false}, Access{to, bytes, true}}) {
      if (bytes != 0 && is_checked(machine, access)) accesses.push_back(access);
    }
    std::function<void()> effect;
    if (machine.config.has_contents) {
      effect = [&memory = machine.memory, to, from, bytes, device = stream.device] {
        memory.copy_contents(to, from, bytes, device);
      };
    }
    return machine.submit(stream, accesses, "memcpy", std::move(effect));
  });
}

Result memset_d8_async(DevicePointer to, unsigned char value, std::size_t bytes, Stream handle) {
  return stream_call("cuMemsetD8Async", handle, [&](Machine& machine, StreamState& stream) {
    std::vector<Access> accesses;
    if (bytes != 0) accesses.push_back({to, bytes, true});
    std::function<void()> effect;
    if (machine.config.has_contents) {
      effect = [&memory = machine.memory, to, value, bytes, device = stream.device] {
        memory.fill_contents(to, value, bytes, device);
      };
    }
    return machine.submit(stream, accesses, "memset", std::move(effect));
  });
}
}  // namespace

void set_memory_calls(DriverTable& table) noexcept {
  table.mem_get_info = mem_get_info;
  table.mem_alloc = mem_alloc;
  table.mem_free = mem_free;
  table.mem_host_alloc = mem_host_alloc;
  table.mem_free_host = mem_free_host;
  table.mem_host_register = mem_host_register;
  table.mem_host_unregister = mem_host_unregister;
  table.memcpy_async = memcpy_async;
  table.memset_d8_async = memset_d8_async;
}
}  // namespace drey::cuda::sim
