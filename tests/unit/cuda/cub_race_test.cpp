// cub_race_test.cpp: the toolkit's own caching allocator on the simulated device: its blocks become
// visible before their event is recorded, and another stream takes one that is still in use.
//
// Method: the headers as they are, linked with the fake runtime, which stops a free at cudaEventRecord:
// the allocator's lock is open then, so what another thread would do is done right there.
// A toolkit whose allocator records first would make RacesWhereItRecordsAfterItUnlocks fail: then the
// race is mended, and this file has done its duty.
// SPDX-License-Identifier: MIT
#include <drey/cuda/fake_runtime.hpp>

#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <cub/util_allocator.cuh>

namespace drey::cuda::sim {
namespace {
constexpr std::size_t kBytes = 4096;

class CubAllocator : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(use_fake_runtime(device_.driver), Result::kSuccess);
    stream_a_ = device_.new_stream();
    stream_b_ = device_.new_stream();
  }
  void TearDown() override {
    set_before_event_record(nullptr, nullptr);
    EXPECT_EQ(cub_.FreeAllCached(), cudaSuccess);
    EXPECT_EQ(device_.simulator.counts().allocations, 0U);
    EXPECT_EQ(device_.simulator.counts().events, 0U);
  }

  void* allocate(Stream stream) {
    void* block = nullptr;
    EXPECT_EQ(cub_.DeviceAllocate(&block, kBytes, stream), cudaSuccess);
    device_.simulator.block_allocated(reinterpret_cast<DevicePointer>(block), kBytes, stream);
    return block;
  }
  void use(void* block, Stream stream, const char* label) {
    device_.launch(stream, reinterpret_cast<DevicePointer>(block), kBytes, label);
  }
  void deallocate(void* block) {
    device_.simulator.block_freed(reinterpret_cast<DevicePointer>(block));
    EXPECT_EQ(cub_.DeviceFree(block), cudaSuccess);
  }

  // What the other thread does, once.
  static void act(void* self) {
    set_before_event_record(nullptr, nullptr);
    auto& test = *static_cast<CubAllocator*>(self);
    test.taken_ = test.allocate(test.other_stream_);
    test.use(test.taken_, test.other_stream_, "second user");
  }
  void free_with_an_allocation_between(void* block, Stream other) {
    other_stream_ = other;
    set_before_event_record(act, this);
    deallocate(block);
    if (taken_ != nullptr) deallocate(taken_);
  }

  SimulatedDevice device_;
  ::cub::CachingDeviceAllocator cub_;
  Stream stream_a_ = nullptr;
  Stream stream_b_ = nullptr;
  Stream other_stream_ = nullptr;
  void* taken_ = nullptr;
};

TEST_F(CubAllocator, RacesWhereItRecordsAfterItUnlocks) {
  void* const block = allocate(stream_a_);
  use(block, stream_a_, "first user");
  free_with_an_allocation_between(block, stream_b_);
  EXPECT_EQ(taken_, block) << "the other stream was not given the block that is in use";
  device_.expect_one(HazardKind::kReuse, Blame::kAllocator);
}

TEST_F(CubAllocator, IsSafeWhereTheOtherThreadHasTheSameStream) {
  void* const block = allocate(stream_a_);
  use(block, stream_a_, "first user");
  free_with_an_allocation_between(block, stream_a_);
  EXPECT_EQ(taken_, block);
  device_.expect_none();
}

// After the record the event is asked, and says no: the block waits, another one is made.
TEST_F(CubAllocator, IsSafeWhereNobodyComesBetween) {
  void* const block = allocate(stream_a_);
  use(block, stream_a_, "first user");
  deallocate(block);
  void* const other = allocate(stream_b_);
  EXPECT_NE(other, block);
  use(other, stream_b_, "second user");
  deallocate(other);
  device_.expect_none();
}

TEST_F(CubAllocator, GivesItsCacheBackWhenTheDeviceIsFull) {
  void* const block = allocate(stream_a_);
  deallocate(block);
  device_.simulator.set_other_processes(0, (std::uint64_t{1} << 30) - kBytes);
  void* const other = allocate(stream_b_);
  EXPECT_NE(other, nullptr);
  deallocate(other);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the failure before the retry was taken back";
}
}  // namespace
}  // namespace drey::cuda::sim
