// sim_pools_test.cpp: the simulated driver's own memory pools: who may have a freed block, under which
// policy, and when memory goes back.
// SPDX-License-Identifier: MIT
#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace drey::cuda::sim {
namespace {
constexpr std::size_t kBytes = 1 << 20;
constexpr std::uint64_t kPiece = std::uint64_t{2} << 20;

class SimPools : public ::testing::Test {
 protected:
  void SetUp() override {
    PoolProperties properties;
    SimulatedDevice::expect(device_.driver.mem_pool_create(&pool_, &properties));
    a_ = device_.new_stream();
    b_ = device_.new_stream();
    set(PoolAttribute::kReleaseThreshold, UINT64_MAX);
  }
  void TearDown() override {
    SimulatedDevice::expect(device_.driver.mem_pool_destroy(pool_));
    SimulatedDevice::expect(device_.driver.ctx_synchronize());
    EXPECT_EQ(device_.simulator.counts().physical_bytes, 0U);
    EXPECT_EQ(device_.simulator.counts().pools, 0U);
    device_.expect_none();
  }

  void set(PoolAttribute attribute, std::uint64_t value) {
    SimulatedDevice::expect(device_.driver.mem_pool_set_attribute(pool_, attribute, &value));
  }
  void allow(bool follow, bool opportunistic, bool internal) {
    set(PoolAttribute::kReuseFollowEvents, follow ? 1 : 0);
    set(PoolAttribute::kReuseOpportunistic, opportunistic ? 1 : 0);
    set(PoolAttribute::kReuseInternalDependencies, internal ? 1 : 0);
  }
  std::uint64_t number(PoolAttribute attribute) {
    std::uint64_t value = 0;
    SimulatedDevice::expect(device_.driver.mem_pool_get_attribute(pool_, attribute, &value));
    return value;
  }
  // A block of its own piece, and its user's work.
  DevicePointer take(Stream stream, const char* label) {
    DevicePointer block = 0;
    SimulatedDevice::expect(
        device_.driver.mem_alloc_from_pool_async(&block, kPiece, pool_, stream));
    device_.simulator.block_allocated(block, kPiece, stream);
    device_.launch(stream, block, kPiece, label);
    return block;
  }
  void give(DevicePointer block, Stream stream) {
    device_.simulator.block_freed(block, stream);
    SimulatedDevice::expect(device_.driver.mem_free_async(block, stream));
  }

