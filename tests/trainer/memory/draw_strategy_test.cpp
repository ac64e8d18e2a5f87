// draw_strategy_test.cpp: each strategy draws from its part of the replay only, and fairly there.
// Method: histograms of many draws against what they should be, by Pearson's chi-square; the limit is
// five deviations above the mean of a true one (mean k - 1, variance 2 (k - 1)).
// SPDX-License-Identifier: MIT
#include "trainer/agent/draw_strategy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/seed.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kBatch = 128;

/// How often each age was drawn: 0 is the oldest.
std::vector<double> histogram(DrawStrategy strategy, const FilledSlots& filled, std::size_t batches,
                              Random& random) {
  std::vector<std::size_t> age_of_slot(filled.capacity, filled.size);
  for (std::size_t age = 0; age < filled.size; ++age) age_of_slot[filled.slot_of_age(age)] = age;
  std::vector<double> counts(filled.size, 0.0);
  std::vector<std::uint32_t> slots(kBatch);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    draw_slots(strategy, filled, random, slots);
    for (const std::uint32_t slot : slots) counts.at(age_of_slot.at(slot)) += 1;
  }
  return counts;
}

/// Deviations above a fair one's mean, of the ages [first, end); those outside must be empty.
double unfairness(const std::vector<double>& counts, std::size_t first, std::size_t end) {
  double total = 0;
  for (std::size_t age = 0; age < counts.size(); ++age) {
    if (age >= first && age < end) {
      total += counts[age];
    } else {
      EXPECT_EQ(counts[age], 0.0) << "age " << age;
    }
  }
  const auto cells = static_cast<double>(end - first);
  double square = 0;
  for (std::size_t age = first; age < end; ++age) {
    const double difference = counts[age] - total / cells;
    square += difference * difference / (total / cells);
  }
  return (square - (cells - 1)) / std::sqrt(2 * (cells - 1));
}

struct Part {
  DrawStrategy strategy;
  double first;
  double end;
};
constexpr Part kParts[] = {{DrawStrategy::kUniform, 0, 1},
                           {DrawStrategy::kOldest, 0, 0.2},
                           {DrawStrategy::kNewest, 0.8, 1},
                           {DrawStrategy::kDiverse, 0, 1}};

TEST(DrawStrategy, IsFairWithinItsPart) {
  Random random(test::test_seed(11), RandomPurpose::kTest);
  // Half full, exactly full, and full with the oldest in the middle of the ring.
  for (const FilledSlots& filled :
       {FilledSlots{500, 500, 1000}, FilledSlots{1000, 0, 1000}, FilledSlots{1000, 337, 1000}}) {
    for (const Part& part : kParts) {
      const auto counts = histogram(part.strategy, filled, 800, random);
      const auto size = static_cast<double>(filled.size);
      EXPECT_LT(unfairness(counts, static_cast<std::size_t>(std::lround(part.first * size)),
                           static_cast<std::size_t>(std::lround(part.end * size))),
                5.0)
          << name_of(part.strategy) << ", " << filled.size << " filled, head " << filled.head;
    }
  }
}

TEST(DrawStrategy, OfUnevenPartsFavoursNoAgeWhenItIsDiverse) {
  Random random(test::test_seed(12), RandomPurpose::kTest);
  const FilledSlots filled{333, 100, 333};  // 128 parts of 2.6 transitions
  EXPECT_LT(unfairness(histogram(DrawStrategy::kDiverse, filled, 2000, random), 0, 333), 5.0);
}

TEST(DrawStrategy, SpansAllOfTheTimeInEachDiverseBatch) {
  Random random(test::test_seed(13), RandomPurpose::kTest);
  const FilledSlots filled{10 * kBatch, 5, 10 * kBatch};
  std::vector<std::uint32_t> slots(kBatch);
  for (int round = 0; round < 100; ++round) {
    draw_slots(DrawStrategy::kDiverse, filled, random, slots);
    for (std::size_t part = 0; part < kBatch; ++part) {
      const std::size_t age = (slots[part] + filled.capacity - filled.head) % filled.capacity;
      ASSERT_EQ(age / 10, part);
    }
  }
}

TEST(DrawStrategy, TakesOneTransitionForAFifthOfFewerThanFive) {
  Random random(test::test_seed(14), RandomPurpose::kTest);
  for (std::size_t size = 1; size < 5; ++size) {
    const FilledSlots filled{size, size, 10};
    EXPECT_EQ(histogram(DrawStrategy::kOldest, filled, 1, random).front(), kBatch);
    EXPECT_EQ(histogram(DrawStrategy::kNewest, filled, 1, random).back(), kBatch);
  }
}

TEST(DrawStrategy, FillsABatchLargerThanTheReplay) {
  Random random(test::test_seed(15), RandomPurpose::kTest);
  for (const Part& part : kParts) {
    const auto counts = histogram(part.strategy, {3, 1, 3}, 10, random);
    double total = 0;
    for (const double count : counts) total += count;
    EXPECT_EQ(total, 10.0 * kBatch) << name_of(part.strategy);
  }
}

TEST(DrawStrategy, OfAgentsBeyondTheFifthBeginsAnew) {
  EXPECT_EQ(strategy_of_agent(0), DrawStrategy::kUniform);
  EXPECT_EQ(strategy_of_agent(4), DrawStrategy::kDiverse);
  EXPECT_EQ(strategy_of_agent(5), DrawStrategy::kUniform);
  EXPECT_EQ(strategy_of_agent(15), DrawStrategy::kUniform);
}
}  // namespace
}  // namespace drey::trainer
