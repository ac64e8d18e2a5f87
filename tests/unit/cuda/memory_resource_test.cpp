// memory_resource_test.cpp: that the device allocator is a resource by the concepts of the toolkit's CCCL, by the shapes of the other
// generation, and through a reference as libraries hold it.
// SPDX-License-Identifier: MIT
#include <drey/cuda/memory_resource.hpp>

#include "unit/cuda/allocator_fixture.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace drey::cuda {
namespace {
// As CCCL from 3.1 on has them in its concepts.
template <class Resource>
concept HasShapeOf31 = std::equality_comparable<Resource> &&
    requires(Resource& resource, void* pointer, std::size_t size, ::cuda::stream_ref stream) {
  { resource.allocate_sync(size, size) } -> std::same_as<void*>;
  { resource.deallocate_sync(pointer, size, size) } -> std::same_as<void>;
  { resource.allocate(stream, size, size) } -> std::same_as<void*>;
  { resource.deallocate(stream, pointer, size, size) } -> std::same_as<void>;
  requires noexcept(resource.deallocate_sync(pointer, size, size));
  requires noexcept(resource.deallocate(stream, pointer, size, size));
};
static_assert(HasShapeOf31<MemoryResource>);

#if CCCL_VERSION >= 3001000
static_assert(::cuda::mr::synchronous_resource<MemoryResource>);
static_assert(::cuda::mr::resource<MemoryResource>);
static_assert(::cuda::mr::synchronous_resource_with<MemoryResource, ::cuda::mr::device_accessible>);
static_assert(::cuda::mr::resource_with<MemoryResource, ::cuda::mr::device_accessible>);
static_assert(!::cuda::mr::resource_with<MemoryResource, ::cuda::mr::host_accessible>);
using StreamReference = ::cuda::mr::resource_ref<::cuda::mr::device_accessible>;
using PlainReference = ::cuda::mr::synchronous_resource_ref<::cuda::mr::device_accessible>;
void* allocate_by(StreamReference resource, std::size_t bytes, Stream stream) {
  return resource.allocate(::cuda::stream_ref(stream), bytes, 256);
}
void deallocate_by(StreamReference resource, void* pointer, std::size_t bytes, Stream stream) {
  resource.deallocate(::cuda::stream_ref(stream), pointer, bytes, 256);
}
void* allocate_plain_by(PlainReference resource, std::size_t bytes) {
  return resource.allocate_sync(bytes, 256);
}
void deallocate_plain_by(PlainReference resource, void* pointer, std::size_t bytes) {
  resource.deallocate_sync(pointer, bytes, 256);
}
#else
static_assert(::cuda::mr::resource<MemoryResource>);
static_assert(::cuda::mr::async_resource<MemoryResource>);
static_assert(::cuda::mr::resource_with<MemoryResource, ::cuda::mr::device_accessible>);
static_assert(::cuda::mr::async_resource_with<MemoryResource, ::cuda::mr::device_accessible>);
static_assert(!::cuda::mr::async_resource_with<MemoryResource, ::cuda::mr::host_accessible>);
using StreamReference = ::cuda::mr::async_resource_ref<::cuda::mr::device_accessible>;
using PlainReference = ::cuda::mr::resource_ref<::cuda::mr::device_accessible>;
void* allocate_by(StreamReference resource, std::size_t bytes, Stream stream) {
  return resource.allocate_async(bytes, 256, ::cuda::stream_ref(stream));
}
void deallocate_by(StreamReference resource, void* pointer, std::size_t bytes, Stream stream) {
  resource.deallocate_async(pointer, bytes, 256, ::cuda::stream_ref(stream));
}
void* allocate_plain_by(PlainReference resource, std::size_t bytes) {
  return resource.allocate(bytes, 256);
}
void deallocate_plain_by(PlainReference resource, void* pointer, std::size_t bytes) {
  resource.deallocate(pointer, bytes, 256);
}
#endif

class Resources : public ::testing::Test {
 protected:
  void use(void* pointer, std::size_t bytes, Stream stream) {
    fixture_.device.launch(stream, AllocatorFixture::number_of(pointer), bytes, "use");
  }
  void tell_allocated(void* pointer, std::size_t bytes, Stream stream) {
    fixture_.device.simulator.block_allocated(AllocatorFixture::number_of(pointer), bytes, stream);
  }
  AllocatorFixture fixture_;
  MemoryResource resource_{fixture_.allocator, fixture_.device.driver};
};

TEST_F(Resources, ServeAStreamThroughAReferenceWithoutWaiting) {
  Stream stream = fixture_.device.new_stream();
  void* const first = allocate_by(resource_, 3000, stream);
  tell_allocated(first, 3000, stream);
  use(first, 3000, stream);
  fixture_.device.simulator.block_freed(AllocatorFixture::number_of(first), stream);
  const std::uint64_t calls = fixture_.calls();
  deallocate_by(resource_, first, 3000, stream);
  void* const second = allocate_by(resource_, 3000, stream);
  EXPECT_EQ(second, first);
  EXPECT_EQ(fixture_.calls(), calls);
  deallocate_by(resource_, second, 3000, stream);
}

// What was freed in the resource's stream is pending there; another stream must not see that.
TEST_F(Resources, GiveMemoryForAllStreamsWhenNoneIsNamed) {
  Stream other = fixture_.device.new_stream();
  void* const pending = allocate_by(resource_, 3000, nullptr);
  tell_allocated(pending, 3000, nullptr);
  use(pending, 3000, nullptr);
  fixture_.device.simulator.block_freed(AllocatorFixture::number_of(pending), nullptr);
  deallocate_by(resource_, pending, 3000, nullptr);
  void* const block = allocate_plain_by(resource_, 3000);
  EXPECT_EQ(block, pending);
  tell_allocated(block, 3000, other);
  use(block, 3000, other);
  sim::SimulatedDevice::expect(fixture_.device.driver.stream_synchronize(other));
  fixture_.device.simulator.block_freed(AllocatorFixture::number_of(block), other);
  deallocate_plain_by(resource_, block, 3000);
}

TEST_F(Resources, LeaveNothingBehindIfTheWaitFails) {
  fixture_.device.simulator.faults().fail_nth("cuStreamSynchronize", 1, Result::kIllegalAddress);
  EXPECT_THROW(static_cast<void>(resource_.allocate_sync(3000)), DriverError);
  EXPECT_EQ(fixture_.allocator.statistics().allocation.all.current, 0U);
}

TEST_F(Resources, ThrowIfThereIsNoMemoryAndTakeNullForNothing) {
  EXPECT_THROW(static_cast<void>(resource_.allocate_sync(4096 * kMiB)), OutOfDeviceMemory);
  EXPECT_EQ(resource_.allocate_sync(0), nullptr);
  resource_.deallocate_sync(nullptr, 0);
}

TEST_F(Resources, AreEqualIfTheyHaveTheSameAllocator) {
  const MemoryResource other_stream(fixture_.allocator, fixture_.device.driver,
                                    fixture_.device.new_stream());
  EXPECT_TRUE(resource_ == other_stream);
  DeviceAllocator closed;
  EXPECT_FALSE(resource_ == MemoryResource(closed, fixture_.device.driver));
}

TEST_F(Resources, EndTheProgramByNameIfABlockIsFreedTwice) {
  // In a program of its own: the allocator refuses a forked child.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  void* const block = resource_.allocate_sync(3000);
  resource_.deallocate_sync(block, 3000);
  EXPECT_DEATH(resource_.deallocate_sync(block, 3000), "the block is free already");
}
}  // namespace
}  // namespace drey::cuda
