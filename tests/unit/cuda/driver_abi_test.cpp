// driver_abi_test.cpp: what drey declares of the driver's interface is what <cuda.h> declares.
// Method: sizes, offsets and numbers side by side; each function of the table against the
// toolkit's type of the same name and version, parameter by parameter: size, class, and the pointee
// where it is a pointer. All of it at compile time. Skipped where there is no toolkit.
// SPDX-License-Identifier: MIT
#include <drey/cuda/driver_table.hpp>

#include <gtest/gtest.h>

#if __has_include(<cuda.h>) && __has_include(<cudaTypedefs.h>)
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstddef>
#include <type_traits>

namespace drey::cuda {
namespace {
struct Shape {
  std::size_t bytes;
  std::size_t alignment;
  bool is_class;
  bool is_const;
  bool operator==(const Shape&) const = default;
};
template <typename Value>
constexpr Shape shape_of() {
  if constexpr (std::is_void_v<Value>) {
    return {0, 0, false, std::is_const_v<Value>};
  } else {
    return {sizeof(Value), alignof(Value), std::is_class_v<Value>, std::is_const_v<Value>};
  }
}

template <typename Ours, typename Theirs>
constexpr bool same_value() {
  if constexpr (std::is_same_v<Ours, Theirs>) {
    return true;  // also types that are declared only
  } else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    return same_value<std::remove_pointer_t<Ours>, std::remove_pointer_t<Theirs>>();
  } else {
    return std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
           shape_of<Ours>() == shape_of<Theirs>();
  }
}

template <typename... Ours, typename... Theirs>
constexpr bool same_call(Result (*)(Ours...), CUresult (*)(Theirs...)) {
  if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
    return false;
  } else {
    return (same_value<Ours, Theirs>() && ...);
  }
}

template <typename Ours, typename Theirs>
constexpr bool same_call() {
  return same_call(Ours{}, Theirs{});
}

// In the order of entry_points(), with its versions.
static_assert(same_call<decltype(DriverTable::init), PFN_cuInit_v2000>());
static_assert(same_call<decltype(DriverTable::driver_get_version), PFN_cuDriverGetVersion_v2020>());
static_assert(same_call<decltype(DriverTable::get_error_name), PFN_cuGetErrorName_v6000>());
static_assert(same_call<decltype(DriverTable::device_get_count), PFN_cuDeviceGetCount_v2000>());
static_assert(same_call<decltype(DriverTable::device_get), PFN_cuDeviceGet_v2000>());
static_assert(
    same_call<decltype(DriverTable::device_get_attribute), PFN_cuDeviceGetAttribute_v2000>());
static_assert(same_call<decltype(DriverTable::device_total_mem), PFN_cuDeviceTotalMem_v3020>());
static_assert(
    same_call<decltype(DriverTable::device_can_access_peer), PFN_cuDeviceCanAccessPeer_v4000>());
static_assert(same_call<decltype(DriverTable::device_primary_ctx_retain),
                        PFN_cuDevicePrimaryCtxRetain_v7000>());
static_assert(same_call<decltype(DriverTable::device_primary_ctx_release),
                        PFN_cuDevicePrimaryCtxRelease_v11000>());
static_assert(same_call<decltype(DriverTable::ctx_get_current), PFN_cuCtxGetCurrent_v4000>());
static_assert(same_call<decltype(DriverTable::ctx_set_current), PFN_cuCtxSetCurrent_v4000>());
static_assert(same_call<decltype(DriverTable::ctx_push_current), PFN_cuCtxPushCurrent_v4000>());
static_assert(same_call<decltype(DriverTable::ctx_pop_current), PFN_cuCtxPopCurrent_v4000>());
static_assert(same_call<decltype(DriverTable::ctx_get_device), PFN_cuCtxGetDevice_v2000>());
static_assert(same_call<decltype(DriverTable::ctx_synchronize), PFN_cuCtxSynchronize_v2000>());
static_assert(same_call<decltype(DriverTable::stream_create_with_priority),
                        PFN_cuStreamCreateWithPriority_v5050>());
static_assert(same_call<decltype(DriverTable::stream_destroy), PFN_cuStreamDestroy_v4000>());
static_assert(same_call<decltype(DriverTable::stream_query), PFN_cuStreamQuery_v2000>());
static_assert(
    same_call<decltype(DriverTable::stream_synchronize), PFN_cuStreamSynchronize_v2000>());
