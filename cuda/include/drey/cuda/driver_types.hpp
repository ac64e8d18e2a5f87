// driver_types.hpp: the types of the CUDA driver's C interface that drey uses, declared here, so
// that it builds where no CUDA toolkit is.
//
// Invariant: same sizes, layouts and numbers as <cuda.h>; the handles are the very same types.
// tests/unit/cuda/driver_abi_test.cpp compares them, where there is a <cuda.h>.
// Read next: driver_table.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

// What <cuda.h> itself points at: CUstream is CUstream_st*, and so on.
// NOLINTBEGIN(readability-identifier-naming): the driver's own names.
struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
struct CUmemPoolHandle_st;
struct CUmod_st;
struct CUstream_st;
// NOLINTEND(readability-identifier-naming)

namespace drey::cuda {
using Device = int;
using DevicePointer = unsigned long long;
using MemoryHandle = unsigned long long;
using Context = ::CUctx_st*;
using Event = ::CUevent_st*;
using Function = ::CUfunc_st*;
using Graph = ::CUgraph_st*;
using GraphExec = ::CUgraphExec_st*;
using GraphNode = ::CUgraphNode_st*;
using MemoryPool = ::CUmemPoolHandle_st*;
using Module = ::CUmod_st*;
using Stream = ::CUstream_st*;

/// CUresult, as far as drey tells results apart.
enum class Result : unsigned {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForDevice = 209,
  kInvalidProgram = 218,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kPeerAccessAlreadyEnabled = 704,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kNotPermitted = 800,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kUnknown = 999,
};

/// CUdevice_attribute, as far as drey asks.
enum class DeviceAttribute : unsigned {
  kUnifiedAddressing = 41,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kVirtualMemory = 102,
  kPosixFileDescriptors = 103,
  kDirectRdmaWithVirtualMemory = 110,
  kMemoryPools = 115,
};

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostAllocPortable = 1;

/// The two streams that have a fixed handle; the null handle is the legacy stream as well.
inline Stream legacy_stream() noexcept {
  return reinterpret_cast<Stream>(std::uintptr_t{1});
}
inline Stream per_thread_stream() noexcept {
  return reinterpret_cast<Stream>(std::uintptr_t{2});
}

enum class CaptureMode : unsigned { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum class CaptureStatus : unsigned { kNone = 0, kActive = 1, kInvalidated = 2 };

inline constexpr unsigned kAddCaptureDependencies = 0;
inline constexpr unsigned kSetCaptureDependencies = 1;

/// CUmemLocation.
struct MemoryLocation {
  static constexpr unsigned kDevice = 1;
  unsigned type = kDevice;
  int id = 0;
};

/// CUmemAllocationProp.
struct MemoryProperties {
  static constexpr unsigned kPinned = 1;
  struct Flags {
    unsigned char compression = 0;
    unsigned char direct_rdma = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  };
  unsigned type = kPinned;
  unsigned exported_as = 0;
  MemoryLocation location;
  void* windows_data = nullptr;
  Flags flags;
};

/// CUmemAccessDesc.
struct MemoryAccess {
  static constexpr unsigned kNone = 0;
  static constexpr unsigned kRead = 1;
  static constexpr unsigned kReadWrite = 3;
  MemoryLocation location;
  unsigned flags = kReadWrite;
};

/// CUmemAllocationHandleType: in what form physical memory goes to another process.
inline constexpr unsigned kPosixFileDescriptor = 1;

/// CUmemPoolProps.
struct PoolProperties {
  unsigned type = MemoryProperties::kPinned;
  unsigned exported_as = 0;
  MemoryLocation location;
  void* windows_data = nullptr;
  std::size_t bytes_max = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};

/// CUmemPool_attribute. The three policies are ints, all others 64 bits.
enum class PoolAttribute : unsigned {
  kReuseFollowEvents = 1,
  kReuseOpportunistic = 2,
  kReuseInternalDependencies = 3,
  kReleaseThreshold = 4,
  kReservedCurrent = 5,
  kReservedHigh = 6,
  kUsedCurrent = 7,
  kUsedHigh = 8,
};

enum class Granularity : unsigned { kMinimum = 0, kRecommended = 1 };

/// CUgraphEdgeData; all zero for a plain dependency.
struct GraphEdge {
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  unsigned char reserved[5];
};
}  // namespace drey::cuda
