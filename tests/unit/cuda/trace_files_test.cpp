// trace_files_test.cpp: each form of a trace is read as it was written, and what is wrong with a file is
// said in one line that names the place.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/trace_builder.hpp>
#include <drey/cuda/trace/trace_files.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <random>

namespace drey::cuda::trace {
namespace {
// Every kind of event, blocks freed in any order, two threads, three streams.
DeviceTrace sample_trace(std::uint64_t events) {
  TraceBuilder builder("sample");
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> live;
  std::uint64_t blocks = 0;
  std::uint64_t now_ns = 5000;
  for (std::uint64_t index = 0; index < events; ++index) {
    now_ns += random() % 5000;
    RawEvent raw{TraceAction::kAllocate,      blocks, 0, random() % 3,
                 random() % 8 == 0 ? 1U : 0U, now_ns};
    const std::uint64_t what = live.empty() ? 0 : random() % 16;
    if (what < 8) {
      raw.bytes = 1 + random() % 4 * 512 + (random() % 2 == 0 ? 511 : random() % 512);
      live.push_back(blocks++);
    } else if (what < 13) {
      raw.action = what % 2 == 0 ? TraceAction::kFree : TraceAction::kFreeOn;
      const std::size_t victim = random() % live.size();
      raw.pointer = live[victim];
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    } else if (what < 15) {
      raw.action = what == 13 ? TraceAction::kRecordStream : TraceAction::kRecordUse;
      raw.pointer = live.front();
    } else {
      raw.action = random() % 2 == 0 ? TraceAction::kWait : TraceAction::kSynchronize;
      raw.pointer = random() % 3;
    }
    builder.add(raw);
  }
  return builder.finish();
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

std::string rmm_message(const std::string& rows) {
  return message_of([&] {
    static_cast<void>(read_rmm_csv("Thread,Time,Action,Pointer,Size,Stream\n" + rows, "f.csv"));
  });
}

TEST(TraceFiles, BinaryIsReadAsItWasWrittenAndIsSmall) {
  const DeviceTrace trace = sample_trace(20'000);
  const std::string bytes = binary_of(trace);
  EXPECT_EQ(read_binary(bytes, "f"), trace);
  EXPECT_LE(bytes.size(), trace.events.size() * 8) << "bytes an event";
}

TEST(TraceFiles, BinaryThatWasCutOrChangedIsRefused) {
  const std::string bytes = binary_of(sample_trace(50));
  for (std::size_t length = 8; length < bytes.size(); ++length) {
    const std::string message =
        message_of([&] { static_cast<void>(read_binary(bytes.substr(0, length), "f")); });
    ASSERT_NE(message.find("f: offset "), std::string::npos) << length << ": " << message;
  }
  for (std::size_t place = 8; place < bytes.size(); ++place) {
    std::string changed = bytes;
    changed[place] = static_cast<char>(changed[place] ^ 0x21);
    EXPECT_NE(message_of([&] { static_cast<void>(read_binary(changed, "f")); }), "no error")
        << place;
  }
}

TEST(TraceFiles, RmmCsvGoesOutAndInAgain) {
  DeviceTrace trace = sample_trace(5000);
  std::erase_if(trace.events, [](const Event& event) {
    return event.action != TraceAction::kAllocate && event.action != TraceAction::kFreeOn &&
           event.action != TraceAction::kFree;
  });
  for (Event& event : trace.events) {
    if (event.action == TraceAction::kFree) event.action = TraceAction::kFreeOn;
    event.time_ns = event.time_ns / 1000 * 1000;  // as exact as the log is
  }
  const DeviceTrace again = read_rmm_csv(rmm_csv_of(trace), "f.csv");
  // Streams and threads are numbered anew, so compare what comes of a second round.
  EXPECT_EQ(read_rmm_csv(rmm_csv_of(again), "f.csv"), again);
  ASSERT_EQ(again.events.size(), trace.events.size());
  for (std::size_t index = 0; index < again.events.size(); ++index) {
    EXPECT_EQ(again.events[index].action, trace.events[index].action);
    EXPECT_EQ(again.events[index].block, trace.events[index].block);
    EXPECT_EQ(again.events[index].bytes, trace.events[index].bytes);
  }
}

TEST(TraceFiles, RmmCsvIsReadAsRmmWritesIt) {
  const DeviceTrace trace = read_rmm_csv(
      "Thread,Time,Action,Pointer,Size,Stream\r\n"
      "140,23:59:59.999999,allocate,0x7f0000000000,1000,0x0\r\n"
      "141,00:00:00:000001,allocate,0x7f0000000400,16,0x2\r\n"
      "141,00:00:00:000002,allocate failure,(nil),99999,0x2\r\n"
      "140,00:00:00:000003,free,0x7f0000000000,1000,0x2\r\n",
      "f.csv");
  ASSERT_EQ(trace.events.size(), 3U);
  EXPECT_EQ(trace.events[2].action, TraceAction::kFreeOn);
  EXPECT_EQ(trace.events[2].block, 0U);
  EXPECT_EQ(trace.events[2].stream, trace.events[1].stream);
  EXPECT_EQ(trace.events[2].time_ns, 4000U) << "past midnight";
}

TEST(TraceFiles, RmmCsvSaysRowColumnExpectedAndFound) {
  const std::string good = "1,00:00:00:000000,allocate,0x10,512,0\n";
  EXPECT_EQ(rmm_message("1,00:00:00:000000,free,0x10,512,0\n"),
            "f.csv: row 2: pointer: expected a live block, found 0x10");
  EXPECT_EQ(rmm_message(good + good),
            "f.csv: row 3: pointer: expected one that is free, found 0x10, a live block");
  EXPECT_EQ(rmm_message(good + "1,00:00:00:000000,free,0x10,511,0\n"),
            "f.csv: row 3: size: expected 512, the block's, found 511");
  EXPECT_EQ(rmm_message("1,00:00:00:000000,allocate,0x10,18446744073709551615,0\n"),
            "f.csv: row 2: size: expected 1 to 2^48 bytes, found 18446744073709551615");
  EXPECT_EQ(rmm_message("1,00:00:00:000000,allocate,0x10,18446744073709551616,0\n"),
            "f.csv: row 2: Size: expected a number below 2^64, found '18446744073709551616'");
  EXPECT_EQ(rmm_message("1,24:00:00:000000,allocate,0x10,1,0\n"),
            "f.csv: row 2: Time: expected hh:mm:ss:uuuuuu, found '24:00:00:000000'");
  EXPECT_EQ(rmm_message("1,00:00:00:000000,realloc,0x10,1,0\n"),
            "f.csv: row 2: Action: expected allocate or free, found 'realloc'");
  EXPECT_EQ(rmm_message("1,00:00:00:000000,allocate,0x10,1\n"),
            "f.csv: row 2: columns: expected 6, found 5");
  EXPECT_EQ(message_of([] { static_cast<void>(read_rmm_csv("Thread,Time\n", "f.csv")); }),
            "f.csv: row 1: head: expected a column 'Action', found none");
}

TEST(TraceFiles, LiveBlocksTogetherStayBelowTheLimit) {
  EXPECT_EQ(rmm_message("1,00:00:00:000000,allocate,0x1,281474976710656,0\n"
                        "1,00:00:00:000000,allocate,0x2,1,0\n"),
            "f.csv: row 3: size: expected at most 2^48 bytes in all live blocks, found 1 more");
}

TEST(TraceFiles, MinimallocsBuffersEndBeforeOthersBegin) {
  const DeviceTrace trace =
      read_minimalloc_csv("id,lower,upper,size\na,0,5,10\nb,5,6,20\nc,2,6,1\n", "m.csv", 100);
  EXPECT_EQ(trace.blocks, 3U);
  EXPECT_EQ(peak_live_bytes(trace), 2100U);
  EXPECT_EQ(message_of([] {
              static_cast<void>(read_minimalloc_csv("id,lower,upper,size\na,5,5,1\n", "m.csv", 1));
            }),
            "m.csv: row 2: upper: expected more than lower, 5, found 5");
}

TEST(TraceFiles, RecordsBecomeATraceWithoutWhatBeganBefore) {
  const std::vector<TraceRecord> records = {{30, 0xb, 0, 1, 2, TraceAction::kFree, 0},
                                            {10, 0xa, 64, 9, 1, TraceAction::kAllocate, 0},
                                            {40, 0xa, 0, 1, 1, TraceAction::kFreeOn, 0},
                                            {20, 0xc, 0, 1, 2, TraceAction::kRecordUse, 0},
                                            {25, 0xa, 0, 1, 2, TraceAction::kRecordStream, 0},
                                            {26, 0, 0, 0, 1, TraceAction::kMap, 0}};
  const DeviceTrace trace = trace_of_records(records, {0, 0}, {100, 1000});
  ASSERT_EQ(trace.events.size(), 3U);
  EXPECT_EQ(trace.events[0].action, TraceAction::kAllocate);
  EXPECT_EQ(trace.events[1].action, TraceAction::kRecordStream);
  EXPECT_EQ(trace.events[2].action, TraceAction::kFreeOn);
  EXPECT_EQ(trace.events[2].time_ns, 300U) << "ten a tick";
}

TEST(TraceFiles, FilesAreWrittenWholeOrNotAtAll) {
  const std::string path = ::testing::TempDir() + "drey_trace_files_test.bin";
  const DeviceTrace trace = sample_trace(100);
  write_file(path, binary_of(trace));
  EXPECT_EQ(read_trace(path), trace);
  std::remove(path.c_str());
  EXPECT_EQ(message_of([&] { static_cast<void>(read_trace(path)); }),
            path + ": cannot be read: No such file or directory");
  EXPECT_EQ(message_of([] { write_file("/nowhere/at/all", "x"); }),
            "/nowhere/at/all: cannot be written: No such file or directory");
}
}  // namespace
}  // namespace drey::cuda::trace