static_assert(same_call<decltype(DriverTable::stream_wait_event), PFN_cuStreamWaitEvent_v3020>());
static_assert(same_call<decltype(DriverTable::stream_get_id), PFN_cuStreamGetId_v12000>());
static_assert(same_call<decltype(DriverTable::stream_get_ctx), PFN_cuStreamGetCtx_v9020>());
static_assert(same_call<decltype(DriverTable::event_create), PFN_cuEventCreate_v2000>());
static_assert(same_call<decltype(DriverTable::event_record), PFN_cuEventRecord_v2000>());
static_assert(same_call<decltype(DriverTable::event_query), PFN_cuEventQuery_v2000>());
static_assert(same_call<decltype(DriverTable::event_synchronize), PFN_cuEventSynchronize_v2000>());
static_assert(same_call<decltype(DriverTable::event_destroy), PFN_cuEventDestroy_v4000>());
static_assert(
    same_call<decltype(DriverTable::stream_begin_capture), PFN_cuStreamBeginCapture_v10010>());
static_assert(
    same_call<decltype(DriverTable::stream_end_capture), PFN_cuStreamEndCapture_v10000>());
static_assert(
    same_call<decltype(DriverTable::stream_is_capturing), PFN_cuStreamIsCapturing_v10000>());
static_assert(same_call<decltype(DriverTable::thread_exchange_stream_capture_mode),
                        PFN_cuThreadExchangeStreamCaptureMode_v10010>());
static_assert(
    same_call<decltype(DriverTable::graph_add_empty_node), PFN_cuGraphAddEmptyNode_v10000>());
static_assert(same_call<decltype(DriverTable::graph_node_get_dependencies),
                        PFN_cuGraphNodeGetDependencies_v10000>());
static_assert(same_call<decltype(DriverTable::graph_instantiate_with_flags),
                        PFN_cuGraphInstantiateWithFlags_v11040>());
static_assert(same_call<decltype(DriverTable::graph_launch), PFN_cuGraphLaunch_v10000>());
static_assert(
    same_call<decltype(DriverTable::graph_exec_destroy), PFN_cuGraphExecDestroy_v10000>());
static_assert(same_call<decltype(DriverTable::graph_destroy), PFN_cuGraphDestroy_v10000>());
static_assert(same_call<decltype(DriverTable::mem_get_info), PFN_cuMemGetInfo_v3020>());
static_assert(same_call<decltype(DriverTable::mem_alloc), PFN_cuMemAlloc_v3020>());
static_assert(same_call<decltype(DriverTable::mem_free), PFN_cuMemFree_v3020>());
static_assert(same_call<decltype(DriverTable::mem_host_alloc), PFN_cuMemHostAlloc_v2020>());
static_assert(same_call<decltype(DriverTable::mem_free_host), PFN_cuMemFreeHost_v2000>());
static_assert(same_call<decltype(DriverTable::mem_host_register), PFN_cuMemHostRegister_v6050>());
static_assert(
    same_call<decltype(DriverTable::mem_host_unregister), PFN_cuMemHostUnregister_v4000>());
static_assert(same_call<decltype(DriverTable::memcpy_async), PFN_cuMemcpyAsync_v4000>());
static_assert(same_call<decltype(DriverTable::memset_d8_async), PFN_cuMemsetD8Async_v3020>());
static_assert(same_call<decltype(DriverTable::mem_get_allocation_granularity),
                        PFN_cuMemGetAllocationGranularity_v10020>());
static_assert(
    same_call<decltype(DriverTable::mem_address_reserve), PFN_cuMemAddressReserve_v10020>());
static_assert(same_call<decltype(DriverTable::mem_address_free), PFN_cuMemAddressFree_v10020>());
static_assert(same_call<decltype(DriverTable::mem_create), PFN_cuMemCreate_v10020>());
static_assert(same_call<decltype(DriverTable::mem_release), PFN_cuMemRelease_v10020>());
static_assert(same_call<decltype(DriverTable::mem_retain_allocation_handle),
                        PFN_cuMemRetainAllocationHandle_v11000>());
static_assert(same_call<decltype(DriverTable::mem_map), PFN_cuMemMap_v10020>());
static_assert(same_call<decltype(DriverTable::mem_unmap), PFN_cuMemUnmap_v10020>());
static_assert(same_call<decltype(DriverTable::mem_set_access), PFN_cuMemSetAccess_v10020>());
static_assert(same_call<decltype(DriverTable::mem_get_access), PFN_cuMemGetAccess_v10020>());
static_assert(
    same_call<decltype(DriverTable::stream_get_capture_info), PFN_cuStreamGetCaptureInfo_v12030>());
