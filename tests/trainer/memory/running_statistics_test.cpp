// running_statistics_test.cpp: Welford's mean and deviation against the same in long double, and against
// the two forms that people write first.
// SPDX-License-Identifier: MIT
#include "trainer/agent/running_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/seed.hpp"
#include "trainer/agent/kept_samples.hpp"
#include "trainer/numeric/random.hpp"

namespace drey::trainer {
namespace {
/// 1e9 and a bit: the mean is 1e9 times the deviation.
std::vector<double> large_numbers(std::size_t count) {
  Random random(test::test_seed(7), RandomPurpose::kTest);
  std::vector<double> numbers(count);
  for (double& number : numbers) number = 1e9 + static_cast<double>(random.unit());
  return numbers;
}

struct Truth {
  long double mean;
  long double variance;
};

Truth in_long_double(const std::vector<double>& numbers) {
  long double sum = 0;
  for (const double number : numbers) sum += static_cast<long double>(number);
  const long double mean = sum / static_cast<long double>(numbers.size());
  long double squares = 0;
  for (const double number : numbers) {
    const long double difference = static_cast<long double>(number) - mean;
    squares += difference * difference;
  }
  return {mean, squares / static_cast<long double>(numbers.size() - 1)};
}

double relative_error(double found, long double truth) {
  return static_cast<double>(std::fabs((static_cast<long double>(found) - truth) / truth));
}

TEST(RunningStatistics, KeepSixDigitsWhereSumsOfSquaresKeepNone) {
  const std::vector<double> numbers = large_numbers(1'000'000);
  const Truth truth = in_long_double(numbers);
  RunningStatistics running;
  double sum = 0;
  double squares = 0;
  for (const double number : numbers) {
    running.add(number);
    sum += number;
    squares += number * number;
  }
  const auto count = static_cast<double>(numbers.size());
  const double by_squares = (squares - sum * sum / count) / (count - 1);
  EXPECT_LT(relative_error(running.mean(), truth.mean), 1e-14);
  EXPECT_LT(relative_error(running.variance(), truth.variance), 1e-6);
  EXPECT_GT(relative_error(by_squares, truth.variance), 1e-2);
}

TEST(RunningStatistics, SayWhatKeptSamplesSay) {
  RunningStatistics running;
  KeptSamples kept;
  for (const double number : large_numbers(10'000)) {
    running.add(number);
    kept.add(number);
  }
  EXPECT_EQ(running.count(), kept.count());
  EXPECT_NEAR(running.mean(), kept.mean(), 1e-4);
  EXPECT_NEAR(running.variance(), kept.variance(), 1e-7);
  EXPECT_LT(running.bytes(), 100U);
  EXPECT_GT(kept.bytes(), 80'000U);
}

TEST(RunningStatistics, OfNoneAndOneAreZeroAndTheOne) {
  RunningStatistics running;
  EXPECT_EQ(running.count(), 0U);
  EXPECT_EQ(running.mean(), 0.0);
  EXPECT_EQ(running.variance(), 0.0);
  EXPECT_EQ(running.least(), 0.0);
  running.add(-3.5);
  EXPECT_EQ(running.mean(), -3.5);
  EXPECT_EQ(running.variance(), 0.0);
  EXPECT_EQ(running.least(), -3.5);
  EXPECT_EQ(running.largest(), -3.5);
}

TEST(RunningStatistics, CountWhatIsNoNumberAndStayAsTheyWere) {
  RunningStatistics running;
  KeptSamples kept;
  for (const double number : {1.0, std::nan(""), 3.0, std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity()}) {
    running.add(number);
    kept.add(number);
  }
  EXPECT_EQ(running.count(), 2U);
  EXPECT_EQ(running.refused_count(), 3U);
  EXPECT_EQ(running.mean(), 2.0);
  EXPECT_EQ(running.variance(), 2.0);
  EXPECT_EQ(kept.count(), 2U);
  EXPECT_EQ(kept.refused_count(), 3U);
  EXPECT_EQ(kept.variance(), 2.0);
}

TEST(RunningStatistics, OfTwoPartsMergedAreThoseOfTheWhole) {
  const std::vector<double> numbers = large_numbers(10'000);
  const Truth truth = in_long_double(numbers);
  for (const std::size_t border :
       {std::size_t{0}, std::size_t{1}, std::size_t{3'333}, numbers.size()}) {
    RunningStatistics first;
    RunningStatistics second;
    for (std::size_t index = 0; index < numbers.size(); ++index) {
      (index < border ? first : second).add(numbers[index]);
    }
    second.add(std::nan(""));
    first.merge(second);
    EXPECT_EQ(first.count(), numbers.size());
    EXPECT_EQ(first.refused_count(), 1U);
    EXPECT_LT(relative_error(first.mean(), truth.mean), 1e-14) << border;
    EXPECT_LT(relative_error(first.variance(), truth.variance), 1e-6) << border;
    EXPECT_EQ(first.least(), *std::min_element(numbers.begin(), numbers.end()));
    EXPECT_EQ(first.largest(), *std::max_element(numbers.begin(), numbers.end()));
  }
}

TEST(RunningStatistics, OfNothingMergedWithNothingAreNothing) {
  RunningStatistics none;
  none.merge(RunningStatistics());
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.mean(), 0.0);
}
}  // namespace
}  // namespace drey::trainer
