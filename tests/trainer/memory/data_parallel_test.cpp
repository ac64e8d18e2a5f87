// data_parallel_test.cpp: batches that several ranks share: the mean is the same on all of them, and two
// ranks of 64 learn what one of 128 does, but for rounding.
// SPDX-License-Identifier: MIT
#include "trainer/agent/data_parallel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <vector>

#include "support/seed.hpp"
#include "trainer/agent/member.hpp"
#include "trainer/memory/thread_communicator.hpp"

namespace drey::trainer {
namespace {
TEST(MeanReduction, IsTheSameOnAllRanksForAnyLength) {
  for (const std::size_t ranks : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}}) {
      test::on_ranks(ranks, [&](Communicator& communicator) {
        std::vector<float> values(size);
        for (std::size_t index = 0; index < size; ++index) {
          values[index] = static_cast<float>(index + 100 * communicator.rank());
        }
        MeanReduction reduction(communicator, size);
        for (int round = 0; round < 2; ++round) reduction.average(values);
        for (std::size_t index = 0; index < size; ++index) {
          const float rank_mean = 100.0f * static_cast<float>(ranks - 1) / 2;
          EXPECT_NEAR(values[index], static_cast<float>(index) + rank_mean, 1e-3f);
        }
      });
    }
  }
}

constexpr std::size_t kWidth = 32;
constexpr std::size_t kRows = 300;

struct Outcome {
  std::vector<float> weights;
  std::vector<double> losses;
};

MemberSettings settings_of(DrawStrategy strategy) {
  MemberSettings settings;
  settings.learner.widths = {kWidth, 32, 3};
  settings.learner.batch_size = 128;
  settings.replay_capacity = kRows;
  settings.strategy = strategy;
  return settings;
}

Outcome train(const MemberSettings& settings, std::uint64_t seed, std::size_t steps) {
  AlignedArray<float> values(kRows * kWidth);
  Random random(seed, RandomPurpose::kEnvironment);
  for (float& value : values.span()) value = random.between(-1, 1);
  const ObservationTable table{values.data(), kRows, kWidth, kWidth};
  ReplayStore store(ReplayForm::kIndex, kRows);
  Member member(settings);
  for (std::uint32_t row = 0; row + 1 < kRows; ++row) {
    member.stored(store.head());
    store.add({row, row + 1, random.between(-1, 1), static_cast<Action>(random.below(3)), false},
              table);
  }
  Outcome outcome;
  for (std::size_t step = 0; step < steps; ++step) {
    outcome.losses.push_back(member.learn(store, table, {1e-3f, 0.5f}).loss);
  }
  const auto network = member.learner().network().span();
  outcome.weights.assign(network.begin(), network.end());
  return outcome;
}

TEST(DataParallel, TwoRanksOf64LearnWhatOneOf128Does) {
  const std::uint64_t seed = test::test_seed(41);
  for (const DrawStrategy strategy : {DrawStrategy::kUniform, DrawStrategy::kPrioritised}) {
    const Outcome alone = train(settings_of(strategy), seed, 20);
    std::mutex mutex;
    std::vector<Outcome> found;
    test::on_ranks(2, [&](Communicator& communicator) {
      MemberSettings settings = settings_of(strategy);
      settings.ranks = &communicator;
      const Outcome outcome = train(settings, seed, 20);
      const std::lock_guard lock(mutex);
      found.push_back(outcome);
    });
    EXPECT_EQ(found[0].weights, found[1].weights);
    EXPECT_EQ(found[0].losses, found[1].losses);
    for (std::size_t index = 0; index < alone.weights.size(); ++index) {
      ASSERT_NEAR(found[0].weights[index], alone.weights[index], 2e-4f) << index;
    }
    for (std::size_t step = 0; step < 20; ++step) {
      ASSERT_NEAR(found[0].losses[step], alone.losses[step], 1e-4) << step;
    }
  }
}

TEST(DataParallel, WithHalfTheBatchAloneLearnsSomethingElse) {
  // What the test above would not see if each rank kept its gradient to itself.
  MemberSettings half = settings_of(DrawStrategy::kUniform);
  half.learner.batch_size = 64;
  const Outcome alone = train(settings_of(DrawStrategy::kUniform), 1, 20);
  const Outcome other = train(half, 1, 20);
  float largest = 0;
  for (std::size_t index = 0; index < alone.weights.size(); ++index) {
    largest = std::max(largest, std::fabs(alone.weights[index] - other.weights[index]));
  }
  EXPECT_GT(largest, 2e-3f);
}
}  // namespace
}  // namespace drey::trainer
