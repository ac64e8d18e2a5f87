// replay_test.cpp: replays of traces made by code, and of one just recorded, against the C library
// and drey: live bytes are the recording's, threads keep their order, reports are written. No timing
// is judged.
// SPDX-License-Identifier: MIT
#include "bench/command.hpp"
#include "bench/fake_racers.hpp"
#include "race/error.hpp"
#include "replay/plan.hpp"
#include "trace/trace_bytes.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace drey::bench {
namespace {
using trace::RecordKind;

/// Three threads at random work, each freeing what any of them made; 3,000 blocks stay.
TraceBytes random_trace() {
  TraceBytes file;
  std::uint64_t state = 12345;
  const auto random = [&state](std::uint64_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % below;
  };
  std::vector<std::uint64_t> live;
  std::uint64_t next_address = 0x1000;
  for (int i = 0; i < 6'000; ++i) {
    const std::size_t thread = random(3);
    if (live.size() > 1'000 && random(3) == 0) {
      const std::size_t index = random(live.size());
      std::swap(live[index], live.back());
      file.add(thread, RecordKind::kFree, live.back(), 0);
      live.pop_back();
      continue;
    }
    next_address += 0x100000;
    const std::uint64_t size = 1 + random(i % 50 == 0 ? 300'000 : 2'000);
    switch (random(4)) {
      case 0:
        file.add(thread, RecordKind::kCalloc, next_address, size);
        break;
      case 1:
        file.add(thread, RecordKind::kAligned, next_address, size, 6);
        break;
      case 2:
        file.add(thread, RecordKind::kReallocateFrom, live.empty() ? 0 : live.back(), size);
        file.add(thread, RecordKind::kReallocateTo, next_address, size);
        if (!live.empty()) live.pop_back();
        break;
      default:
        file.add(thread, RecordKind::kMalloc, next_address, size);
    }
    live.push_back(next_address);
  }
  return file;
}

std::string drey_allocator() {
  return std::string("drey=") + DREY_TEST_DREY_LIBRARY;
}

nlohmann::json replay(const TestFolder& folder, const std::filesystem::path& trace,
                      std::vector<std::string> more = {}) {
  const std::string json_path = (folder.path() / "out.json").string();
  std::vector<std::string> command = {DREY_TEST_BENCH,  "replay",   trace.string(),
                                      "--allocator",    "system",   "--allocator",
                                      drey_allocator(), "--rounds", "1",
                                      "--json",         json_path};
  command.insert(command.end(), more.begin(), more.end());
  const ChildResult result = run_command(command);
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  return nlohmann::json::parse(read_file(json_path));
}

TEST(Replay, HasTheLiveBytesOfTheTrace) {
  const TestFolder folder;
  const auto path = folder.path() / "t";
  write_bytes(path, random_trace().bytes());
  const Plan plan = make_plan(read_trace(path), false);
  EXPECT_EQ(plan.facts.unknown_frees, 0u);
  EXPECT_GT(plan.facts.freed_by_other_thread, 100u);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--sequential"}}) {
    const auto json = replay(folder, path, more);
    ASSERT_EQ(json["allocators"].size(), 2u);
    EXPECT_EQ(json["trace"]["live_bytes_max"], plan.facts.live_bytes_max);
    for (const auto& row : json["allocators"]) {
      EXPECT_EQ(row["live_bytes_at_end"], plan.facts.live_bytes_at_end) << row;
      EXPECT_GE(row["resident_bytes_max"].get<double>(),
                0.9 * static_cast<double>(plan.facts.live_bytes_at_end));
      EXPECT_EQ(row["event_ns"]["samples"].size(), 1u);
    }
    EXPECT_EQ(json["allocators"][1]["malloc_in"], DREY_TEST_DREY_LIBRARY);
  }
}

TEST(Replay, OfARecordedProgramRunsWithItsThreads) {
  const TestFolder folder;
  const auto path = folder.path() / "t";
  for (const char* scenario : {"known", "short_threads", "exchange"}) {
    std::filesystem::remove(path);
    const ChildResult run =
        run_command({DREY_TEST_RUN, "--trace", path.string(), DREY_TEST_TRACED, scenario});
    ASSERT_EQ(run.exit_code, 0) << run.standard_error;
    const Plan plan = make_plan(read_trace(path), false);
    const auto json = replay(folder, path);
    EXPECT_EQ(json["trace"]["program"], DREY_TEST_TRACED);
    EXPECT_EQ(json["trace"]["threads"], plan.facts.threads);
    EXPECT_EQ(json["allocators"][0]["live_bytes_at_end"], plan.facts.live_bytes_at_end);
  }
}