static_assert(same_call<decltype(DriverTable::stream_update_capture_dependencies),
                        PFN_cuStreamUpdateCaptureDependencies_v12030>());
static_assert(same_call<decltype(DriverTable::mem_export_to_shareable_handle),
                        PFN_cuMemExportToShareableHandle_v10020>());
static_assert(same_call<decltype(DriverTable::mem_import_from_shareable_handle),
                        PFN_cuMemImportFromShareableHandle_v10020>());
static_assert(same_call<decltype(DriverTable::mem_alloc_async), PFN_cuMemAllocAsync_v11020>());
static_assert(same_call<decltype(DriverTable::mem_alloc_from_pool_async),
                        PFN_cuMemAllocFromPoolAsync_v11020>());
static_assert(same_call<decltype(DriverTable::mem_free_async), PFN_cuMemFreeAsync_v11020>());
static_assert(same_call<decltype(DriverTable::device_get_default_mem_pool),
                        PFN_cuDeviceGetDefaultMemPool_v11020>());
static_assert(same_call<decltype(DriverTable::mem_pool_create), PFN_cuMemPoolCreate_v11020>());
static_assert(same_call<decltype(DriverTable::mem_pool_destroy), PFN_cuMemPoolDestroy_v11020>());
static_assert(same_call<decltype(DriverTable::mem_pool_trim_to), PFN_cuMemPoolTrimTo_v11020>());
static_assert(
    same_call<decltype(DriverTable::mem_pool_set_attribute), PFN_cuMemPoolSetAttribute_v11020>());
static_assert(
    same_call<decltype(DriverTable::mem_pool_get_attribute), PFN_cuMemPoolGetAttribute_v11020>());
static_assert(same_call<decltype(DriverTable::module_load_data), PFN_cuModuleLoadData_v2000>());
static_assert(same_call<decltype(DriverTable::module_unload), PFN_cuModuleUnload_v2000>());
static_assert(
    same_call<decltype(DriverTable::module_get_function), PFN_cuModuleGetFunction_v2000>());
static_assert(same_call<decltype(DriverTable::launch_kernel), PFN_cuLaunchKernel_v4000>());

