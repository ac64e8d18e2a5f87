// replay_buffer_test.cpp: what is kept, what is overwritten, and that sampling is fair.
// SPDX-License-Identifier: MIT
#include "trainer/agent/replay_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "support/seed.hpp"

namespace drey::trainer {
namespace {
Transition numbered(std::uint32_t number) {
  return {number, number + 1, static_cast<float>(number), static_cast<Action>(number % 3), false};
}

std::vector<std::uint32_t> numbers_in(const ReplayBuffer& replay) {
  std::vector<std::uint32_t> numbers;
  for (const Transition& transition : replay.stored()) numbers.push_back(transition.observation);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

TEST(Random, GivesTheNumbersOfThePublishedGenerator) {
  // The first numbers of pcg32 with seed 42 and sequence 54, as its authors' demonstration prints.
  Random random(42, static_cast<RandomPurpose>(54));
  constexpr std::array<std::uint32_t, 6> kPublished = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                                       0x83d2f293, 0xbfa4784b, 0xcbed606e};
  for (const std::uint32_t number : kPublished) EXPECT_EQ(random.next(), number);
}

TEST(Random, StaysBelowItsBoundAndReachesAllOfIt) {
  Random random(test::test_seed(1), RandomPurpose::kTest);
  std::array<bool, 7> seen{};
  for (int draw = 0; draw < 1000; ++draw) seen.at(random.below(7)) = true;
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](bool value) { return value; }));
  EXPECT_EQ(random.below(1), 0U);
}

TEST(ReplayBuffer, OverwritesTheOldestOnceFull) {
  ReplayBuffer replay(4);
  for (std::uint32_t number = 0; number < 4; ++number) replay.add(numbered(number));
  EXPECT_EQ(replay.size(), 4U);
  EXPECT_EQ(numbers_in(replay), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  replay.add(numbered(4));
  replay.add(numbered(5));
  EXPECT_EQ(replay.size(), 4U);
  EXPECT_EQ(numbers_in(replay), (std::vector<std::uint32_t>{2, 3, 4, 5}));
  for (std::uint32_t number = 6; number < 20; ++number) replay.add(numbered(number));
  EXPECT_EQ(numbers_in(replay), (std::vector<std::uint32_t>{16, 17, 18, 19}));
  EXPECT_TRUE(replay.invariants_hold());
}

TEST(ReplayBuffer, OfOneHoldsTheLast) {
  ReplayBuffer replay(1);
  replay.add(numbered(1));
  replay.add(numbered(2));
  EXPECT_EQ(numbers_in(replay), (std::vector<std::uint32_t>{2}));
}

TEST(ReplayBuffer, SamplesOnlyWhatIsStored) {
  ReplayBuffer replay(100);
  for (std::uint32_t number = 10; number < 13; ++number) replay.add(numbered(number));
  Random random(1, RandomPurpose::kTest);
  std::array<Transition, 64> batch;
  replay.sample(random, batch);
  for (const Transition& drawn : batch) {
    EXPECT_GE(drawn.observation, 10U);
    EXPECT_LT(drawn.observation, 13U);
    EXPECT_EQ(drawn.reward, static_cast<float>(drawn.observation));
  }
}

TEST(ReplayBuffer, SamplesUniformly) {
  // 99 degrees of freedom: chi-square exceeds 161.9 by chance once in 20,000 runs.
  constexpr std::size_t kSlots = 100;
  constexpr std::size_t kDraws = 100000;
  ReplayBuffer replay(kSlots);
  for (std::uint32_t number = 0; number < 250; ++number) replay.add(numbered(number));
  Random random(test::test_seed(3), RandomPurpose::kReplay);
  std::array<Transition, 100> batch;
  std::array<double, 250> counts{};
  for (std::size_t draw = 0; draw < kDraws / batch.size(); ++draw) {
    replay.sample(random, batch);
    for (const Transition& drawn : batch) counts.at(drawn.observation) += 1;
  }
  double chi_square = 0;
  for (std::size_t number = 0; number < 250; ++number) {
    constexpr double kExpected = static_cast<double>(kDraws) / kSlots;
    if (number < 150) {
      EXPECT_EQ(counts.at(number), 0.0);
    } else {
      chi_square += (counts.at(number) - kExpected) * (counts.at(number) - kExpected) / kExpected;
    }
  }
  EXPECT_LT(chi_square, 161.9);
  EXPECT_GT(chi_square, 50.0);  // and nothing is that even by chance
}

TEST(ReplayBuffer, GoesOnAfterRestoringAsIfNothingHadHappened) {
  ReplayBuffer original(5);
  for (std::uint32_t number = 0; number < 8; ++number) original.add(numbered(number));
  ReplayBuffer restored(5);
  restored.restore(original.stored(), original.head());
  original.add(numbered(8));
  restored.add(numbered(8));
  EXPECT_EQ(numbers_in(restored), numbers_in(original));
  EXPECT_EQ(restored.head(), original.head());
}
}  // namespace
}  // namespace drey::trainer