  SimulatedDevice device_;
  MemoryPool pool_ = nullptr;
  Stream a_ = nullptr;
  Stream b_ = nullptr;
};

TEST_F(SimPools, GiveABlockToItsOwnStreamAgain) {
  allow(false, false, false);
  const DevicePointer block = take(a_, "first");
  give(block, a_);
  EXPECT_EQ(take(a_, "second"), block);
  give(block, a_);
}

TEST_F(SimPools, GiveABlockToAnotherStreamThatWaitedForItsFree) {
  allow(true, false, false);
  const DevicePointer block = take(a_, "first");
  give(block, a_);
  const DevicePointer other = take(b_, "second");
  EXPECT_NE(other, block) << "nobody waited";
  give(other, b_);
  Event event = device_.new_event();
  device_.record(event, a_);
  device_.wait(b_, event);
  const DevicePointer again = take(b_, "third");
  const DevicePointer both = take(b_, "fourth");
  EXPECT_TRUE(again == block || both == block);
  give(again, b_);
  give(both, b_);
}

TEST_F(SimPools, GiveABlockToAnotherStreamWhenItsFreeIsPast) {
  allow(false, true, false);
  const DevicePointer block = take(a_, "first");
  give(block, a_);
  const DevicePointer other = take(b_, "second");
  EXPECT_NE(other, block) << "not past yet";
  device_.simulator.complete(a_);
  EXPECT_EQ(take(b_, "third"), block);
  give(block, b_);
  give(other, b_);
}

TEST_F(SimPools, MakeTheOtherStreamWaitWhereThatIsAllowed) {
  allow(false, false, true);
  const DevicePointer block = take(a_, "first");
  give(block, a_);
  EXPECT_EQ(take(b_, "second"), block);
  give(block, b_);
  // No hazard: TearDown() looks.
}

TEST_F(SimPools, CutPiecesAndJoinThemAgain) {
  DevicePointer blocks[4] = {};
  for (DevicePointer& block : blocks)
    SimulatedDevice::expect(
        device_.driver.mem_alloc_from_pool_async(&block, kBytes / 2, pool_, a_));
  EXPECT_EQ(number(PoolAttribute::kReservedCurrent), kPiece) << "four in one piece";
  EXPECT_EQ(number(PoolAttribute::kUsedCurrent), kPiece);
  for (const int index : {1, 3, 0, 2})
    SimulatedDevice::expect(device_.driver.mem_free_async(blocks[index], a_));
  EXPECT_EQ(number(PoolAttribute::kUsedCurrent), 0U);
  const DevicePointer whole = take(a_, "whole");
  EXPECT_EQ(whole, blocks[0]) << "joined";
  give(whole, a_);
  EXPECT_EQ(number(PoolAttribute::kUsedHigh), kPiece);
}

TEST_F(SimPools, GiveBackWhatIsAboveTheThresholdAtAWait) {
  set(PoolAttribute::kReleaseThreshold, kPiece);
  const DevicePointer one = take(a_, "one");
  const DevicePointer other = take(a_, "other");
  give(one, a_);
  give(other, a_);
  EXPECT_EQ(number(PoolAttribute::kReservedCurrent), 2 * kPiece) << "nobody waited yet";
  SimulatedDevice::expect(device_.driver.stream_synchronize(a_));
  EXPECT_EQ(number(PoolAttribute::kReservedCurrent), kPiece);
  SimulatedDevice::expect(device_.driver.mem_pool_trim_to(pool_, 0));
  EXPECT_EQ(number(PoolAttribute::kReservedCurrent), 0U);
  EXPECT_EQ(number(PoolAttribute::kReservedHigh), 2 * kPiece);
}

TEST_F(SimPools, KeepWhatWorkMayStillUse) {
  const DevicePointer block = take(a_, "work");
  give(block, a_);
  SimulatedDevice::expect(device_.driver.mem_pool_trim_to(pool_, 0));
  EXPECT_EQ(number(PoolAttribute::kReservedCurrent), kPiece);
}

TEST_F(SimPools, RefuseWhatIsWrong) {
  DevicePointer block = 0;
  EXPECT_EQ(device_.driver.mem_alloc_async(&block, 0, a_), Result::kInvalidValue);
  EXPECT_EQ(device_.driver.mem_alloc_async(&block, SIZE_MAX - 5, a_), Result::kOutOfMemory);
  EXPECT_EQ(device_.driver.mem_free_async(12345, a_), Result::kInvalidValue);
  SimulatedDevice::expect(device_.driver.mem_alloc_async(&block, kBytes, a_));
  EXPECT_EQ(device_.driver.mem_free_async(block + 512, a_), Result::kInvalidValue);
  EXPECT_EQ(device_.driver.mem_free(block), Result::kSuccess) << "the plain free waits";
  EXPECT_EQ(device_.driver.mem_free_async(block, a_), Result::kInvalidValue) << "twice";
  MemoryPool standard = nullptr;
  SimulatedDevice::expect(device_.driver.device_get_default_mem_pool(&standard, 0));
  EXPECT_EQ(device_.driver.mem_pool_destroy(standard), Result::kInvalidValue);
  SimulatedDevice::expect(device_.driver.stream_begin_capture(a_, CaptureMode::kRelaxed));
  EXPECT_EQ(device_.driver.mem_alloc_async(&block, kBytes, a_), Result::kCaptureUnsupported);
  Graph graph = nullptr;
  EXPECT_EQ(device_.driver.stream_end_capture(a_, &graph), Result::kCaptureInvalidated);
  device_.expect_one(HazardKind::kIllegalCapture, Blame::kCaller);
}

TEST_F(SimPools, LeaveAddressesThatOthersMayUseAtOnce) {
  const DevicePointer block = take(a_, "first");
  give(block, a_);
  device_.simulator.complete(a_);
  SimulatedDevice::expect(device_.driver.mem_pool_trim_to(pool_, 0));
  const DevicePointer other = device_.new_memory(kPiece);
  EXPECT_EQ(other, block);
  device_.simulator.block_allocated(other, kPiece, b_);
  device_.launch(b_, other, kPiece, "second");
  device_.simulator.block_freed(other, b_);
  SimulatedDevice::expect(device_.driver.mem_free(other));
}

// The user's fault stays one: the pool may have given the block away.
TEST_F(SimPools, DoNotHideAUseAfterTheFree) {
  const DevicePointer block = take(a_, "first");
  give(block, a_);
  device_.launch(a_, block, 16, "late");
  device_.expect_one(HazardKind::kUseAfterFree, Blame::kUser);
}
}  // namespace
}  // namespace drey::cuda::sim
