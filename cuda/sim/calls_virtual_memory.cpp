// calls_virtual_memory.cpp: reservations, physical memory, mappings and access of the simulated
// driver. cuMemUnmap waits for nobody: work that may still use the range is a hazard.
// Read next: memory.hpp, which has the rules.
// SPDX-License-Identifier: MIT
#include "sim/calls.hpp"

namespace drey::cuda::sim {
namespace {
/// As call_outside_capture(), where the device has virtual memory management.
template <typename Body>
Result memory_call(const char* name, std::size_t bytes, Body&& body) {
  return call_outside_capture(name, bytes, [&](Machine& machine) {
    return machine.config.has_virtual_memory ? body(machine) : Result::kNotSupported;
  });
}

Result mem_get_allocation_granularity(std::size_t* bytes, const MemoryProperties* properties,
                                      Granularity /*which*/) {
  return call("cuMemGetAllocationGranularity", [&](Machine& machine) {
    if (!machine.config.has_virtual_memory) return Result::kNotSupported;
    if (bytes == nullptr || properties == nullptr) return Result::kInvalidValue;
    *bytes = machine.config.granularity_bytes;
    return Result::kSuccess;
  });
}

Result mem_address_reserve(DevicePointer* pointer, std::size_t bytes, std::size_t alignment,
                           DevicePointer wish, unsigned long long flags) {
  return memory_call("cuMemAddressReserve", bytes, [&](Machine& machine) {
    if (flags != 0 || pointer == nullptr) return Result::kInvalidValue;
    return machine.memory.reserve(pointer, bytes, alignment, wish);
  });
}

Result mem_address_free(DevicePointer pointer, std::size_t bytes) {
  return memory_call("cuMemAddressFree", 0,
                     [&](Machine& machine) { return machine.memory.unreserve(pointer, bytes); });
}

Result mem_create(MemoryHandle* handle, std::size_t bytes, const MemoryProperties* properties,
                  unsigned long long flags) {
  return memory_call("cuMemCreate", bytes, [&](Machine& machine) {
    if (handle == nullptr || properties == nullptr || flags != 0) return Result::kInvalidValue;
    return machine.memory.create(handle, bytes, *properties);
  });
}

Result mem_release(MemoryHandle handle) {
  return memory_call("cuMemRelease", 0,
                     [&](Machine& machine) { return machine.memory.release(handle); });
}

Result mem_retain_allocation_handle(MemoryHandle* handle, void* address) {
  return memory_call("cuMemRetainAllocationHandle", 0, [&](Machine& machine) {
    return machine.memory.retain(handle, reinterpret_cast<DevicePointer>(address));
  });
}

Result mem_map(DevicePointer pointer, std::size_t bytes, std::size_t offset, MemoryHandle handle,
               unsigned long long flags) {
  return memory_call("cuMemMap", bytes, [&](Machine& machine) {
    if (flags != 0) return Result::kInvalidValue;
    return machine.memory.map(pointer, bytes, offset, handle);
  });
}

Result mem_unmap(DevicePointer pointer, std::size_t bytes) {
  return memory_call("cuMemUnmap", 0, [&](Machine& machine) {
    const Result unmapped = machine.memory.unmap(pointer, bytes);
    if (unmapped != Result::kSuccess) return unmapped;
    machine.shadow.unmap({pointer, pointer + bytes}, machine.timeline.host().clock,
                         machine.faults.calls());
    return Result::kSuccess;
  });
}

Result mem_set_access(DevicePointer pointer, std::size_t bytes, const MemoryAccess* accesses,
                      std::size_t count) {
  return memory_call("cuMemSetAccess", bytes, [&](Machine& machine) {
    if (accesses == nullptr || count == 0) return Result::kInvalidValue;
    for (std::size_t index = 0; index < count; ++index) {
      const Result allowed = machine.memory.can_set_access(pointer, bytes, accesses[index]);
      if (allowed != Result::kSuccess) return allowed;
    }
    for (std::size_t index = 0; index < count; ++index)
      machine.memory.set_access(pointer, bytes, accesses[index]);
    return Result::kSuccess;
  });
}

Result mem_get_access(unsigned long long* flags, const MemoryLocation* location,
                      DevicePointer pointer) {
  return call("cuMemGetAccess", [&](Machine& machine) {
    if (flags == nullptr || location == nullptr) return Result::kInvalidValue;
    return machine.memory.get_access(flags, *location, pointer);
  });
}
}  // namespace

void set_virtual_memory_calls(DriverTable& table) noexcept {
  table.mem_get_allocation_granularity = mem_get_allocation_granularity;
  table.mem_address_reserve = mem_address_reserve;
  table.mem_address_free = mem_address_free;
  table.mem_create = mem_create;
  table.mem_release = mem_release;
  table.mem_retain_allocation_handle = mem_retain_allocation_handle;
  table.mem_map = mem_map;
  table.mem_unmap = mem_unmap;
  table.mem_set_access = mem_set_access;
  table.mem_get_access = mem_get_access;
}
}  // namespace drey::cuda::sim
