// plan_test.cpp: the order a plan makes of stamps that are not quite right, and what it leaves out.
// SPDX-License-Identifier: MIT
#include "replay/plan.hpp"
#include "bench/fake_racers.hpp"
#include "trace/trace_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace drey::bench {
namespace {
using trace::RecordKind;

Plan whole_plan_of(TraceBytes& file, bool sequential) {
  const TestFolder folder;
  write_bytes(folder.path() / "t", file.bytes());
  return make_plan(read_trace(folder.path() / "t"), sequential);
}

/// Without the marks of pace, which a test of its own looks at.
Plan plan_of(TraceBytes& file, bool sequential = false) {
  Plan plan = whole_plan_of(file, sequential);
  for (auto& operations : plan.threads) {
    const auto is_mark = [](const Operation& one) { return one.kind() == OperationKind::kPace; };
    operations.erase(std::remove_if(operations.begin(), operations.end(), is_mark),
                     operations.end());
  }
  return plan;
}

std::vector<OperationKind> kinds(const std::vector<Operation>& operations) {
  std::vector<OperationKind> list;
  for (const Operation& one : operations) list.push_back(one.kind());
  return list;
}

TEST(Plan, FreeThatIsStampedTooEarlyWaitsForItsMalloc) {
  TraceBytes file;
  file.add_at(1'000, 0, RecordKind::kMalloc, 0x10, 5)
      .add_at(5'000, 1, RecordKind::kFree, 0x20, 0)
      .add_at(5'400, 0, RecordKind::kMalloc, 0x20, 7);
  const Plan plan = plan_of(file);
  EXPECT_EQ(plan.facts.put_in_order, 1u);
  EXPECT_EQ(plan.facts.unknown_frees, 0u);
  EXPECT_EQ(plan.facts.freed_by_other_thread, 1u);
  EXPECT_EQ(plan.facts.live_bytes_at_end, 5u);
  ASSERT_EQ(plan.threads[1].size(), 1u);
  EXPECT_EQ(plan.threads[1][0].slot, plan.threads[0][1].slot);
  EXPECT_EQ(plan.threads[1][0].sequence, plan.threads[0][1].sequence);
}

TEST(Plan, MallocOfAnAddressThatIsStillTakenWaitsForTheFree) {
  TraceBytes file;
  file.add_at(1'000, 0, RecordKind::kMalloc, 0x10, 5)
      .add_at(2'000, 1, RecordKind::kMalloc, 0x10, 6)
      .add_at(2'200, 0, RecordKind::kFree, 0x10, 0);
  const Plan plan = plan_of(file);
  EXPECT_EQ(plan.facts.put_in_order, 1u);
  EXPECT_EQ(plan.facts.unrecorded_frees, 0u);
  EXPECT_EQ(plan.facts.live_bytes_at_end, 6u);
  EXPECT_EQ(plan.facts.live_bytes_max, 6u);
}

TEST(Plan, WaitingEndsForWhatNeverComes) {
  TraceBytes file;
  file.add_at(1'000, 0, RecordKind::kFree, 0x10, 0)
      .add_at(1'500, 0, RecordKind::kMalloc, 0x30, 8)
      .add_at(1'000, 1, RecordKind::kMalloc, 0x20, 5)
      .add_at(50'000'000, 1, RecordKind::kFree, 0x20, 0);
  const Plan plan = plan_of(file);
  EXPECT_EQ(plan.facts.unknown_frees, 1u);
  EXPECT_EQ(plan.facts.put_in_order, 0u);
  EXPECT_EQ(plan.facts.events, 3u);
  EXPECT_EQ(plan.facts.live_bytes_at_end, 8u);
}

TEST(Plan, AddressThatComesAgainWithoutAFreeIsFreedFirst) {
  TraceBytes file;
  file.add(0, RecordKind::kMalloc, 0x10, 5).add(0, RecordKind::kMalloc, 0x10, 6);
  const Plan plan = plan_of(file);
  EXPECT_EQ(plan.facts.unrecorded_frees, 1u);
  const std::vector<OperationKind> expected = {OperationKind::kMalloc, OperationKind::kFree,
                                               OperationKind::kMalloc};
  EXPECT_EQ(kinds(plan.threads[0]), expected);
}

TEST(Plan, ReallocMovesFailsAndFrees) {
  TraceBytes file;
  file.add(0, RecordKind::kMalloc, 0x10, 5)
      .add(0, RecordKind::kReallocateFrom, 0x10, 50)
      .add(0, RecordKind::kReallocateTo, 0x90, 50)  // moved
      .add(0, RecordKind::kReallocateFrom, 0x90, 60)
      .add(0, RecordKind::kReallocateTo, 0x90, 60)  // in place
      .add(0, RecordKind::kReallocateFrom, 0x90, 1 << 30)
      .add(0, RecordKind::kReallocateTo, 0, 1 << 30)  // failed
      .add(0, RecordKind::kReallocateFrom, 0x90, 0)
      .add(0, RecordKind::kReallocateTo, 0, 0);  // freed
  const Plan plan = plan_of(file);
  const std::vector<OperationKind> expected = {
      OperationKind::kMalloc,         OperationKind::kReallocateFrom, OperationKind::kReallocateTo,
      OperationKind::kReallocateFrom, OperationKind::kReallocateTo,   OperationKind::kFree};
  EXPECT_EQ(kinds(plan.threads[0]), expected);
  EXPECT_EQ(plan.threads[0].back().size(), 60u);
  EXPECT_EQ(plan.facts.reallocs, 2u);
  EXPECT_EQ(plan.facts.failed, 1u);
  EXPECT_EQ(plan.facts.live_bytes_at_end, 0u);
  EXPECT_EQ(plan.facts.live_bytes_max, 60u);
}

TEST(Plan, SlotIsUsedAgainOnlyByWhoEmptiedIt) {
  TraceBytes file;
  file.add(0, RecordKind::kMalloc, 0x10, 1)
      .add(1, RecordKind::kFree, 0x10, 0)
      .add(0, RecordKind::kMalloc, 0x10, 2)
      .add(1, RecordKind::kMalloc, 0x20, 3);
  const Plan plan = plan_of(file);
  EXPECT_EQ(plan.header.slot_count, 2u);
  const Operation& again = plan.threads[1].back();
  EXPECT_EQ(again.slot, plan.threads[0][0].slot);
  EXPECT_EQ(again.sequence, 2u);
}

TEST(Plan, ThreadIsStartedByWhoWasAtWorkBefore) {
  TraceBytes file;
  file.add_at(3'000, 0, RecordKind::kMalloc, 0x10, 1)
      .add_at(1'000, 1, RecordKind::kMalloc, 0x20, 2)
      .add_at(9'000, 1, RecordKind::kMalloc, 0x30, 3);
  const Plan plan = plan_of(file);
  // Thread 1 came first: it is the plan's thread 0, and starts the other one.
  const std::vector<OperationKind> expected = {OperationKind::kMalloc, OperationKind::kStart,
                                               OperationKind::kMalloc};
  EXPECT_EQ(kinds(plan.threads[0]), expected);
  EXPECT_EQ(plan.threads[0][1].slot, 1u);
  EXPECT_EQ(plan.header.threads_alive_max, 2u);
}

TEST(Plan, ThreadsAreMarkedWhereTheyComeIntoAnotherStretch) {
  TraceBytes file;
  for (std::uint64_t i = 0; i < 2 * kOperationsPerStretch; ++i) {
    file.add(i < 10 ? 1 : 0, RecordKind::kMalloc, 0x10 + i, 1);
  }
  file.add(1, RecordKind::kFree, 0x10, 0);
  const Plan plan = whole_plan_of(file, false);
  std::vector<std::uint32_t> marks;
  for (const Operation& one : plan.threads[0]) {
    if (one.kind() == OperationKind::kPace) marks.push_back(one.slot);
  }
  EXPECT_EQ(marks, (std::vector<std::uint32_t>{0, 2})) << "it was away during the second stretch";
}

TEST(Plan, SequentialIsOneThreadWithoutStarts) {
  TraceBytes file;
  file.add(0, RecordKind::kMalloc, 0x10, 1)
      .add(1, RecordKind::kAligned, 0x40, 2, 6)
      .add(0, RecordKind::kFree, 0x40, 0);
  const Plan plan = plan_of(file, true);
  ASSERT_EQ(plan.threads.size(), 1u);
  const std::vector<OperationKind> expected = {OperationKind::kMalloc, OperationKind::kAligned,
                                               OperationKind::kFree};
  EXPECT_EQ(kinds(plan.threads[0]), expected);
  EXPECT_EQ(plan.threads[0][1].alignment(), 64u);
}
}  // namespace
}  // namespace drey::bench
