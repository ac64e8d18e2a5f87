// trace_recorder_test.cpp: what threads record is what a reader gets, newest first to be kept, whole
// records only, and nothing while it is off.
// Method: the recorder is one a process, with small rings; each test marks its records by a device of
// its own and reads away what was before.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace_recorder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace drey::cuda {
namespace {
constexpr std::size_t kRecords = 256;

std::vector<TraceRecord> read_all(std::uint8_t device) {
  std::vector<TraceRecord> records(1 << 16);
  records.resize(read_records(records));
  std::erase_if(records, [&](const TraceRecord& record) { return record.device != device; });
  return records;
}

class TraceRecorder : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(start_recording(kRecords));
    static_cast<void>(read_all(0));
  }
  void TearDown() override { stop_recording(); }
};

TEST_F(TraceRecorder, GivesBackWhatWasRecordedInOrder) {
  for (std::uint64_t index = 0; index < 100; ++index)
    record_event(TraceAction::kRecordUse, 0x123456789abc + index, ~index, 7 + index, 1);
  const std::vector<TraceRecord> records = read_all(1);
  ASSERT_EQ(records.size(), 100U);
  for (std::uint64_t index = 0; index < 100; ++index) {
    EXPECT_EQ(records[index].pointer, 0x123456789abc + index);
    EXPECT_EQ(records[index].bytes, ~index);
    EXPECT_EQ(records[index].stream, 7 + index);
    EXPECT_EQ(records[index].action, TraceAction::kRecordUse);
    EXPECT_EQ(records[index].thread, records[0].thread);
    EXPECT_GE(records[index].ticks, records[index == 0 ? 0 : index - 1].ticks);
  }
  EXPECT_TRUE(read_all(1).empty()) << "read twice";
}

TEST_F(TraceRecorder, RecordsNothingWhileOff) {
  stop_recording();
  record_event(TraceAction::kAllocate, 1, 1, 0, 2);
  ASSERT_TRUE(start_recording(kRecords));
  EXPECT_TRUE(read_all(2).empty());
}

TEST_F(TraceRecorder, KeepsTheNewestAndCountsTheRest) {
  const std::uint64_t lost_before = lost_records();
  constexpr std::uint64_t kWritten = 1000;
  for (std::uint64_t index = 0; index < kWritten; ++index)
    record_event(TraceAction::kAllocate, index, 1, 0, 3);
  const std::vector<TraceRecord> records = read_all(3);
  ASSERT_EQ(records.size(), kRecords - 1) << "the oldest could be half overwritten";
  EXPECT_EQ(records.back().pointer, kWritten - 1);
  EXPECT_EQ(records.front().pointer, kWritten - kRecords + 1);
  EXPECT_EQ(lost_records() - lost_before, kWritten - records.size());
}

TEST_F(TraceRecorder, GivesAThreadsRingToTheNextThread) {
  std::vector<std::uint16_t> threads;
  constexpr std::uint64_t kThreads = 1100;
  constexpr std::uint64_t kThreadsARead = 20;
  static_assert(kThreads % kThreadsARead == 0 && kThreadsARead < kRecords);
  for (std::uint64_t index = 0; index < kThreads; ++index) {
    std::thread([&] { record_event(TraceAction::kFree, index, 0, 0, 4); }).join();
    if (index % kThreadsARead + 1 != kThreadsARead) continue;
    for (const TraceRecord& record : read_all(4)) threads.push_back(record.thread);
  }
  // More threads than there can be rings: none of them was lost.
  EXPECT_EQ(threads.size(), kThreads);
  std::sort(threads.begin(), threads.end());
  EXPECT_EQ(std::unique(threads.begin(), threads.end()), threads.end()) << "a number given twice";
}

// Writers that overtake the reader all the time: what it gets is never half of one record and half of
// another, and nothing comes twice or out of order.
TEST_F(TraceRecorder, GivesWholeRecordsWhileThreadsWrite) {
  constexpr std::uint64_t kWritten = 200'000;
  const std::uint64_t lost_before = lost_records();
  std::atomic<int> rings_taken{0};
  const auto body = [&](std::uint32_t stream) {
    record_event(TraceAction::kFree, 0, 0, 0, 6);
    // Relaxed: only so that both threads live at once, each with a ring of its own.
    rings_taken.fetch_add(1, std::memory_order_relaxed);
    while (rings_taken.load(std::memory_order_relaxed) != 2) std::this_thread::yield();
    for (std::uint64_t index = 0; index < kWritten; ++index)
      record_event(TraceAction::kAllocate, index, index * 3 + stream, stream, 5);
  };
  std::thread one(body, 1U);
  std::thread other(body, 2U);
  std::uint64_t seen = 0;
  std::uint64_t next[3] = {0, 0, 0};
  const auto look = [&] {
    for (const TraceRecord& record : read_all(5)) {
      ASSERT_EQ(record.bytes, record.pointer * 3 + record.stream) << "torn";
      ASSERT_GE(record.pointer, next[record.stream]) << "twice, or out of order";
      next[record.stream] = record.pointer + 1;
      ++seen;
    }
  };
  for (int round = 0; round < 200; ++round) look();
  one.join();
  other.join();
  look();
  EXPECT_EQ(next[1], kWritten);
  EXPECT_EQ(next[2], kWritten);
  const std::uint64_t lost = lost_records() - lost_before;
  EXPECT_GE(seen + lost, 2 * kWritten) << "some neither read nor counted";
  EXPECT_LE(seen + lost, 2 * kWritten + 2) << "with the first one of each";
}

TEST(TraceRecorderStart, RefusesRingsOfNoSizeAndOfTooMuch) {
  EXPECT_FALSE(start_recording(0));
  EXPECT_FALSE(start_recording((std::size_t{1} << 26) + 1));
}
}  // namespace
}  // namespace drey::cuda
