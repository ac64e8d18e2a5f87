// calls_pools.cpp: the driver's memory pools, and physical memory that goes to other processes.
// Allocations and frees in a capture would be nodes of a graph, which are not modelled: they break it.
// SPDX-License-Identifier: MIT
#include "sim/calls.hpp"

namespace drey::cuda::sim {
namespace {
template <typename Body>
Result pool_call(const char* name, MemoryPool handle, Body&& body) {
  return call(name, [&](Machine& machine) {
    const std::shared_ptr<PoolState> pool = machine.pools.find(handle);
    return pool == nullptr ? Result::kInvalidValue : body(machine, *pool);
  });
}

Result refuse_captured(Machine& machine, StreamState& stream, const char* name) {
  if (stream.capture == 0) return machine.enter(stream);
  machine.break_capture(stream.capture, name);
  return Result::kCaptureUnsupported;
}

// In the pool of the stream's device, or the one that `named` points at.
Result allocate(const char* name, DevicePointer* pointer, std::size_t bytes, Stream handle,
                const MemoryPool* named) {
  return call(name, bytes, [&](Machine& machine) {
    const std::shared_ptr<StreamState> stream = machine.find_stream(handle);
    if (stream == nullptr) return Result::kInvalidHandle;
    if (pointer == nullptr || bytes == 0) return Result::kInvalidValue;
    const Result refused = refuse_captured(machine, *stream, name);
    if (refused != Result::kSuccess) return refused;
    const std::shared_ptr<PoolState> pool =
        machine.pools.find(named != nullptr ? *named : machine.pools.default_of(stream->device));
    return pool == nullptr ? Result::kInvalidValue
                           : machine.pools.allocate(*pool, pointer, bytes, *stream);
  });
}

Result mem_alloc_async(DevicePointer* pointer, std::size_t bytes, Stream stream) {
  return allocate("cuMemAllocAsync", pointer, bytes, stream, nullptr);
}

Result mem_alloc_from_pool_async(DevicePointer* pointer, std::size_t bytes, MemoryPool pool,
                                 Stream stream) {
  return allocate("cuMemAllocFromPoolAsync", pointer, bytes, stream, &pool);
}

Result mem_free_async(DevicePointer pointer, Stream handle) {
  return stream_call("cuMemFreeAsync", handle, [&](Machine& machine, StreamState& stream) {
    const Result refused = refuse_captured(machine, stream, "cuMemFreeAsync");
    if (refused != Result::kSuccess) return refused;
    EventState end;
    machine.timeline.record(end, stream, machine.end_peers(stream));
    return machine.pools.deallocate(pointer, stream.id, end);
  });
}

Result device_get_default_mem_pool(MemoryPool* pool, Device device) {
  return call("cuDeviceGetDefaultMemPool", [&](Machine& machine) {
    if (device < 0 || device >= machine.config.device_count) return Result::kInvalidDevice;
    *pool = machine.pools.default_of(device);
    return Result::kSuccess;
  });
}

Result mem_pool_create(MemoryPool* pool, const PoolProperties* properties) {
  return call("cuMemPoolCreate", [&](Machine& machine) {
    if (pool == nullptr || properties == nullptr || properties->type != MemoryProperties::kPinned ||
        properties->location.type != MemoryLocation::kDevice)
      return Result::kInvalidValue;
    const Device device = properties->location.id;
    if (device < 0 || device >= machine.config.device_count) return Result::kInvalidDevice;
    if (properties->exported_as != 0) return Result::kNotSupported;
    *pool = machine.pools.create(device, properties->bytes_max);
    return Result::kSuccess;
  });
}

Result mem_pool_destroy(MemoryPool pool) {
  return call("cuMemPoolDestroy", [&](Machine& machine) { return machine.pools.destroy(pool); });
}

Result mem_pool_trim_to(MemoryPool handle, std::size_t bytes) {
  return pool_call("cuMemPoolTrimTo", handle, [&](Machine& machine, PoolState& pool) {
    machine.pools.trim(pool, bytes);
    return Result::kSuccess;
  });
}

// A high-water mark can be set to zero only, which means to what is now.
Result set_number(PoolState& pool, PoolAttribute attribute, std::uint64_t number) {
  switch (attribute) {
    case PoolAttribute::kReleaseThreshold:
      pool.threshold = number;
      return Result::kSuccess;
    case PoolAttribute::kReservedHigh:
      if (number != 0) return Result::kInvalidValue;
      pool.reserved_high = pool.reserved;
      return Result::kSuccess;
    case PoolAttribute::kUsedHigh:
      if (number != 0) return Result::kInvalidValue;
      pool.used_high = pool.used;
      return Result::kSuccess;
    default:
      return Result::kInvalidValue;
  }
}

bool* policy_of(PoolState& pool, PoolAttribute attribute) {
  switch (attribute) {
    case PoolAttribute::kReuseFollowEvents:
      return &pool.follows_events;
    case PoolAttribute::kReuseOpportunistic:
      return &pool.is_opportunistic;
    case PoolAttribute::kReuseInternalDependencies:
      return &pool.inserts_waits;
    default:
      return nullptr;
  }
}

const std::uint64_t* number_of(const PoolState& pool, PoolAttribute attribute) {
  switch (attribute) {
    case PoolAttribute::kReleaseThreshold:
      return &pool.threshold;
    case PoolAttribute::kReservedCurrent:
      return &pool.reserved;
    case PoolAttribute::kReservedHigh:
      return &pool.reserved_high;
    case PoolAttribute::kUsedCurrent:
      return &pool.used;
    case PoolAttribute::kUsedHigh:
      return &pool.used_high;
    default:
      return nullptr;
  }
}

Result mem_pool_set_attribute(MemoryPool handle, PoolAttribute attribute, void* value) {
  return pool_call("cuMemPoolSetAttribute", handle, [&](Machine&, PoolState& pool) {
    if (value == nullptr) return Result::kInvalidValue;
    bool* const policy = policy_of(pool, attribute);
    if (policy == nullptr)
      return set_number(pool, attribute, *static_cast<const std::uint64_t*>(value));
    *policy = *static_cast<const int*>(value) != 0;
    return Result::kSuccess;
  });
}

Result mem_pool_get_attribute(MemoryPool handle, PoolAttribute attribute, void* value) {
  return pool_call("cuMemPoolGetAttribute", handle, [&](Machine&, PoolState& pool) {
    const bool* const policy = policy_of(pool, attribute);
    const std::uint64_t* const number = number_of(pool, attribute);
    if (value == nullptr || (policy == nullptr && number == nullptr)) return Result::kInvalidValue;
    if (policy != nullptr) {
      *static_cast<int*>(value) = *policy ? 1 : 0;
    } else {
      *static_cast<std::uint64_t*>(value) = *number;
    }
    return Result::kSuccess;
  });
}

Result mem_export(void* shared, MemoryHandle handle, unsigned type, unsigned long long flags) {
  return call("cuMemExportToShareableHandle", [&](Machine& machine) {
    if (shared == nullptr || type != kPosixFileDescriptor || flags != 0)
      return Result::kInvalidValue;
    return machine.memory.export_to(static_cast<int*>(shared), handle);
  });
}

// The descriptor is the value of the pointer, as the driver has it.
Result mem_import(MemoryHandle* handle, void* shared, unsigned type) {
  return call("cuMemImportFromShareableHandle", [&](Machine& machine) {
    if (handle == nullptr || type != kPosixFileDescriptor) return Result::kInvalidValue;
    const Device device = machine.current_device();
    if (device < 0) return Result::kInvalidContext;
    return machine.memory.import_from(
        handle, static_cast<int>(reinterpret_cast<std::uintptr_t>(shared)), device);
  });
}
}  // namespace

void set_pool_calls(DriverTable& table) noexcept {
  table.mem_export_to_shareable_handle = mem_export;
  table.mem_import_from_shareable_handle = mem_import;
  table.mem_alloc_async = mem_alloc_async;
  table.mem_alloc_from_pool_async = mem_alloc_from_pool_async;
  table.mem_free_async = mem_free_async;
  table.device_get_default_mem_pool = device_get_default_mem_pool;
  table.mem_pool_create = mem_pool_create;
  table.mem_pool_destroy = mem_pool_destroy;
  table.mem_pool_trim_to = mem_pool_trim_to;
  table.mem_pool_set_attribute = mem_pool_set_attribute;
  table.mem_pool_get_attribute = mem_pool_get_attribute;
}
}  // namespace drey::cuda::sim
