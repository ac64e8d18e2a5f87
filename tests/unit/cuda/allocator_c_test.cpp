// allocator_c_test.cpp: the device allocator by its C interface, on the simulated device's library, by the way a
// program goes that knows nothing of either.
// SPDX-License-Identifier: MIT
#include <drey/cuda.h>
#include <drey/cuda/status.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace drey::cuda {
namespace {
int code(Status status) {
  return static_cast<int>(status);
}

TEST(CInterface, AllocatesAndSaysWhatIsWrong) {
  ::setenv("DREY_CUDA_LIBRARY", DREY_SIMCUDA_LIBRARY, 1);
  ::setenv("DREY_SIM_MEMORY_MIB", "64", 1);
  drey_cuda_allocator* allocator = nullptr;
  char message[200] = "";
  ASSERT_EQ(drey_cuda_open(0, &allocator, message, sizeof(message)), 0) << message;
  void* block = nullptr;
  ASSERT_EQ(drey_cuda_allocate(allocator, 5000, 256, nullptr, &block), 0);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(drey_cuda_record_use(allocator, block, nullptr), 0);
  EXPECT_EQ(drey_cuda_deallocate(allocator, static_cast<char*>(block) + 1),
            code(Status::kInteriorPointer));
  EXPECT_EQ(drey_cuda_deallocate_in(allocator, block, nullptr), 0);
  EXPECT_EQ(drey_cuda_deallocate(allocator, block), code(Status::kDoubleFree));
  EXPECT_STREQ(drey_cuda_message(code(Status::kDoubleFree)), "the block is free already");
  EXPECT_STREQ(drey_cuda_message(77), "unknown status");

  char report[1000] = "x";
  EXPECT_EQ(drey_cuda_last_report(report, sizeof(report)), 0U);
  EXPECT_STREQ(report, "");
  EXPECT_EQ(drey_cuda_allocate(allocator, 65 << 20, 256, nullptr, &block),
            code(Status::kOutOfMemory));
  EXPECT_EQ(block, nullptr);
  EXPECT_GT(drey_cuda_last_report(report, sizeof(report)), 100U);
  EXPECT_NE(std::string(report).find("68157440 bytes asked for"), std::string::npos) << report;

  std::uint64_t pool = 0;
  std::uint64_t capture = 0;
  EXPECT_EQ(drey_cuda_pool_create(allocator, 0, &pool), 0);
  EXPECT_EQ(drey_cuda_pool_retain(allocator, pool), 0);
  EXPECT_EQ(drey_cuda_pool_begin(allocator, pool), 0);
  EXPECT_EQ(drey_cuda_allocate(allocator, 5000, 256, nullptr, &block), 0);
  EXPECT_EQ(drey_cuda_pool_end(allocator, pool), 0);
  EXPECT_EQ(drey_cuda_pool_end(allocator, pool), code(Status::kInvalidPool));
  EXPECT_EQ(drey_cuda_deallocate(allocator, block), 0);
  EXPECT_EQ(drey_cuda_capture_begin(allocator, pool, &capture), 0);
  EXPECT_EQ(drey_cuda_capture_bind(allocator, capture, nullptr), code(Status::kInvalidStream));
  EXPECT_EQ(drey_cuda_trim(allocator, 0, nullptr), code(Status::kCaptureForbids));
  EXPECT_EQ(drey_cuda_capture_end(allocator, capture, 0), 0);
  EXPECT_EQ(drey_cuda_pool_release_after(allocator, pool, nullptr), 0);
  EXPECT_EQ(drey_cuda_pool_release(allocator, pool), 0);
  EXPECT_EQ(drey_cuda_pool_release(allocator, pool), code(Status::kInvalidPool));

  EXPECT_EQ(drey_cuda_sleep(allocator), 0);
  EXPECT_EQ(drey_cuda_allocate(allocator, 1, 1, nullptr, &block), code(Status::kAsleep));
  EXPECT_EQ(drey_cuda_wake(allocator), 0);
  EXPECT_EQ(drey_cuda_set_limits(allocator, 1, 2, 0), code(Status::kInvalidConfig));
  EXPECT_EQ(drey_cuda_trim(allocator, 0, nullptr), 0);
  EXPECT_EQ(drey_cuda_close(allocator), 0);
}

TEST(CInterface, KeepsPinnedMemory) {
  ::setenv("DREY_CUDA_LIBRARY", DREY_SIMCUDA_LIBRARY, 1);
  drey_cuda_pinned* cache = nullptr;
  char message[200] = "";
  EXPECT_EQ(drey_cuda_pinned_open(9, 0, &cache, message, sizeof(message)),
            code(Status::kInvalidConfig));
  EXPECT_EQ(cache, nullptr);
  EXPECT_STRNE(message, "");
  ASSERT_EQ(drey_cuda_pinned_open(0, 8192, &cache, message, sizeof(message)), 0) << message;
  void* block = nullptr;
  ASSERT_EQ(drey_cuda_pinned_allocate(cache, 8000, &block), 0);
  *static_cast<char*>(block) = 1;
  EXPECT_EQ(drey_cuda_pinned_record_use(cache, block, nullptr), 0);
  void* other = &block;
  EXPECT_EQ(drey_cuda_pinned_allocate(cache, 1, &other), code(Status::kOutOfPinnedMemory));
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(drey_cuda_pinned_deallocate(cache, block), 0);
  EXPECT_EQ(drey_cuda_pinned_deallocate(cache, block), code(Status::kDoubleFree));
  EXPECT_EQ(drey_cuda_pinned_allocate_in(cache, 8000, nullptr, &other), 0);
  EXPECT_EQ(other, block);
  EXPECT_EQ(drey_cuda_pinned_deallocate_in(cache, other, nullptr), 0);
  EXPECT_EQ(drey_cuda_pinned_stream_retired(cache, &other), code(Status::kInvalidStream));
  std::uint64_t released = 1;
  EXPECT_EQ(drey_cuda_pinned_trim(cache, 8192, &released), 0);
  EXPECT_EQ(released, 0U);
  EXPECT_EQ(drey_cuda_pinned_close(cache), 0);
  EXPECT_EQ(drey_cuda_pinned_close(nullptr), code(Status::kClosed));
  EXPECT_EQ(drey_cuda_pinned_allocate(nullptr, 1, &other), code(Status::kClosed));
}

TEST(CInterface, SaysInOneLineWhyThereIsNoDriver) {
  ::setenv("DREY_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
  drey_cuda_allocator* allocator = nullptr;
  char message[200] = "";
  EXPECT_EQ(drey_cuda_open(0, &allocator, message, sizeof(message)), code(Status::kDriver));
  EXPECT_EQ(allocator, nullptr);
  EXPECT_NE(std::string(message).find("/nowhere/libcuda.so.1"), std::string::npos) << message;
  void* block = nullptr;
  EXPECT_EQ(drey_cuda_allocate(nullptr, 1, 1, nullptr, &block), code(Status::kClosed));
}
}  // namespace
}  // namespace drey::cuda
