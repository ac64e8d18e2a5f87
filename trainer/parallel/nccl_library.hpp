// nccl_library.hpp: the part of NCCL that averages gradients, from a library that is opened at run time, so
// that a program starts and builds without it.
// Invariants: a table that load_nccl() gives has every function; the library stays open.
// Source: the declarations follow the documented API of NCCL 2, equal from 2.4 on.
// Read next: nccl_reduction.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_types.hpp>

#include <cstddef>

namespace drey::trainer {
extern "C" {
struct NcclComm;  ///< ncclComm, which nobody looks into
/// What rank 0 draws and all ranks need to find each other. Passed by value.
struct NcclUniqueId {
  char bytes[128];
};
}
static_assert(sizeof(NcclUniqueId) == 128, "NCCL_UNIQUE_ID_BYTES");

/// ncclResult_t: zero is success, ncclGetErrorString() knows the others.
using NcclResult = int;
inline constexpr NcclResult kNcclSuccess = 0;
inline constexpr int kNcclFloat = 7;  ///< ncclFloat32
inline constexpr int kNcclSum = 0;    ///< ncclSum

/// The functions that are used, named as in <nccl.h>, without "nccl".
struct NcclApi {
  NcclResult (*get_version)(int* version);
  const char* (*get_error_string)(NcclResult result);
  NcclResult (*get_unique_id)(NcclUniqueId* id);
  NcclResult (*comm_init_rank)(NcclComm** comm, int rank_count, NcclUniqueId id, int rank);
  NcclResult (*all_reduce)(const void* send, void* receive, std::size_t count, int data_type,
                           int operation, NcclComm* comm, cuda::Stream stream);
  NcclResult (*comm_get_async_error)(NcclComm* comm, NcclResult* result);
  NcclResult (*comm_destroy)(NcclComm* comm);
  NcclResult (*comm_abort)(NcclComm* comm);
};

/// Opens libnccl.so.2, or what DREY_NCCL_LIBRARY names. Threads: any.
/// Fails: ConfigError, in one line: no such library, a function that it lacks, or another version than 2.
[[nodiscard]] NcclApi load_nccl();
}  // namespace drey::trainer
