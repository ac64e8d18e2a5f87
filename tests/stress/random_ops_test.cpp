// random_ops_test.cpp: long random sequences against the shadow map of support/random_ops.hpp.
// Method: each plan stresses another part: small classes, class borders, runs of slices, the OS.
// Replay a failure with the DREY_TEST_SEED that was printed.
// Read next: ../support/random_ops.hpp.
// SPDX-License-Identifier: MIT
#include "support/random_ops.hpp"

#include "support/subject.hpp"

#include <thread>
#include <vector>

namespace drey::test {
namespace {
using RandomOpsStress = SubjectTest;

void run(std::uint64_t seed, const RandomOpsPlan& plan, std::size_t steps, std::string& wrong) {
  RandomOps ops(seed, plan);
  for (std::size_t i = 0; i < steps && wrong.empty(); ++i) wrong = ops.step();
  if (wrong.empty()) wrong = ops.finish();
}

void expect_right(std::uint64_t seed, const RandomOpsPlan& plan, std::size_t steps) {
  std::string wrong;
  run(test_seed(seed), plan, scaled(steps), wrong);
  EXPECT_EQ(wrong, "");
}

TEST_F(RandomOpsStress, SmallBlocksKeepTheirContents) {
  expect_right(101, {.size_max = 1100, .live_max = 3000}, 300000);
}

TEST_F(RandomOpsStress, MediumBlocksKeepTheirContents) {
  expect_right(102, {.size_max = 70000, .live_max = 400}, 100000);
}

TEST_F(RandomOpsStress, LargeBlocksKeepTheirContents) {
  expect_right(103, {.size_max = 3 << 20, .live_max = 40}, 15000);
}

TEST_F(RandomOpsStress, HugeBlocksKeepTheirContents) {
  expect_right(104, {.size_max = 100 << 20, .live_max = 6}, 150);
}

TEST_F(RandomOpsStress, ReallocsKeepContents) {
  expect_right(105, {.size_max = 200000, .live_max = 100, .percent_realloc = 40}, 60000);
}

TEST_F(RandomOpsStress, LargeAlignmentsAreKept) {
  expect_right(
      106, {.size_max = 20000, .live_max = 200, .alignment_max = 1 << 22, .percent_aligned = 90},
      30000);
}

TEST_F(RandomOpsStress, ThreadsDoNotDisturbEachOther) {
  const std::uint64_t seed = test_seed(107);
  std::vector<std::string> wrong(6);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&wrong, seed, i] {
      const RandomOpsPlan plan = {.size_max = std::size_t{400} << (2 * (i % 4)), .live_max = 300};
      run(seed + i, plan, scaled(40000), wrong[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) EXPECT_EQ(text, "");
}
}  // namespace
}  // namespace drey::test