TEST(Replay, ProducerDoesNotRunAwayFromItsConsumer) {
  const TestFolder folder;
  const auto path = folder.path() / "t";
  TraceBytes file;
  constexpr std::uint64_t kBlockBytes = 1'000;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    file.add(0, RecordKind::kMalloc, 0x1000 + i * 0x1000, kBlockBytes);
    file.add(1, RecordKind::kFree, 0x1000 + i * 0x1000, 0);
  }
  write_bytes(path, file.bytes());
  const auto curve = folder.path() / "c.csv";
  const auto json = replay(folder, path, {"--curve", curve.string()});
  EXPECT_EQ(json["trace"]["live_bytes_max"], kBlockBytes);
  std::ifstream rows(curve);
  std::string row;
  std::getline(rows, row);
  double live_bytes_max = 0;
  while (std::getline(rows, row)) {
    std::replace(row.begin(), row.end(), ',', ' ');
    std::istringstream fields(row);
    std::string name;
    double events = 0;
    double wall_ns = 0;
    double live_bytes = 0;
    fields >> name >> events >> wall_ns >> live_bytes;
    live_bytes_max = std::max(live_bytes_max, live_bytes);
  }
  EXPECT_GT(live_bytes_max, 0);
  EXPECT_LE(live_bytes_max, 2.0 * kOperationsPerStretch * kBlockBytes);
}

TEST(Replay, CurveHasARowForEachAllocatorAndSample) {
  const TestFolder folder;
  const auto path = folder.path() / "t";
  write_bytes(path, random_trace().bytes());
  const auto curve = folder.path() / "c.csv";
  const auto page = folder.path() / "p.html";
  replay(folder, path, {"--curve", curve.string(), "--html", page.string()});
  const std::string text = read_file(curve);
  EXPECT_EQ(text.rfind("allocator,events,wall_ns,live_bytes,resident_bytes\nsystem,", 0), 0u);
  EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 1'000);
  EXPECT_NE(text.find("\ndrey,"), std::string::npos);
  EXPECT_NE(read_file(page).find("<polyline"), std::string::npos);
}

TEST(Replay, BadOptionsEndWithTwoAndOneLine) {
  const TestFolder folder;
  const std::string path = (folder.path() / "t").string();
  write_bytes(path, TraceBytes().add(0, RecordKind::kMalloc, 16, 1).bytes());
  const std::string nothing = (folder.path() / "nothing").string();
  write_bytes(nothing, TraceBytes().add(0, RecordKind::kFree, 16, 0).bytes());
  const std::vector<std::vector<std::string>> all = {
      {"replay"},
      {"replay", nothing},
      {"replay", path, "--allocator", "drey"},
      {"replay", path, "--allocator", "=x"},
      {"replay", path, "--allocator", "x=/no/such.so"},
      {"replay", path, "--allocator", "x=libnosuch.so.9"},
      {"replay", path, "--allocator", "system", "--allocator", "system"},
      {"replay", path, "--rounds", "0"},
      {"replay", path, "--json", "/no/such/folder/x"}};
  for (std::vector<std::string> command : all) {
    command.insert(command.begin(), DREY_TEST_BENCH);
    const ChildResult result = run_command(command);
    EXPECT_EQ(result.exit_code, 2) << command.back();
    EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
  }
}

TEST(DreyRun, TraceTakesTheNameOfAnOldTraceAndOfNothingElse) {
  const TestFolder folder;
  const std::string path = (folder.path() / "t").string();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run_command({DREY_TEST_RUN, "--trace", path, DREY_TEST_TRACED, "known"}).exit_code,
              0);
    EXPECT_EQ(read_trace(path).threads.size(), 2u);
  }
  std::ofstream(path) << "letter";
  const ChildResult refused =
      run_command({DREY_TEST_RUN, "--trace", path, DREY_TEST_TRACED, "known"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(is_one_line(refused.standard_error)) << refused.standard_error;
  EXPECT_EQ(read_file(path), "letter");
}
}  // namespace
}  // namespace drey::bench