static_assert(sizeof(MemoryProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(MemoryProperties, type) == offsetof(CUmemAllocationProp, type));
static_assert(offsetof(MemoryProperties, exported_as) ==
              offsetof(CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(MemoryProperties, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(MemoryProperties, windows_data) ==
              offsetof(CUmemAllocationProp, win32HandleMetaData));
static_assert(offsetof(MemoryProperties, flags) == offsetof(CUmemAllocationProp, allocFlags));
static_assert(offsetof(MemoryProperties, flags.direct_rdma) ==
              offsetof(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable));
static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps));
static_assert(offsetof(PoolProperties, exported_as) == offsetof(CUmemPoolProps, handleTypes));
static_assert(offsetof(PoolProperties, location) == offsetof(CUmemPoolProps, location));
static_assert(offsetof(PoolProperties, windows_data) ==
              offsetof(CUmemPoolProps, win32SecurityAttributes));
static_assert(offsetof(PoolProperties, bytes_max) == offsetof(CUmemPoolProps, maxSize));
static_assert(offsetof(PoolProperties, usage) == offsetof(CUmemPoolProps, usage));
static_assert(offsetof(MemoryAccess, location) == offsetof(CUmemAccessDesc, location));
static_assert(offsetof(MemoryAccess, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(offsetof(MemoryLocation, id) == offsetof(CUmemLocation, id));

template <typename Ours, typename Theirs>
constexpr bool same_number(Ours ours, Theirs theirs) {
  return static_cast<unsigned>(ours) == static_cast<unsigned>(theirs);
}
static_assert(same_number(Result::kSuccess, CUDA_SUCCESS));
static_assert(same_number(Result::kInvalidValue, CUDA_ERROR_INVALID_VALUE));
static_assert(same_number(Result::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(same_number(Result::kNotInitialized, CUDA_ERROR_NOT_INITIALIZED));
static_assert(same_number(Result::kDeinitialized, CUDA_ERROR_DEINITIALIZED));
static_assert(same_number(Result::kNoDevice, CUDA_ERROR_NO_DEVICE));
static_assert(same_number(Result::kInvalidDevice, CUDA_ERROR_INVALID_DEVICE));
static_assert(same_number(Result::kInvalidImage, CUDA_ERROR_INVALID_IMAGE));
static_assert(same_number(Result::kNoBinaryForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU));
static_assert(same_number(Result::kInvalidProgram, CUDA_ERROR_INVALID_PTX));
static_assert(same_number(Result::kInvalidContext, CUDA_ERROR_INVALID_CONTEXT));
static_assert(same_number(Result::kInvalidHandle, CUDA_ERROR_INVALID_HANDLE));
static_assert(same_number(Result::kIllegalState, CUDA_ERROR_ILLEGAL_STATE));
static_assert(same_number(Result::kNotFound, CUDA_ERROR_NOT_FOUND));
static_assert(same_number(Result::kNotReady, CUDA_ERROR_NOT_READY));
static_assert(same_number(Result::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(same_number(Result::kPeerAccessAlreadyEnabled,
                          CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED));
static_assert(same_number(Result::kHostMemoryAlreadyRegistered,
                          CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED));
static_assert(same_number(Result::kHostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
static_assert(same_number(Result::kNotPermitted, CUDA_ERROR_NOT_PERMITTED));
static_assert(same_number(Result::kNotSupported, CUDA_ERROR_NOT_SUPPORTED));
static_assert(same_number(Result::kCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
static_assert(same_number(Result::kCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
static_assert(same_number(Result::kCaptureMerge, CUDA_ERROR_STREAM_CAPTURE_MERGE));
static_assert(same_number(Result::kCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
static_assert(same_number(Result::kCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
static_assert(same_number(Result::kCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION));
static_assert(same_number(Result::kCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
static_assert(same_number(Result::kCapturedEvent, CUDA_ERROR_CAPTURED_EVENT));
static_assert(same_number(Result::kCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD));
static_assert(same_number(Result::kUnknown, CUDA_ERROR_UNKNOWN));
static_assert(same_number(DeviceAttribute::kUnifiedAddressing,
                          CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING));
static_assert(same_number(DeviceAttribute::kComputeCapabilityMajor,
                          CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(same_number(DeviceAttribute::kComputeCapabilityMinor,
                          CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(same_number(DeviceAttribute::kVirtualMemory,
                          CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED));
static_assert(same_number(DeviceAttribute::kPosixFileDescriptors,
                          CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED));
static_assert(same_number(DeviceAttribute::kDirectRdmaWithVirtualMemory,
                          CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED));
static_assert(same_number(DeviceAttribute::kMemoryPools,
                          CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED));
static_assert(same_number(kPosixFileDescriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
static_assert(same_number(PoolAttribute::kReuseFollowEvents,
                          CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES));
static_assert(same_number(PoolAttribute::kReuseOpportunistic,
                          CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC));
static_assert(same_number(PoolAttribute::kReuseInternalDependencies,
                          CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES));
static_assert(same_number(PoolAttribute::kReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
static_assert(same_number(PoolAttribute::kReservedCurrent, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
static_assert(same_number(PoolAttribute::kReservedHigh, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
static_assert(same_number(PoolAttribute::kUsedCurrent, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
static_assert(same_number(PoolAttribute::kUsedHigh, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
static_assert(same_number(kStreamNonBlocking, CU_STREAM_NON_BLOCKING));
static_assert(same_number(kEventDisableTiming, CU_EVENT_DISABLE_TIMING));
static_assert(same_number(kHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE));
static_assert(same_number(CaptureMode::kThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
static_assert(same_number(CaptureMode::kRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED));
static_assert(same_number(CaptureStatus::kActive, CU_STREAM_CAPTURE_STATUS_ACTIVE));
static_assert(same_number(CaptureStatus::kInvalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED));
static_assert(same_number(kAddCaptureDependencies, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
static_assert(same_number(kSetCaptureDependencies, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
static_assert(same_number(MemoryLocation::kDevice, CU_MEM_LOCATION_TYPE_DEVICE));
static_assert(same_number(MemoryProperties::kPinned, CU_MEM_ALLOCATION_TYPE_PINNED));
static_assert(same_number(MemoryAccess::kRead, CU_MEM_ACCESS_FLAGS_PROT_READ));
static_assert(same_number(MemoryAccess::kReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
static_assert(same_number(Granularity::kRecommended, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));

// Everything else was compared when this file was compiled.
TEST(DriverAbi, IsThatOfTheToolkit) {
  EXPECT_EQ(legacy_stream(), CU_STREAM_LEGACY);
  EXPECT_EQ(per_thread_stream(), CU_STREAM_PER_THREAD);
}
}  // namespace
}  // namespace drey::cuda
#else
TEST(DriverAbi, IsThatOfTheToolkit) {
  GTEST_SKIP() << "no CUDA toolkit here to compare with";
}
#endif
