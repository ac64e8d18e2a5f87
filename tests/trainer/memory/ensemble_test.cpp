// ensemble_test.cpp: members that learn at the same time: the same weights for any number of threads and
// ranks, with one replay or one each; what they agree on; priorities that are no numbers.
// SPDX-License-Identifier: MIT
#include "trainer/agent/ensemble.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "support/seed.hpp"
#include "trainer/agent/council.hpp"
#include "trainer/memory/thread_communicator.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kWidth = 16;
constexpr std::size_t kRows = 500;
constexpr LearningPlan kPlan{1e-3f, 0.5f};

/// Random observations.
class Table {
 public:
  explicit Table(std::uint64_t seed) : values_(kRows * kWidth) {
    Random random(seed, RandomPurpose::kTest);
    for (float& value : values_.span()) value = random.between(-1, 1);
  }
  [[nodiscard]] ObservationTable view() const { return {values_.data(), kRows, kWidth, kWidth}; }

 private:
  AlignedArray<float> values_;
};

EnsembleSettings settings_of(std::size_t count) {
  EnsembleSettings settings;
  settings.member.learner.widths = {kWidth, 16, 3};
  settings.member.learner.batch_size = 32;
  settings.member.replay_capacity = 200;
  settings.count = count;
  return settings;
}

/// Plays over the rows and trains every 16 steps.
LearningTotals train(Ensemble& ensemble, const ObservationTable& table, std::uint64_t seed) {
  Random world(seed, RandomPurpose::kEnvironment);
  LearningTotals totals;
  for (std::uint32_t row = 0; row + 1 < kRows; ++row) {
    ensemble.add({row, row + 1, world.between(-1, 1), static_cast<Action>(world.below(3)),
                  world.below(20) == 0},
                 table);
    if (row % 16 == 15) totals.add(ensemble.learn(table, kPlan, 16));
  }
  return totals;
}

std::vector<float> weights_of(Ensemble& ensemble) {
  std::vector<float> weights;
  for (std::size_t index = 0; index < ensemble.count(); ++index) {
    const auto network = ensemble.member(index).learner().network().span();
    weights.insert(weights.end(), network.begin(), network.end());
  }
  return weights;
}

TEST(Ensemble, HasTheSameWeightsForAnyNumberOfThreads) {
  const std::uint64_t seed = test::test_seed(31);
  const Table table(seed);
  std::vector<std::vector<float>> found;
  std::vector<double> losses;
  for (const std::size_t threads :
       {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{9}}) {
    EnsembleSettings settings = settings_of(5);
    settings.thread_count = threads;
    Ensemble ensemble(settings);
    const LearningTotals totals = train(ensemble, table.view(), seed);
    EXPECT_EQ(totals.gradient_steps, 5U * 31 * 16);
    losses.push_back(totals.loss);
    found.push_back(weights_of(ensemble));
  }
  for (const auto& weights : found) EXPECT_EQ(weights, found.front());
  for (const double loss : losses) EXPECT_EQ(loss, losses.front());
}

TEST(Ensemble, HasTheSameWeightsWithOneReplayAndWithOneEach) {
  const std::uint64_t seed = test::test_seed(32);
  const Table table(seed);
  EnsembleSettings settings = settings_of(5);
  Ensemble shared(settings);
  settings.shares_replay = false;
  settings.thread_count = 2;
  Ensemble own(settings);
  train(shared, table.view(), seed);
  train(own, table.view(), seed);
  EXPECT_EQ(weights_of(shared), weights_of(own));
  EXPECT_EQ(shared.replay_count(), 1U);
  EXPECT_EQ(own.replay_count(), 5U);
}

TEST(Ensemble, HasMembersThatDiffer) {
  const Table table(1);
  Ensemble ensemble(settings_of(5));
  train(ensemble, table.view(), 1);
  for (std::size_t one = 0; one < 5; ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      const auto a = ensemble.member(one).learner().network().span();
      const auto b = ensemble.member(other).learner().network().span();
      EXPECT_NE(std::memcmp(a.data(), b.data(), a.size_bytes()), 0) << one << ' ' << other;
    }
  }
}

TEST(Ensemble, OfOneIsTheFirstOfFive) {
  const std::uint64_t seed = test::test_seed(33);
  const Table table(seed);
  Ensemble alone(settings_of(1));
  Ensemble five(settings_of(5));
  train(alone, table.view(), seed);
  train(five, table.view(), seed);
  const auto expected = alone.member(0).learner().network().span();
  const auto found = five.member(0).learner().network().span();
  EXPECT_EQ(std::memcmp(expected.data(), found.data(), expected.size_bytes()), 0);
}

