// allocator_random_test.cpp: random programs (allocator_program.hpp) under every schedule of the simulated
// device. 1e8 operations: DREY_TEST_SCALE=1200 cuda_allocator_random_test --gtest_filter='*NoHazard*'.
// SPDX-License-Identifier: MIT
#include "unit/cuda/allocator_program.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace drey::cuda {
namespace {
void run(const ProgramOptions& options, std::size_t steps, std::uint64_t* out_of_memory = nullptr) {
  AllocatorProgram program(options);
  for (std::size_t step = 0; step < steps; ++step) {
    program.step();
    if (step % 16 != 0) continue;
    ASSERT_EQ(program.trouble(), "") << "seed " << options.seed << ", step " << step;
  }
  ASSERT_EQ(program.trouble(), "") << "seed " << options.seed;
  if (out_of_memory != nullptr) *out_of_memory += program.out_of_memory();
}

class AllocatorRandom : public ::testing::TestWithParam<sim::Schedule> {};

TEST_P(AllocatorRandom, FindsNoHazard) {
  const std::uint64_t seed = test::test_seed(41);
  for (std::uint64_t run_number = 0; run_number < 4; ++run_number) {
    ProgramOptions options;
    options.seed = seed + run_number;
    options.schedule = GetParam();
    options.config.asks_stream_ids = run_number == 1;
    options.config.may_insert_waits = run_number != 2;
    options.config.pages_of_large = run_number == 3 ? 16 : 1;
    options.config.limits.soft = run_number == 3 ? 40 * kPageBytes : 0;
    run(options, test::scaled(7'000));
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, AllocatorRandom,
                         ::testing::Values(sim::Schedule::kNever, sim::Schedule::kRandom,
                                           sim::Schedule::kEager));

// 1e6 failures: DREY_TEST_SCALE=600.
TEST(AllocatorOutOfMemory, IsNeverReportedWhileMemoryCouldBeHad) {
  const std::uint64_t seed = test::test_seed(42);
  std::uint64_t failures = 0;
  for (std::uint64_t run_number = 0; run_number < 4; ++run_number) {
    ProgramOptions options;
    options.seed = seed + run_number;
    options.schedule = run_number % 2 == 0 ? sim::Schedule::kNever : sim::Schedule::kRandom;
    options.config.pages_of_large = 1;
    options.device_pages = 10 + 3 * run_number;
    options.config.limits.hard = run_number == 3 ? 14 * kPageBytes : 0;
    options.bytes_max = options.device_pages * kPageBytes;
    options.blocks = 48;
    options.sleeps = false;
    run(options, test::scaled(5'000), &failures);
  }
  std::printf("%llu failed allocations, each while memory was full\n",
              static_cast<unsigned long long>(failures));
  EXPECT_GT(failures, test::scaled(5'000) / 10);
}
}  // namespace
}  // namespace drey::cuda
