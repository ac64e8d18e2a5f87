// recorder_test.cpp: programs with known operations run under libdrey_trace.so; what is read back is
// what they did: kinds, sizes, alignments, threads; also after kill -9, in a fork's child, at the
// limit, and in programs that close everything.
// SPDX-License-Identifier: MIT
#include "bench/command.hpp"
#include "bench/fake_racers.hpp"
#include "race/error.hpp"
#include "replay/plan.hpp"
#include "replay/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace drey::bench {
namespace {
using trace::RecordKind;
constexpr std::uint64_t kFirst = 90'000;

ChildResult record(const TestFolder& folder, const std::string& scenario,
                   std::vector<std::pair<std::string, std::string>> more = {}) {
  more.push_back({"LD_PRELOAD", DREY_TEST_TRACE_LIBRARY});
  more.push_back({"DREY_TRACE", (folder.path() / "trace").string()});
  return run_command({DREY_TEST_TRACED, scenario}, more);
}

RecordKind kind_of(const trace::TraceRecord& record) {
  return static_cast<RecordKind>(trace::kind_of_word(record.word));
}

/// A thread's records of blocks of ours, and of the frees of those, as (kind, size).
using Events = std::vector<std::pair<RecordKind, std::uint64_t>>;
std::vector<Events> our_events(const Trace& trace) {
  std::vector<std::pair<std::uint64_t, std::pair<std::size_t, trace::TraceRecord>>> all;
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    for (const auto& one : trace.threads[thread]) all.push_back({one.ticks, {thread, one}});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::uint64_t, std::uint64_t> sizes;  // by address
  std::vector<Events> events(trace.threads.size());
  for (const auto& [ticks, one] : all) {
    const std::uint64_t address = trace::address_of_word(one.second.word);
    const RecordKind kind = kind_of(one.second);
    std::uint64_t size = one.second.size;
    if (kind == RecordKind::kFree) {
      size = sizes[address];
      sizes.erase(address);
    } else if (kind == RecordKind::kReallocateFrom) {
      sizes.erase(address);
    } else {
      sizes[address] = size;
    }
    if (size >= kFirst || (kind == RecordKind::kReallocateTo && size == 0)) {
      events[one.first].push_back({kind, size});
    }
  }
  return events;
}

TEST(Recorder, EventsReadBackAreThoseOfTheProgram) {
  const TestFolder folder;
  const ChildResult result = record(folder, "known");
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const Trace trace = read_trace(folder.path() / "trace");
  EXPECT_TRUE(trace.ended_in_order);
  EXPECT_EQ(trace.program, DREY_TEST_TRACED);
  ASSERT_EQ(trace.threads.size(), 2u);
  const auto events = our_events(trace);
  const Events expected_main = {{RecordKind::kMalloc, kFirst + 1},
                                {RecordKind::kCalloc, 91'000},
                                {RecordKind::kAligned, kFirst + 112},
                                {RecordKind::kAligned, kFirst + 3},
                                {RecordKind::kReallocateFrom, kFirst + 100'000},
                                {RecordKind::kReallocateTo, kFirst + 100'000},
                                {RecordKind::kReallocateFrom, kFirst + 5},
                                {RecordKind::kReallocateTo, kFirst + 5},
                                {RecordKind::kFree, kFirst + 100'000},
                                {RecordKind::kFree, kFirst + 7},
                                {RecordKind::kFree, kFirst + 112},
                                {RecordKind::kFree, kFirst + 3},
                                {RecordKind::kReallocateTo, 0},
                                {RecordKind::kMalloc, SIZE_MAX / 2}};
  const Events expected_other = {{RecordKind::kMalloc, kFirst + 6},
                                 {RecordKind::kFree, 91'000},
                                 {RecordKind::kFree, kFirst + 6},
                                 {RecordKind::kMalloc, kFirst + 7}};
  EXPECT_EQ(events[0], expected_main);
  EXPECT_EQ(events[1], expected_other);
}

TEST(Recorder, AlignmentsAndTimesAreKept) {
  const TestFolder folder;
  ASSERT_EQ(record(folder, "known").exit_code, 0);
  const Trace trace = read_trace(folder.path() / "trace");
  std::map<std::uint64_t, unsigned> alignment_log2;  // by size
  double last_ns = 0;
  for (const auto& one : trace.threads[0]) {
    if (kind_of(one) == RecordKind::kAligned) {
      alignment_log2[one.size] = trace::alignment_log2_of_word(one.word);
    }
    EXPECT_GE(trace.ns_of(one.ticks), last_ns);
    last_ns = trace.ns_of(one.ticks);
  }
  EXPECT_EQ(alignment_log2[kFirst + 112], 8u);
  EXPECT_EQ(alignment_log2[kFirst + 3], 6u);
  EXPECT_GT(last_ns, 0);
  EXPECT_LT(last_ns, 100e9) << "a rate that is wrong by orders of magnitude";
}

TEST(Recorder, KernelsClockServesWhereTheProcessorsDoesNot) {
  const TestFolder folder;
  ASSERT_EQ(record(folder, "known", {{"DREY_TRACE_CLOCK", "kernel"}}).exit_code, 0);
  const Trace trace = read_trace(folder.path() / "trace");
  EXPECT_EQ(trace.ns_per_tick, 1.0);
  EXPECT_EQ(our_events(trace)[0].size(), 14u);
  for (const auto& records : trace.threads) {
    for (std::size_t i = 1; i < records.size(); ++i) {
      EXPECT_GE(records[i].ticks, records[i - 1].ticks);
    }
  }
}

TEST(Recorder, ForksChildHasItsOwnFileWithTheKernelsClockToo) {
  const TestFolder folder;
  const ChildResult result = record(folder, "forked", {{"DREY_TRACE_CLOCK", "kernel"}});
  const std::string child = result.standard_output.substr(0, result.standard_output.find('\n'));
  EXPECT_EQ(our_events(read_trace(folder.path() / "trace"))[0].size(), 3u);
  EXPECT_EQ(our_events(read_trace(folder.path() / ("trace." + child)))[0].size(), 2u);
}

TEST(Recorder, PlanOfAKnownProgramLeavesNothingOfOursLive) {
  const TestFolder folder;
  ASSERT_EQ(record(folder, "known").exit_code, 0);
  const Plan plan = make_plan(read_trace(folder.path() / "trace"), false);
  EXPECT_EQ(plan.facts.threads, 2u);
  EXPECT_EQ(plan.facts.failed, 1u);
  EXPECT_EQ(plan.facts.reallocs, 2u);
  EXPECT_EQ(plan.facts.unrecorded_frees, 0u);
  EXPECT_LT(plan.facts.live_bytes_at_end, kFirst);
  EXPECT_GE(plan.facts.live_bytes_max, 5 * kFirst);
}

TEST(Recorder, KilledProgramLosesNothing) {
  const TestFolder folder;
  EXPECT_EQ(record(folder, "killed").exit_code, 128 + SIGKILL);
  const Trace trace = read_trace(folder.path() / "trace");
  EXPECT_FALSE(trace.ended_in_order);
  const auto events = our_events(trace);
  ASSERT_EQ(events[0].size(), 10'001u);
  EXPECT_EQ(events[0].back(), std::make_pair(RecordKind::kMalloc, kFirst + 2));
}

TEST(Recorder, FileCanBeReadWhereverTheProgramWasKilled) {
  std::size_t with_several_chunks = 0;
  for (int round = 0; round < 12; ++round) {
    const TestFolder folder;
    const ChildResult result =
        run_command({DREY_TEST_TRACED, "killed_anywhere", std::to_string(round * 4'000'000L)},
                    {{"LD_PRELOAD", DREY_TEST_TRACE_LIBRARY},
                     {"DREY_TRACE", (folder.path() / "trace").string()}});
    ASSERT_EQ(result.exit_code, 128 + SIGKILL);
    const Trace trace = read_trace(folder.path() / "trace");
    const auto& records = trace.threads.at(0);
    with_several_chunks += records.size() > 2 * trace::kRecordsPerChunk ? 1 : 0;
    for (std::size_t i = 1; i < records.size(); ++i) {
      ASSERT_GE(records[i].ticks, records[i - 1].ticks) << "record " << i << ", round " << round;
    }
    EXPECT_LE(make_plan(trace, false).facts.unrecorded_frees, 0u);
  }
  EXPECT_GT(with_several_chunks, 0u) << "no round got as far as it was meant to";
}

TEST(Recorder, ForksChildWritesAFileOfItsOwn) {
  const TestFolder folder;
  const ChildResult result = record(folder, "forked");
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const std::string child = result.standard_output.substr(0, result.standard_output.find('\n'));
  const auto parent_events = our_events(read_trace(folder.path() / "trace"));
  const Events expected_parent = {{RecordKind::kMalloc, kFirst + 1},
                                  {RecordKind::kMalloc, kFirst + 3},
                                  {RecordKind::kFree, kFirst + 3}};
  EXPECT_EQ(parent_events[0], expected_parent);
  const Trace child_trace = read_trace(folder.path() / ("trace." + child));
  EXPECT_EQ(std::to_string(child_trace.process), child);
  const Events expected_child = {{RecordKind::kMalloc, kFirst + 2},
                                 {RecordKind::kFree, kFirst + 2}};
  EXPECT_EQ(our_events(child_trace)[0], expected_child);
  EXPECT_EQ(make_plan(child_trace, false).facts.unknown_frees, 1u) << "the parent's block";
}

TEST(Recorder, ThreadsThatEndHandTheirRoomOn) {
  const TestFolder folder;
  ASSERT_EQ(record(folder, "short_threads").exit_code, 0);
  const Trace trace = read_trace(folder.path() / "trace");
  ASSERT_EQ(trace.threads.size(), 1'001u);
  const auto events = our_events(trace);
  for (std::size_t i = 0; i < 1'000; ++i) {
    const Events expected = {{RecordKind::kMalloc, kFirst + i}, {RecordKind::kFree, kFirst + i}};
    EXPECT_EQ(events[i + 1], expected) << "thread " << i + 1;
  }
  EXPECT_LT(std::filesystem::file_size(folder.path() / "trace"), 10 * trace::kTraceChunkBytes);
  EXPECT_LE(make_plan(trace, false).header.threads_alive_max, 3u);
}

TEST(Recorder, LimitBoundsTheFileAndTheProgramRunsOn) {
  const TestFolder folder;
  const ChildResult result = record(folder, "many", {{"DREY_TRACE_LIMIT", "300K"}});
  EXPECT_EQ(result.standard_output, "ok\n");
  EXPECT_LE(std::filesystem::file_size(folder.path() / "trace"), 300u * 1'024);
  const Trace trace = read_trace(folder.path() / "trace");
  EXPECT_TRUE(trace.limit_reached);
  EXPECT_GT(trace.record_count(), 2 * trace::kRecordsPerChunk);
  EXPECT_GE(trace.lost_count + trace.record_count(), 200'000u);
}

TEST(Recorder, BadLimitIsOneLineAndTheDefault) {
  const TestFolder folder;
  for (const char* limit : {"", "x", "-1", "12", "9999999999999999999", "5T", "1Mi"}) {
    const ChildResult result = record(folder, "failing_new", {{"DREY_TRACE_LIMIT", limit}});
    EXPECT_EQ(result.standard_output, "ok\n");
    EXPECT_TRUE(is_one_line(result.standard_error)) << limit << ": " << result.standard_error;
  }
}

TEST(Recorder, ProgramThatClosesEverythingIsRecordedToItsEnd) {
  const TestFolder folder;
  EXPECT_EQ(record(folder, "daemon_like").standard_output, "ok\n");
  const Trace trace = read_trace(folder.path() / "trace");
  EXPECT_EQ(our_events(trace)[0].size(), 200'000u);
  EXPECT_EQ(trace.lost_count, 0u);
}

TEST(Recorder, ErrnoIsKept) {
  const TestFolder folder;
  EXPECT_EQ(record(folder, "errno_is_kept").standard_output, "ok\n");
}

TEST(Recorder, UnwritableFileIsOneLineAndTheProgramRuns) {
  const ChildResult result = run_command(
      {DREY_TEST_TRACED, "many"},
      {{"LD_PRELOAD", DREY_TEST_TRACE_LIBRARY}, {"DREY_TRACE", "/no/such/folder/trace"}});
  EXPECT_EQ(result.standard_output, "ok\n");
  EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
  EXPECT_NE(result.standard_error.find("/no/such/folder/trace"), std::string::npos);
}

TEST(Recorder, WithoutAFileNothingIsRecordedOrSaid) {
  const ChildResult result =
      run_command({DREY_TEST_TRACED, "many"}, {{"LD_PRELOAD", DREY_TEST_TRACE_LIBRARY}});
  EXPECT_EQ(result.standard_output, "ok\n");
  EXPECT_EQ(result.standard_error, "");
}

TEST(Recorder, FileThatExistsIsLeftAlone) {
  const TestFolder folder;
  std::ofstream(folder.path() / "trace") << "mine";
  EXPECT_EQ(record(folder, "failing_new").standard_output, "ok\n");
  EXPECT_EQ(read_file(folder.path() / "trace"), "mine");
  std::size_t traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().filename() != "trace") traces += read_trace(entry.path()).threads.size();
  }
  EXPECT_EQ(traces, 1u);
}

TEST(Recorder, FreesOfOtherThreadsComeAfterTheirMallocs) {
  const TestFolder folder;
  ASSERT_EQ(record(folder, "exchange").exit_code, 0);
  const Plan plan = make_plan(read_trace(folder.path() / "trace"), false);
  EXPECT_GE(plan.facts.freed_by_other_thread, 50'000u);
  EXPECT_EQ(plan.facts.unrecorded_frees, 0u);
  // The C library's own blocks from before the environment was there.
  EXPECT_LT(plan.facts.unknown_frees, 20u);
}
}  // namespace
}  // namespace drey::bench
