// action_history_test.cpp: the ring of actions against the vector it replaces: size, order, counts.
// SPDX-License-Identifier: MIT
#include "trainer/agent/action_history.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/seed.hpp"
#include "trainer/agent/run_monitor.hpp"
#include "trainer/numeric/random.hpp"

namespace drey::trainer {
namespace {
template <class History>
std::vector<int> contents(const History& history) {
  std::vector<int> actions;
  for (std::size_t index = 0; index < history.size(); ++index) actions.push_back(history[index]);
  return actions;
}

TEST(ActionHistory, KeepsTheLastInOrderAsTheVectorDoes) {
  Random random(test::test_seed(3), RandomPurpose::kTest);
  for (const std::size_t window :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, kActionWindowMax}) {
    RingHistory ring(window);
    ErasingHistory erasing(window);
    for (std::size_t step = 0; step < 3 * window + 5; ++step) {
      const auto action = static_cast<Action>(random.below(3));
      ring.push(action);
      erasing.push(action);
      ASSERT_EQ(ring.size(), std::min(step + 1, window));
    }
    EXPECT_EQ(contents(ring), contents(erasing)) << window;
    for (Action action = 0; action < 3; ++action) {
      EXPECT_EQ(ring.count_of(action), erasing.count_of(action)) << window;
    }
    EXPECT_EQ(action_entropy(ring, 3), action_entropy(erasing, 3)) << window;
  }
}

TEST(ActionHistory, ExactlyFullHasDroppedNothing) {
  RingHistory ring(4);
  for (const Action action : {2, 1, 0, 2}) ring.push(static_cast<Action>(action));
  EXPECT_EQ(contents(ring), (std::vector<int>{2, 1, 0, 2}));
  ring.push(1);
  EXPECT_EQ(contents(ring), (std::vector<int>{1, 0, 2, 1}));
  EXPECT_EQ(ring.count_of(2), 1U);
}

TEST(ActionHistory, OfWindowNothingKeepsNothing) {
  RingHistory ring(0);
  ring.push(2);
  EXPECT_EQ(ring.size(), 0U);
  EXPECT_EQ(ring.count_of(2), 0U);
  EXPECT_EQ(action_entropy(ring, 3), 0.0);
}

TEST(ActionEntropy, IsNothingForOneActionAndOneForAMixtureOfAll) {
  RingHistory ring(6);
  for (int step = 0; step < 6; ++step) ring.push(1);
  EXPECT_EQ(action_entropy(ring, 3), 0.0);
  for (const int action : {0, 1, 2, 0, 1, 2}) ring.push(static_cast<Action>(action));
  EXPECT_NEAR(action_entropy(ring, 3), 1.0, 1e-15);
}

TEST(RunMonitor, SaysTheSameInBothForms) {
  RunMonitor kept(MonitorForm::kKeep, HistoryForm::kErase, 100);
  RunMonitor running(MonitorForm::kWelford, HistoryForm::kRing, 100);
  Random random(test::test_seed(4), RandomPurpose::kTest);
  for (int step = 0; step < 5000; ++step) {
    const auto action = static_cast<Action>(random.below(3));
    const auto reward = static_cast<double>(random.unit());
    for (RunMonitor* const monitor : {&kept, &running}) {
      monitor->add_step(action, reward);
      if (step % 2 == 0) monitor->add_loss(reward * reward);
    }
  }
  EXPECT_EQ(kept.rewards().count, 5000U);
  EXPECT_EQ(running.losses().count, 2500U);
  EXPECT_NEAR(kept.rewards().mean, running.rewards().mean, 1e-12);
  EXPECT_NEAR(kept.losses().deviation, running.losses().deviation, 1e-12);
  EXPECT_EQ(kept.entropy(3), running.entropy(3));
  EXPECT_EQ(kept.recent_count(1), running.recent_count(1));
  EXPECT_GT(kept.bytes(), 60'000U);
  EXPECT_LT(running.bytes(), 2'000U);
}
}  // namespace
}  // namespace drey::trainer
