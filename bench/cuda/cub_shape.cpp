// cub_shape.cpp: the toolkit's own caching allocator, its headers as they are, on the fake runtime.
// SPDX-License-Identifier: MIT
#include <drey/cuda/fake_runtime.hpp>

#include "cuda/counted_driver.hpp"
#include "cuda/shapes.hpp"

#include <drey/base/assert.hpp>

#include <cub/util_allocator.cuh>

namespace drey::bench {
namespace {
class CubShape : public AllocatorShape {
 public:
  CubShape() {
    const cuda::Result started = cuda::use_fake_runtime(counted_driver());
    DREY_CHECK(started == cuda::Result::kSuccess, "the fake runtime does not start");
  }
  void* allocate(std::size_t bytes, cuda::Stream stream) override {
    void* block = nullptr;
    static_cast<void>(cub_.DeviceAllocate(&block, bytes, stream));
    return block;
  }
  void deallocate(void* block, std::size_t /*bytes*/, cuda::Stream /*stream*/) override {
    static_cast<void>(cub_.DeviceFree(block));
  }

 private:
  // Bins of powers of two up to 64 MiB and no limit: its defaults keep 6 MiB, which would be measured as
  // a driver's allocation at every other call.
  ::cub::CachingDeviceAllocator cub_{2, 9, 26, static_cast<std::size_t>(-1), false};
};
}  // namespace

std::unique_ptr<AllocatorShape> make_cub_shape() {
  return std::make_unique<CubShape>();
}
}  // namespace drey::bench
