// driver_test.cpp: without a driver, one line says so; with one, devices are counted or a reason
// given.
// SPDX-License-Identifier: MIT
#include <drey/cuda/driver.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace drey::cuda {
namespace {

TEST(Driver, AMissingDriverIsNamedInOneLine) {
  const DriverStatus status = probe_driver("libcuda-of-nobody.so.9");
  EXPECT_STREQ(status.reason.c_str(), "no CUDA driver: cannot load libcuda-of-nobody.so.9");
  EXPECT_EQ(status.version, 0);
  EXPECT_EQ(status.device_count, 0);
}

TEST(Driver, ALibraryThatIsNoDriverIsToldApart) {
  const DriverStatus status = probe_driver("libc.so.6");
  EXPECT_STREQ(status.reason.c_str(), "no CUDA driver: no cuGetProcAddress in libc.so.6");
}

TEST(Driver, AReasonIsGivenExactlyIfNoDeviceCanBeUsed) {
  const DriverStatus status = probe_driver();
  EXPECT_EQ(status.reason.length() == 0, status.device_count > 0) << status.reason.c_str();
  EXPECT_EQ(std::strchr(status.reason.c_str(), '\n'), nullptr);
}

}  // namespace
}  // namespace drey::cuda
