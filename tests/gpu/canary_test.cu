// canary_test.cu: hazards of streams as a device sees them: each use of a block is a kernel that writes the
// use's tag, spins, and looks whether the tag is still there. A foreign tag is memory that two had at once.
// First that the canary sings when there is a hazard, then that it does not with drey's allocator.
// SKIPPED without a device. SPDX-License-Identifier: MIT
#include <drey/cuda/device_allocator.hpp>
#include <drey/cuda/driver.hpp>
#include <drey/cuda/driver_table.hpp>

#include "support/seed.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace {
using drey::cuda::DeviceAllocator;

constexpr int kThreads = 128;

// `before`: the tag that must be there, 0 for any. Nanoseconds by the device's own clock.
__global__ void use_block(unsigned* words, std::uint64_t count, unsigned before, unsigned tag,
                          std::uint64_t spin_ns, unsigned* errors) {
  volatile unsigned* const block = words;
  const std::uint64_t step = count / kThreads + 1;
  const std::uint64_t place = threadIdx.x * step < count ? threadIdx.x * step : 0;
  if (before != 0 && place == threadIdx.x * step && block[place] != before) atomicAdd(errors, 1U);
  __syncthreads();
  if (place == threadIdx.x * step) block[place] = tag;
  std::uint64_t begin = 0;
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < spin_ns);
  if (place == threadIdx.x * step && block[place] != tag) atomicAdd(errors, 1U);
}

struct Block {
  void* pointer = nullptr;
  std::size_t bytes = 0;
  int stream = 0;
  unsigned tag = 0;
};

class Canary : public ::testing::Test {
 protected:
  void SetUp() override {
    const drey::cuda::DriverStatus status = drey::cuda::probe_driver();
    if (status.reason.length() != 0) GTEST_SKIP() << "SKIPPED: " << status.reason.c_str();
    driver_ = drey::cuda::load_driver();
    ASSERT_EQ(cudaMalloc(&errors_, sizeof(unsigned)), cudaSuccess);
    ASSERT_EQ(cudaMemset(errors_, 0, sizeof(unsigned)), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), cudaSuccess);
    for (cudaStream_t& stream : streams_)
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override {
    if (errors_ == nullptr) return;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (cudaStream_t stream : streams_) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(event_), cudaSuccess);
    EXPECT_EQ(cudaFree(errors_), cudaSuccess);
  }

  void use(Block& block, int stream, bool must_have_tag) {
    const unsigned before = must_have_tag ? block.tag : 0;
    block.tag = ++tags_;
    use_block<<<1, kThreads, 0, streams_[stream]>>>(static_cast<unsigned*>(block.pointer),
                                                    block.bytes / sizeof(unsigned), before,
                                                    block.tag, 20'000, errors_);
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  }
  void order(int waited, int waiter) {
    ASSERT_EQ(cudaEventRecord(event_, streams_[waited]), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(streams_[waiter], event_, 0), cudaSuccess);
  }
  unsigned errors() {
    unsigned count = 0;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(&count, errors_, sizeof count, cudaMemcpyDeviceToHost), cudaSuccess);
    return count;
  }

  // A block of the allocator lives, is used in up to two streams, and is freed in one of two ways.
  void step(DeviceAllocator& allocator, std::mt19937_64& random, Block& block) {
    if (block.pointer == nullptr) {
      block.bytes = random() % 4 == 0 ? 4 + random() % (6 << 20) : 4 + random() % 65'536;
      block.bytes &= ~std::size_t{3};
      block.stream = static_cast<int>(random() % kStreams);
      const auto made = allocator.try_allocate(block.bytes, 256, handle(block.stream));
      ASSERT_TRUE(made.outcome.is_ok()) << drey::cuda::text_of(made.outcome.status);
      block.pointer = made.pointer;
      return use(block, block.stream, false);
    }
    const int other = static_cast<int>(random() % kStreams);
    switch (random() % 4) {
      case 0:
        return use(block, block.stream, true);
      case 1:  // there and back, so that the block's own stream comes last
        order(block.stream, other);
        use(block, other, true);
        ASSERT_TRUE(allocator.record_use(block.pointer, handle(other)).is_ok());
        return order(other, block.stream);
      case 2:
        order(block.stream, other);
        use(block, other, true);
        ASSERT_TRUE(allocator.try_deallocate(block.pointer, handle(other)).is_ok());
        break;
      default:
        ASSERT_TRUE(allocator.try_deallocate(block.pointer).is_ok());
    }
    block.pointer = nullptr;
  }
  drey::cuda::Stream handle(int stream) {
    return reinterpret_cast<drey::cuda::Stream>(streams_[stream]);
  }

  static constexpr int kStreams = 8;
  drey::cuda::LoadedDriver driver_;
  unsigned* errors_ = nullptr;
  cudaEvent_t event_ = nullptr;
  cudaStream_t streams_[kStreams] = {};
  unsigned tags_ = 0;
};

TEST_F(Canary, SeesTwoStreamsUseOneBlockAtOnce) {
  Block block;
  block.bytes = 65'536;
  ASSERT_EQ(cudaMalloc(&block.pointer, block.bytes), cudaSuccess);
  for (int round = 0; round < 50; ++round) {
    use(block, 0, false);
    use(block, 1, false);
  }
  EXPECT_GT(errors(), 0U);
  EXPECT_EQ(cudaFree(block.pointer), cudaSuccess);
}

TEST_F(Canary, SeesNothingInRandomProgramsOnTheDeviceAllocator) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    drey::cuda::AllocatorConfig config;
    config.limits.hard = std::uint64_t{64} << 20;  // so little that it has to move and wait
    config.may_insert_waits = seed % 2 == 0;
    DeviceAllocator allocator;
    ASSERT_TRUE(allocator.open(driver_.table, config).is_ok());
    std::mt19937_64 random(seed);
    std::vector<Block> blocks(24);
    const std::size_t steps = drey::test::scaled(10'000);
    for (std::size_t count = 0; count < steps && !HasFatalFailure(); ++count)
      step(allocator, random, blocks[random() % blocks.size()]);
    EXPECT_EQ(errors(), 0U) << "seed " << seed;
    EXPECT_TRUE(allocator.invariants_hold());
    EXPECT_TRUE(allocator.close().is_ok());
  }
}
}  // namespace
