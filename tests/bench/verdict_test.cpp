// verdict_test.cpp: how rows are judged: by minima, against the best of the others, a limit, or the
// system's malloc.
// SPDX-License-Identifier: MIT
#include "peers/verdict.hpp"

#include "peers/goals.hpp"
#include "peers/peer_report.hpp"

#include <gtest/gtest.h>

namespace drey::bench {
namespace {
Row row_of(Target target, const std::string& unit = "ns") {
  Row row;
  row.group = "group";
  row.name = "group/one";
  row.unit = unit;
  row.target = target;
  return row;
}

TEST(Verdict, MinimaAreComparedNotMedians) {
  Row row = row_of({Target::Kind::kBestPeer, 1.0});
  row.samples = {{"drey", {9, 1, 9}}, {"a", {2, 2, 2}}, {"b", {3, 1.5, 3}}};
  EXPECT_EQ(best_peer(row), "b");
  const auto verdict = judge(row);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->is_met);
  EXPECT_NEAR(verdict->figure, 1 / 1.5, 1e-12);
  EXPECT_TRUE(verdict->is_within_spread);
}

TEST(Verdict, AClearMissIsNotWithinTheSpread) {
  Row row = row_of({Target::Kind::kBestPeer, 1.0});
  row.samples = {{"drey", {2, 2, 2}}, {"a", {1, 1, 1}}};
  EXPECT_EQ(judge(row)->text(), "missed 2.00");
}

TEST(Verdict, TheLimitIsPartOfTheSpread) {
  Row row = row_of({Target::Kind::kBestPeer, 0.5});
  row.samples = {{"drey", {1, 1, 1}}, {"a", {2, 2, 2}}};
  EXPECT_EQ(judge(row)->text(), "met 0.50 (within the spread)");
}

TEST(Verdict, AnUpperLimitAndTheSystemsFigureNeedNoPeers) {
  Row at_most = row_of({Target::Kind::kAtMost, 2.0}, "%");
  at_most.samples = {{"drey", {2.1, 1.9}}};
  EXPECT_TRUE(judge(at_most)->is_met);
  Row over = row_of({Target::Kind::kOverSystem, 0.3}, "MiB");
  over.samples = {{"drey", {2.0}}, {"system", {1.5}}, {"a", {1.9}}};
  EXPECT_FALSE(judge(over)->is_met);
  EXPECT_DOUBLE_EQ(judge(over)->figure, 0.5);
}

TEST(Verdict, WithoutSamplesThereIsNone) {
  Row row = row_of({Target::Kind::kBestPeer, 1.0});
  row.samples = {{"a", {1}}};
  EXPECT_FALSE(judge(row));
  row.samples = {{"drey", {1}}};
  EXPECT_FALSE(judge(row));
  EXPECT_EQ(best_peer(row), "");
}

TEST(Verdict, PercentsHaveNoRatios) {
  Row row = row_of({}, "%");
  row.samples = {{"drey", {1}}, {"a", {2}}};
  EXPECT_FALSE(ratio_of(row, "drey", "a"));
}

TEST(Goals, OneMissedRowMissesTheGoalAndIsNamed) {
  HeadToHead results;
  Row good = row_of({Target::Kind::kAtMost, 10}, "%");
  good.samples = {{"drey", {1}}};
  Row bad = good;
  bad.name = "group/two";
  bad.samples = {{"drey", {11}}};
  results.rows = {good, bad};
  add_goal_of_rows(results, "each", [](const Row&) { return true; });
  ASSERT_EQ(results.goals.size(), 1u);
  EXPECT_FALSE(results.goals[0].is_met);
  EXPECT_EQ(results.goals[0].figure, "1 of 2; nearest or worst: group/two missed 11.00");
}

TEST(Goals, NothingJudgedMakesNoGoal) {
  HeadToHead results;
  add_goal_of_rows(results, "each", [](const Row&) { return true; });
  add_goal_of_flatness(results, "scale/", 0.2);
  EXPECT_TRUE(results.goals.empty());
}

TEST(Report, CommandsLoseTheirFolders) {
  EXPECT_EQ(shortened_command("/a/b/drey-bench peers --peer x=/c/d.so --json e/f.json"),
            "drey-bench peers --peer x=d.so --json f.json");
}
}  // namespace
}  // namespace drey::bench
