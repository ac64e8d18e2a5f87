// prioritised_sampler_test.cpp: the sum tree against plain sums, drawing in proportion, weights by
// hand, and priorities that are no numbers.
// SPDX-License-Identifier: MIT
#include "trainer/agent/prioritised_sampler.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/seed.hpp"

namespace drey::trainer {
namespace {
TEST(SumTree, FindsTheLeafThatAPlaceFallsOn) {
  for (const std::size_t capacity : {1, 2, 3, 7, 8, 100}) {
    SumTree tree(capacity);
    double sum = 0;
    for (std::size_t slot = 0; slot < capacity; ++slot) {
      tree.set(slot, static_cast<double>(slot + 1));
      sum += static_cast<double>(slot + 1);
    }
    EXPECT_EQ(tree.total(), sum);
    double before = 0;
    for (std::uint32_t slot = 0; slot < capacity; ++slot) {
      EXPECT_EQ(tree.find(before), slot);
      before += static_cast<double>(slot + 1);
      EXPECT_EQ(tree.find(before - 0.5), slot);
    }
    EXPECT_EQ(tree.find(sum), capacity - 1) << "a place on the end, by rounding";
    EXPECT_TRUE(tree.invariants_hold());
  }
}

TEST(SumTree, NeverFindsALeafOfZero) {
  SumTree tree(8);
  tree.set(2, 0.1);
  tree.set(5, 1e-300);
  for (const double place : {0.0, 0.05, 0.1, 0.2, 1e9}) {
    const std::uint32_t slot = tree.find(place);
    EXPECT_TRUE(slot == 2 || slot == 5) << place;
  }
}

TEST(SumTree, FollowsFromItsLeavesInWhateverOrderTheyWereSet) {
  Random random(test::test_seed(1), RandomPurpose::kTest);
  SumTree tree(37);
  for (int change = 0; change < 5000; ++change) tree.set(random.below(37), random.unit_double());
  SumTree other(37);
  for (std::size_t slot = 37; slot-- > 0;) other.set(slot, tree.at(slot));
  EXPECT_EQ(other.total(), tree.total());
  EXPECT_TRUE(tree.invariants_hold());
}

TEST(PrioritisedSampler, DrawsInProportionToThePriorities) {
  constexpr std::size_t kSlots = 4;
  constexpr int kBatches = 2500;
  PrioritisedSampler sampler(kSlots, 1.0);
  for (std::size_t slot = 0; slot < kSlots; ++slot) sampler.stored(slot);
  sampler.update(std::array<std::uint32_t, 4>{0, 1, 2, 3}, std::array<float, 4>{1, -2, 3, -4});
  Random random(test::test_seed(2), RandomPurpose::kTest);
  std::array<std::uint32_t, 4> slots{};
  std::array<float, 4> weights{};
  std::array<int, kSlots> counts{};
  for (int batch = 0; batch < kBatches; ++batch) {
    sampler.sample(random, 1.0, kSlots, slots, weights);
    for (std::size_t index = 0; index < 4; ++index) {
      ++counts.at(slots.at(index));
      // (4 p)^-1 over the largest of the batch: the ratios of weights are those of 1 / priority.
      EXPECT_NEAR(weights.at(index) * static_cast<float>(slots.at(index) + 1),
                  weights.at(0) * static_cast<float>(slots.at(0) + 1), 1e-5F);
      EXPECT_LE(weights.at(index), 1.0F);
    }
  }
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const double expected = kBatches * 4 * static_cast<double>(slot + 1) / 10.0;
    EXPECT_NEAR(counts.at(slot), expected, 4 * std::sqrt(expected)) << slot;
  }
}

TEST(PrioritisedSampler, OfAlphaZeroIsUniformWithWeightsOfOne) {
  PrioritisedSampler sampler(3, 0.0);
  for (std::size_t slot = 0; slot < 3; ++slot) sampler.stored(slot);
  sampler.update(std::array<std::uint32_t, 3>{0, 1, 2}, std::array<float, 3>{0, 100, 1e-3F});
  EXPECT_EQ(sampler.tree().at(0), sampler.tree().at(1));
  Random random(1, RandomPurpose::kTest);
  std::array<std::uint32_t, 8> slots{};
  std::array<float, 8> weights{};
  sampler.sample(random, 0.4, 3, slots, weights);
  for (const float weight : weights) EXPECT_EQ(weight, 1.0F);
}

TEST(PrioritisedSampler, TakesErrorsThatAreNoNumbersForTheLargest) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  PrioritisedSampler sampler(4, 0.6);
  for (std::size_t slot = 0; slot < 4; ++slot) sampler.stored(slot);
  sampler.update(std::array<std::uint32_t, 4>{0, 1, 2, 3},
                 std::array<float, 4>{kNan, -kInfinity, 1e30F, 0});
  EXPECT_EQ(sampler.tree().at(0), sampler.tree().at(1));
  EXPECT_EQ(sampler.tree().at(0), sampler.tree().at(2));
  EXPECT_TRUE(std::isfinite(sampler.tree().total()));
  EXPECT_GT(sampler.tree().at(3), 0) << "an error of zero can still be drawn";
  Random random(1, RandomPurpose::kTest);
  std::array<std::uint32_t, 16> slots{};
  std::array<float, 16> weights{};
  sampler.sample(random, 1.0, 4, slots, weights);
  for (const float weight : weights) EXPECT_TRUE(std::isfinite(weight) && weight > 0);
}

TEST(PrioritisedSampler, DrawsEverySlotWhenAllErrorsAreZero) {
  constexpr std::size_t kSlots = 5;
  PrioritisedSampler sampler(kSlots, 0.6);
  std::array<std::uint32_t, kSlots> slots = {0, 1, 2, 3, 4};
  for (const std::uint32_t slot : slots) sampler.stored(slot);
  sampler.update(slots, std::array<float, kSlots>{});
  Random random(1, RandomPurpose::kTest);
  std::array<float, kSlots> weights{};
  sampler.sample(random, 0.5, kSlots, slots, weights);
  EXPECT_EQ(slots, (std::array<std::uint32_t, kSlots>{0, 1, 2, 3, 4}));
  for (const float weight : weights) EXPECT_EQ(weight, 1.0F);
}

TEST(PrioritisedSampler, GivesWhatIsNewTheLargestPrioritySoFar) {
  PrioritisedSampler sampler(3, 1.0);
  sampler.stored(0);
  sampler.update(std::array<std::uint32_t, 1>{0}, std::array<float, 1>{50});
  sampler.update(std::array<std::uint32_t, 1>{0}, std::array<float, 1>{0.5F});
  sampler.stored(1);
  EXPECT_GT(sampler.tree().at(1), 49.0);
  EXPECT_LT(sampler.tree().at(0), 1.0);
}
}  // namespace
}  // namespace drey::trainer
