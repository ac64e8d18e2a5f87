// kernel_test.cu: a kernel compiled here runs on the device that is here, and its memory comes
// back. SKIPPED without a device, with the driver's reason. SPDX-License-Identifier: MIT
#include <drey/cuda/driver.hpp>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

namespace {
__global__ void scale_rows(float* rows, int count, float factor) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) rows[index] *= factor;
}

TEST(Kernel, ScalesAVectorOf225FloatsInEachRow) {
  const drey::cuda::DriverStatus status = drey::cuda::probe_driver();
  if (status.reason.length() != 0) GTEST_SKIP() << "SKIPPED: " << status.reason.c_str();
  constexpr int kCount = 128 * 225;
  std::vector<float> host(kCount);
  for (int index = 0; index < kCount; ++index) host[index] = static_cast<float>(index % 1000);
  float* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, kCount * sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice),
            cudaSuccess);
  scale_rows<<<(kCount + 255) / 256, 256>>>(device, kCount, 0.5F);
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  std::vector<float> result(kCount);
  ASSERT_EQ(cudaMemcpy(result.data(), device, kCount * sizeof(float), cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  for (int index = 0; index < kCount; ++index)
    ASSERT_EQ(result[index], host[index] * 0.5F) << index;
}
}  // namespace
