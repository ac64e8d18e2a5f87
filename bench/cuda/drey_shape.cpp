// drey_shape.cpp: drey's device allocator, as the benchmark drives it.
// SPDX-License-Identifier: MIT
#include "cuda/counted_driver.hpp"
#include "cuda/shapes.hpp"

#include <drey/base/assert.hpp>
#include <drey/cuda/device_allocator.hpp>

namespace drey::bench {
namespace {
class DreyShape : public AllocatorShape {
 public:
  DreyShape() {
    DREY_CHECK(allocator_.open(counted_driver(), {}).is_ok(), "the allocator does not open");
  }
  ~DreyShape() override { static_cast<void>(allocator_.close()); }

  void* allocate(std::size_t bytes, cuda::Stream stream) override {
    return allocator_.try_allocate(bytes, cuda::DeviceAllocator::kGranuleBytes, stream).pointer;
  }
  void deallocate(void* block, std::size_t /*bytes*/, cuda::Stream stream) override {
    static_cast<void>(allocator_.try_deallocate(block, stream));
  }

 private:
  cuda::DeviceAllocator allocator_;
};
}  // namespace

std::unique_ptr<AllocatorShape> make_drey_shape() {
  return std::make_unique<DreyShape>();
}
}  // namespace drey::bench
