// work_team_test.cpp: every step of every job once and in order, whoever does it; failures come back.
// SPDX-License-Identifier: MIT
#include "trainer/agent/work_team.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

namespace drey::trainer {
namespace {
/// Each job is a chain of numbers that only comes out right if its steps were done in order.
class Chains final : public JobSteps {
 public:
  explicit Chains(std::size_t jobs) : values(jobs, 1), counts(jobs, 0) {}

  void do_steps(std::size_t job, std::size_t step_count) override {
    for (std::size_t step = 0; step < step_count; ++step) {
      values[job] = values[job] * 6364136223846793005u + ++counts[job];
    }
  }
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> counts;
};

std::uint64_t chain_of(std::uint64_t length) {
  Chains alone(1);
  alone.do_steps(0, length);
  return alone.values[0];
}

TEST(WorkTeam, DoesEachStepOnceAndInOrder) {
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
    WorkTeam team(threads, 5);
    Chains chains(5);
    for (int round = 0; round < 50; ++round) team.run(chains, 33, {});
    for (const std::uint64_t value : chains.values) EXPECT_EQ(value, chain_of(50 * 33)) << threads;
    EXPECT_EQ(team.thread_count(), threads);
  }
}

TEST(WorkTeam, LeavesOutWhoDoesNotTakePart) {
  WorkTeam team(2, 3);
  Chains chains(3);
  team.run(chains, 9, {true, false, true});
  team.run(chains, 0, {});
  EXPECT_EQ(chains.counts, (std::vector<std::uint64_t>{9, 0, 9}));
}

class Failing final : public JobSteps {
 public:
  void do_steps(std::size_t job, std::size_t) override {
    if (job == 2) throw std::runtime_error("job 2");
  }
};

TEST(WorkTeam, HandsOnAFailureAndWorksOn) {
  WorkTeam team(3, 4);
  Failing failing;
  EXPECT_THROW(team.run(failing, 100, {}), std::runtime_error);
  Chains chains(4);
  team.run(chains, 10, {});
  EXPECT_EQ(chains.counts, (std::vector<std::uint64_t>{10, 10, 10, 10}));
}
}  // namespace
}  // namespace drey::trainer
