// fake_nccl.hpp: how a test steers the library that stands in for NCCL (fake_nccl.cpp).
// Read next: fake_nccl.cpp. SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_types.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace drey::test {
/// Threads: at quiet points.
struct FakeNccl {
  std::map<std::string, int> calls;  ///< by function
  std::string failing;               ///< the function that fails; none if empty
  int result = 0;                    ///< with this
  int later_result = 0;              ///< what ncclCommGetAsyncError() tells of the work
  int version = 22705;
  std::size_t live = 0;  ///< communicators that are neither destroyed nor aborted
  /// Tells the device of work in the stream that reads and writes the bytes.
  std::function<cuda::Result(cuda::Stream, const void*, std::size_t)> submit;
};
using FakeNcclState = FakeNccl* (*)();
inline constexpr const char* kFakeNcclState = "drey_fake_nccl";
}  // namespace drey::test
