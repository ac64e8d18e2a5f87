// reader_test.cpp: each way a file can be damaged is refused by one line that names the file, the
// offset, what was expected and what was found. The file is made by code, then spoilt at one place.
// SPDX-License-Identifier: MIT
#include "bench/command.hpp"
#include "bench/fake_racers.hpp"
#include "race/error.hpp"
#include "replay/trace.hpp"
#include "trace/trace_bytes.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>

namespace drey::bench {
namespace {
using trace::RecordKind;
using trace::TraceHeader;
using trace::TraceRecord;

std::string valid_bytes() {
  TraceBytes file;
  file.add(0, RecordKind::kMalloc, 0x1000, 100).add(1, RecordKind::kFree, 0x1000, 0);
  return file.bytes();
}

template <typename Value>
void spoil(std::string& bytes, std::size_t offset, Value value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

struct Damage {
  const char* name;
  std::function<void(std::string&)> apply;
  std::string expected;  // in the message, behind the file's name
};

const std::size_t kFirstWord = offset_of_record(0, 0) + offsetof(TraceRecord, word);
const std::size_t kSecondWord = offset_of_record(0, 1) + offsetof(TraceRecord, word);

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all = {
      {"empty", [](std::string& b) { b.clear(); }, "offset 0: cut off: expected 8 bytes, found 0"},
      {"short header", [](std::string& b) { b.resize(100); },
       "offset 0: cut off: expected 256 bytes, found 100"},
      {"magic", [](std::string& b) { b[3] = 'i'; },
       "offset 0: magic: expected 'drey-trc', found 'drei-trc'"},
      {"version", [](std::string& b) { spoil(b, offsetof(TraceHeader, version), 2U); },
       "offset 8: version: expected 1, found 2"},
      {"record", [](std::string& b) { spoil(b, offsetof(TraceHeader, record_bytes), 32U); },
       "offset 12: bytes of a record: expected 24, found 32"},
      {"chunk", [](std::string& b) { spoil(b, offsetof(TraceHeader, chunk_bytes), 4096U); },
       "offset 16: bytes of a chunk: expected 65536, found 4096"},
      {"clock", [](std::string& b) { spoil(b, offsetof(TraceHeader, clock), 7U); },
       "offset 20: clock: expected 1 or 2, found 7"},
      {"cut", [](std::string& b) { b.resize(3 * trace::kTraceChunkBytes - 1); },
       "offset 196607: cut off: expected 2 chunks, 196608 bytes, found 196607"},
      {"chunk count", [](std::string& b) { spoil(b, offsetof(TraceHeader, chunk_count), ~0ULL); },
       "offset 196608: cut off: expected 18446744073709551615 chunks"},
      {"chunk magic", [](std::string& b) { spoil(b, trace::kTraceChunkBytes, 5U); },
       "offset 65536: magic of a chunk: expected 1802397795, found 5"},
      {"chunk number", [](std::string& b) { spoil(b, trace::kTraceChunkBytes + 4, 5U); },
       "offset 65540: number of the chunk: expected 0, found 5"},
      {"kind", [](std::string& b) { b[kSecondWord + 7] = 9; },
       "kind of a record: expected 0 to 7, found 9"},
      {"no thread",
       [](std::string& b) { spoil(b, kFirstWord, trace::pack(RecordKind::kFree, 1, 0)); },
       "first record of a chunk: expected kind 1, a thread, found 7"},
      {"thread number",
       [](std::string& b) { spoil(b, kFirstWord, trace::pack(RecordKind::kThread, 2, 0)); },
       "number of a thread: expected less than 2, found 2"},
      {"part again",
       [](std::string& b) { spoil(b, kFirstWord, trace::pack(RecordKind::kThread, 1, 0)); },
       "part of thread 1: expected another number, found 0 again"},
      {"part missing", [](std::string& b) { spoil(b, kFirstWord + 8, std::uint64_t{1}); },
       "part of thread 0: expected 0, found 1"},
      {"behind the end",
       [](std::string& b) {
         spoil(b, offset_of_record(0, 5) + offsetof(TraceRecord, word),
               trace::pack(RecordKind::kFree, 1, 0));
       },
       "record behind the end of its chunk: expected 0, found 7"},
  };
  return all;
}

TEST(TraceReader, ValidFileIsRead) {
  const TestFolder folder;
  write_bytes(folder.path() / "t", valid_bytes());
  const Trace read = read_trace(folder.path() / "t");
  EXPECT_EQ(read.program, "by-hand");
  EXPECT_EQ(read.process, 42u);
  ASSERT_EQ(read.threads.size(), 2u);
  ASSERT_EQ(read.threads[0].size(), 1u);
  EXPECT_EQ(read.threads[0][0].size, 100u);
}

TEST(TraceReader, ZerosBehindTheLastChunkAreNotPartOfTheTrace) {
  const TestFolder folder;
  write_bytes(folder.path() / "t", valid_bytes() + std::string(5 * trace::kTraceChunkBytes, '\0'));
  EXPECT_EQ(read_trace(folder.path() / "t").record_count(), 2u);
}

TEST(TraceReader, ChunkThatWasCopiedButNotWipedCountsOnce) {
  const TestFolder folder;
  std::string bytes = valid_bytes();
  std::string copy = bytes.substr(trace::kTraceChunkBytes, trace::kTraceChunkBytes);
  spoil(copy, offsetof(trace::ChunkHeader, index), 2U);
  spoil(bytes, offsetof(TraceHeader, chunk_count), std::uint64_t{3});
  write_bytes(folder.path() / "t", bytes + copy);
  EXPECT_EQ(read_trace(folder.path() / "t").record_count(), 2u);
  // The kill came within the copy: it lacks the last record.
  std::memset(copy.data() + sizeof(trace::ChunkHeader) + sizeof(TraceRecord), 0,
              sizeof(TraceRecord));
  write_bytes(folder.path() / "t", bytes + copy);
  EXPECT_EQ(read_trace(folder.path() / "t").record_count(), 2u);
}

TEST(TraceReader, ChunkThatWasBeingWipedOrNeverWrittenIsLeftOut) {
  const TestFolder folder;
  std::string bytes = valid_bytes();
  spoil(bytes, 2 * trace::kTraceChunkBytes + offsetof(trace::ChunkHeader, emptying),
        std::uint64_t{1});
  spoil(bytes, offsetof(TraceHeader, chunk_count), std::uint64_t{3});
  bytes.append(trace::kTraceChunkBytes, '\0');
  write_bytes(folder.path() / "t", bytes);
  EXPECT_EQ(read_trace(folder.path() / "t").record_count(), 1u);
}

TEST(TraceReader, EachDamageIsNamedWithFileAndOffset) {
  const TestFolder folder;
  const auto path = folder.path() / "t";
  for (const Damage& damage : damages()) {
    std::string bytes = valid_bytes();
    damage.apply(bytes);
    write_bytes(path, bytes);
    try {
      static_cast<void>(read_trace(path));
      ADD_FAILURE() << damage.name << ": was read";
    } catch (const BadInput& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind(path.string() + ": offset ", 0), 0u) << message;
      EXPECT_NE(message.find(damage.expected), std::string::npos) << damage.name << ": " << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

TEST(TraceReader, CommandEndsWithTwoAndOneLine) {
  const TestFolder folder;
  std::string bytes = valid_bytes();
  bytes[0] = 'x';
  write_bytes(folder.path() / "t", bytes);
  for (const auto& path : {folder.path() / "t", folder.path() / "missing", folder.path()}) {
    const ChildResult result = run_command({DREY_TEST_BENCH, "replay", path.string()});
    EXPECT_EQ(result.exit_code, 2) << path;
    EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
    EXPECT_NE(result.standard_error.find(path.string()), std::string::npos);
    EXPECT_EQ(result.standard_output, "");
  }
}
}  // namespace
}  // namespace drey::bench
