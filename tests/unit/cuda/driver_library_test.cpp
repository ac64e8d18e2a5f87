// driver_library_test.cpp: the way a program in use gets its driver: by the name of a library, through
// dlopen and cuGetProcAddress. The library is the simulator's.
// SPDX-License-Identifier: MIT
#include <drey/cuda/driver.hpp>
#include <drey/cuda/driver_table.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

namespace drey::cuda {
namespace {
class DriverLibrary : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("DREY_CUDA_LIBRARY", DREY_SIMCUDA_LIBRARY, 1); }
  void TearDown() override { ::unsetenv("DREY_CUDA_LIBRARY"); }
};

TEST_F(DriverLibrary, IsTheOneThatTheEnvironmentNames) {
  const LoadedDriver driver = load_driver();
  ASSERT_STREQ(driver.reason.c_str(), "");
  EXPECT_EQ(driver.version, 13000);
  for (const EntryPoint& entry : entry_points())
    EXPECT_NE(function_of(driver.table, entry), nullptr) << entry.name;
  const DriverStatus status = probe_driver();
  EXPECT_STREQ(status.reason.c_str(), "");
  EXPECT_EQ(status.device_count, 1);
}

TEST_F(DriverLibrary, AnEmptyNameIsNone) {
  ::setenv("DREY_CUDA_LIBRARY", "", 1);
  const LoadedDriver driver = load_driver();
  const LoadedDriver system = load_driver("libcuda.so.1");
  EXPECT_STREQ(driver.reason.c_str(), system.reason.c_str());
}

TEST_F(DriverLibrary, AFailedLoadLeavesNoFunctionBehind) {
  for (const char* library : {"libcuda-of-nobody.so.9", "libc.so.6"}) {
    const LoadedDriver driver = load_driver(library);
    EXPECT_NE(driver.reason.length(), 0U);
    for (const EntryPoint& entry : entry_points())
      EXPECT_EQ(function_of(driver.table, entry), nullptr) << entry.name;
  }
}

TEST_F(DriverLibrary, AnOlderVersionOfACallIsNotHandedOut) {
  void* const library = ::dlopen(DREY_SIMCUDA_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  using Find = Result (*)(const char*, void**, int, unsigned long);
  const auto find = reinterpret_cast<Find>(::dlsym(library, "cuGetProcAddress"));
  ASSERT_NE(find, nullptr);
  void* function = nullptr;
  EXPECT_EQ(find("cuMemAlloc", &function, 3020, 0), Result::kSuccess);
  EXPECT_NE(function, nullptr);
  EXPECT_EQ(find("cuMemAlloc", &function, 2000, 0), Result::kNotFound);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(find("cuNobody", &function, 13000, 0), Result::kNotFound);
}

TEST_F(DriverLibrary, AHazardBehindTheDriversInterfaceIsReported) {
  const DriverTable driver = load_driver().table;
  void* const library = ::dlopen(DREY_SIMCUDA_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto launch =
      reinterpret_cast<unsigned (*)(Stream, DevicePointer, std::size_t, const char*)>(
          ::dlsym(library, "drey_sim_launch"));
  const auto allocated = reinterpret_cast<void (*)(DevicePointer, std::size_t, Stream)>(
      ::dlsym(library, "drey_sim_block_allocated"));
  const auto freed =
      reinterpret_cast<void (*)(DevicePointer, Stream)>(::dlsym(library, "drey_sim_block_freed"));
  const auto hazards =
      reinterpret_cast<std::size_t (*)(char*, std::size_t)>(::dlsym(library, "drey_sim_hazards"));
  Context context = nullptr;
  ASSERT_EQ(driver.init(0), Result::kSuccess);
  ASSERT_EQ(driver.device_primary_ctx_retain(&context, 0), Result::kSuccess);
  ASSERT_EQ(driver.ctx_set_current(context), Result::kSuccess);
  Stream streams[2] = {};
  DevicePointer block = 0;
  ASSERT_EQ(driver.mem_alloc(&block, 4096), Result::kSuccess);
  for (Stream& stream : streams) {
    ASSERT_EQ(driver.stream_create_with_priority(&stream, kStreamNonBlocking, 0), Result::kSuccess);
    EXPECT_EQ(hazards(nullptr, 0), 0U);
    allocated(block, 4096, stream);
    EXPECT_EQ(launch(stream, block, 4096, "work"), 0U);
    freed(block, stream);
  }
  char text[40];
  EXPECT_EQ(hazards(text, sizeof(text)), 1U);
  EXPECT_EQ(std::strncmp(text, "reuse (allocator): 'work'", 25), 0) << text;
}
}  // namespace
}  // namespace drey::cuda
