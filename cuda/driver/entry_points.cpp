// entry_points.cpp: names and versions of the calls in DriverTable.
// Source of the versions: the suffixes of the function types in the toolkit's cudaTypedefs.h.
// Invariant: in the order of the table, so that entry i stands at offset i * sizeof(pointer).
// Read next: load.cpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/driver_table.hpp>

#include <cstring>
#include <type_traits>

namespace drey::cuda {
static_assert(std::is_standard_layout_v<DriverTable> && std::is_trivial_v<DriverTable>);

namespace {
constexpr EntryPoint kEntryPoints[kEntryPointCount] = {
    {"cuInit", 2000, offsetof(DriverTable, init), true},
    {"cuDriverGetVersion", 2020, offsetof(DriverTable, driver_get_version), true},
    {"cuGetErrorName", 6000, offsetof(DriverTable, get_error_name), true},
    {"cuDeviceGetCount", 2000, offsetof(DriverTable, device_get_count), true},
    {"cuDeviceGet", 2000, offsetof(DriverTable, device_get), true},
    {"cuDeviceGetAttribute", 2000, offsetof(DriverTable, device_get_attribute), true},
    {"cuDeviceTotalMem", 3020, offsetof(DriverTable, device_total_mem), true},
    {"cuDeviceCanAccessPeer", 4000, offsetof(DriverTable, device_can_access_peer), true},
    {"cuDevicePrimaryCtxRetain", 7000, offsetof(DriverTable, device_primary_ctx_retain), true},
    {"cuDevicePrimaryCtxRelease", 11000, offsetof(DriverTable, device_primary_ctx_release), true},
    {"cuCtxGetCurrent", 4000, offsetof(DriverTable, ctx_get_current), true},
    {"cuCtxSetCurrent", 4000, offsetof(DriverTable, ctx_set_current), true},
    {"cuCtxPushCurrent", 4000, offsetof(DriverTable, ctx_push_current), true},
    {"cuCtxPopCurrent", 4000, offsetof(DriverTable, ctx_pop_current), true},
    {"cuCtxGetDevice", 2000, offsetof(DriverTable, ctx_get_device), true},
    {"cuCtxSynchronize", 2000, offsetof(DriverTable, ctx_synchronize), true},
    {"cuStreamCreateWithPriority", 5050, offsetof(DriverTable, stream_create_with_priority), true},
    {"cuStreamDestroy", 4000, offsetof(DriverTable, stream_destroy), true},
    {"cuStreamQuery", 2000, offsetof(DriverTable, stream_query), true},
    {"cuStreamSynchronize", 2000, offsetof(DriverTable, stream_synchronize), true},
    {"cuStreamWaitEvent", 3020, offsetof(DriverTable, stream_wait_event), true},
    {"cuStreamGetId", 12000, offsetof(DriverTable, stream_get_id), true},
    {"cuStreamGetCtx", 9020, offsetof(DriverTable, stream_get_ctx), true},
    {"cuEventCreate", 2000, offsetof(DriverTable, event_create), true},
    {"cuEventRecord", 2000, offsetof(DriverTable, event_record), true},
    {"cuEventQuery", 2000, offsetof(DriverTable, event_query), true},
    {"cuEventSynchronize", 2000, offsetof(DriverTable, event_synchronize), true},
    {"cuEventDestroy", 4000, offsetof(DriverTable, event_destroy), true},
    {"cuStreamBeginCapture", 10010, offsetof(DriverTable, stream_begin_capture), true},
    {"cuStreamEndCapture", 10000, offsetof(DriverTable, stream_end_capture), true},
    {"cuStreamIsCapturing", 10000, offsetof(DriverTable, stream_is_capturing), true},
    {"cuThreadExchangeStreamCaptureMode", 10010,
     offsetof(DriverTable, thread_exchange_stream_capture_mode), true},
    {"cuGraphAddEmptyNode", 10000, offsetof(DriverTable, graph_add_empty_node), true},
    {"cuGraphNodeGetDependencies", 10000, offsetof(DriverTable, graph_node_get_dependencies), true},
    {"cuGraphInstantiateWithFlags", 11040, offsetof(DriverTable, graph_instantiate_with_flags),
     true},
    {"cuGraphLaunch", 10000, offsetof(DriverTable, graph_launch), true},
    {"cuGraphExecDestroy", 10000, offsetof(DriverTable, graph_exec_destroy), true},
    {"cuGraphDestroy", 10000, offsetof(DriverTable, graph_destroy), true},
    {"cuMemGetInfo", 3020, offsetof(DriverTable, mem_get_info), true},
    {"cuMemAlloc", 3020, offsetof(DriverTable, mem_alloc), true},
    {"cuMemFree", 3020, offsetof(DriverTable, mem_free), true},
    {"cuMemHostAlloc", 2020, offsetof(DriverTable, mem_host_alloc), true},
    {"cuMemFreeHost", 2000, offsetof(DriverTable, mem_free_host), true},
    {"cuMemHostRegister", 6050, offsetof(DriverTable, mem_host_register), true},
    {"cuMemHostUnregister", 4000, offsetof(DriverTable, mem_host_unregister), true},
    {"cuMemcpyAsync", 4000, offsetof(DriverTable, memcpy_async), true},
    {"cuMemsetD8Async", 3020, offsetof(DriverTable, memset_d8_async), true},
    {"cuMemGetAllocationGranularity", 10020, offsetof(DriverTable, mem_get_allocation_granularity),
     true},
    {"cuMemAddressReserve", 10020, offsetof(DriverTable, mem_address_reserve), true},
    {"cuMemAddressFree", 10020, offsetof(DriverTable, mem_address_free), true},
    {"cuMemCreate", 10020, offsetof(DriverTable, mem_create), true},
    {"cuMemRelease", 10020, offsetof(DriverTable, mem_release), true},
    {"cuMemRetainAllocationHandle", 11000, offsetof(DriverTable, mem_retain_allocation_handle),
     true},
    {"cuMemMap", 10020, offsetof(DriverTable, mem_map), true},
    {"cuMemUnmap", 10020, offsetof(DriverTable, mem_unmap), true},
    {"cuMemSetAccess", 10020, offsetof(DriverTable, mem_set_access), true},
    {"cuMemGetAccess", 10020, offsetof(DriverTable, mem_get_access), true},
    {"cuStreamGetCaptureInfo", 12030, offsetof(DriverTable, stream_get_capture_info), false},
    {"cuStreamUpdateCaptureDependencies", 12030,
     offsetof(DriverTable, stream_update_capture_dependencies), false},
    {"cuMemExportToShareableHandle", 10020, offsetof(DriverTable, mem_export_to_shareable_handle),
     false},
    {"cuMemImportFromShareableHandle", 10020,
     offsetof(DriverTable, mem_import_from_shareable_handle), false},
    {"cuMemAllocAsync", 11020, offsetof(DriverTable, mem_alloc_async), false},
    {"cuMemAllocFromPoolAsync", 11020, offsetof(DriverTable, mem_alloc_from_pool_async), false},
    {"cuMemFreeAsync", 11020, offsetof(DriverTable, mem_free_async), false},
    {"cuDeviceGetDefaultMemPool", 11020, offsetof(DriverTable, device_get_default_mem_pool), false},
    {"cuMemPoolCreate", 11020, offsetof(DriverTable, mem_pool_create), false},
    {"cuMemPoolDestroy", 11020, offsetof(DriverTable, mem_pool_destroy), false},
    {"cuMemPoolTrimTo", 11020, offsetof(DriverTable, mem_pool_trim_to), false},
    {"cuMemPoolSetAttribute", 11020, offsetof(DriverTable, mem_pool_set_attribute), false},
    {"cuMemPoolGetAttribute", 11020, offsetof(DriverTable, mem_pool_get_attribute), false},
    {"cuModuleLoadData", 2000, offsetof(DriverTable, module_load_data), false},
    {"cuModuleUnload", 2000, offsetof(DriverTable, module_unload), false},
    {"cuModuleGetFunction", 2000, offsetof(DriverTable, module_get_function), false},
    {"cuLaunchKernel", 4000, offsetof(DriverTable, launch_kernel), false},
};

constexpr bool entries_are_in_order() {
  for (std::size_t index = 0; index < kEntryPointCount; ++index) {
    if (kEntryPoints[index].offset != index * sizeof(void*)) return false;
  }
  return true;
}
static_assert(entries_are_in_order());
}  // namespace

std::span<const EntryPoint, kEntryPointCount> entry_points() noexcept {
  return kEntryPoints;
}

void* function_of(const DriverTable& table, const EntryPoint& entry) noexcept {
  void* function = nullptr;
  std::memcpy(&function, reinterpret_cast<const char*>(&table) + entry.offset, sizeof(function));
  return function;
}
}  // namespace drey::cuda