TEST(Ensemble, OnRanksHasTheWeightsOfOneProcessOnAllOfThem) {
  const std::uint64_t seed = test::test_seed(34);
  const Table table(seed);
  Ensemble alone(settings_of(5));
  const LearningTotals expected = train(alone, table.view(), seed);
  for (const std::size_t ranks : {std::size_t{2}, std::size_t{3}}) {
    test::on_ranks(ranks, [&](Communicator& communicator) {
      EnsembleSettings settings = settings_of(5);
      settings.ranks = &communicator;
      Ensemble ensemble(settings);
      const LearningTotals totals = train(ensemble, table.view(), seed);
      EXPECT_EQ(weights_of(ensemble), weights_of(alone));
      EXPECT_EQ(totals.loss, expected.loss);
      EXPECT_EQ(totals.gradient_steps, expected.gradient_steps);
      ensemble.collect();
      for (std::size_t index = 0; index < 5; ++index) {
        const auto target = ensemble.member(index).learner().target().span();
        const auto wanted = alone.member(index).learner().target().span();
        EXPECT_EQ(std::memcmp(target.data(), wanted.data(), target.size_bytes()), 0);
        EXPECT_EQ(ensemble.member(index).sampling().state(),
                  alone.member(index).sampling().state());
      }
    });
  }
}

TEST(Ensemble, DrawsPriorityMembersFairlyWhenErrorsAreNothingOrNoNumbers) {
  MemberSettings settings = settings_of(1).member;
  settings.strategy = DrawStrategy::kPrioritised;
  for (const float error :
       {0.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Member member(settings);
    ASSERT_NE(member.priorities(), nullptr);
    std::vector<std::uint32_t> all(50);
    for (std::uint32_t slot = 0; slot < 50; ++slot) {
      member.stored(slot);
      all[slot] = slot;
    }
    member.priorities()->update(all, std::vector<float>(50, error));
    std::map<std::uint32_t, int> counts;
    std::vector<std::uint32_t> slots(100);
    std::vector<float> weights(100);
    Random random(test::test_seed(35), RandomPurpose::kTest);
    for (int round = 0; round < 100; ++round) {
      member.priorities()->sample(random, 0.4, 50, slots, weights);
      for (const std::uint32_t slot : slots) ++counts[slot];
      for (const float weight : weights) ASSERT_NEAR(weight, 1.0f, 1e-5f);
    }
    double square = 0;  // 50 cells of 200; stratified draws are fairer still
    for (std::uint32_t slot = 0; slot < 50; ++slot) {
      square += (counts[slot] - 200.0) * (counts[slot] - 200.0) / 200.0;
    }
    EXPECT_LT(square, 49 + 5 * std::sqrt(98.0)) << error;
  }
}

TEST(Ensemble, LearnsFromFewerTransitionsThanABatch) {
  const Table table(1);
  EnsembleSettings settings = settings_of(5);
  settings.member.replay_capacity = 3;
  Ensemble ensemble(settings);
  for (std::uint32_t row = 0; row < 5; ++row) {
    ensemble.add({row, row + 1, 1.0f, 0, false}, table.view());
    EXPECT_TRUE(std::isfinite(ensemble.learn(table.view(), kPlan, 2).loss));
  }
}

/// Members whose last layer is a bias alone, so that their values are what we say.
void set_values(Ensemble& ensemble, std::size_t member, std::array<float, 3> values) {
  Learner& learner = ensemble.member(member).learner();
  for (float& weight : learner.network().span()) weight = 0;
  const LayerShape& last = learner.shape().layers().back();
  for (std::size_t action = 0; action < 3; ++action) {
    learner.network()[last.bias_offset + action] = values[action];
  }
}

TEST(Council, VotesOrTakesTheLargestMean) {
  Ensemble ensemble(settings_of(3));
  set_values(ensemble, 0, {1, 0, 0});
  set_values(ensemble, 1, {1, 0, 0});
  set_values(ensemble, 2, {0, 0, 9});
  const AlignedArray<float> observation(kWidth);
  const Columns<const float> columns{observation.data(), kWidth};
  Action action = 7;
  Council by_mean(ensemble.member(0).learner().shape(), Agreement::kMean, 1);
  by_mean.choose(ensemble, columns, {&action, 1});
  EXPECT_EQ(action, 2);
  Council by_vote(ensemble.member(0).learner().shape(), Agreement::kVote, 1);
  by_vote.choose(ensemble, columns, {&action, 1});
  EXPECT_EQ(action, 0);
  set_values(ensemble, 1, {0, 2, 0});  // one vote each: the largest mean decides
  by_vote.choose(ensemble, columns, {&action, 1});
  EXPECT_EQ(action, 2);
}
}  // namespace
}  // namespace drey::trainer
