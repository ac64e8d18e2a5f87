// trace_reader.cpp: the file of a trace, checked byte by byte where a mistake could be.
// Read next: docs/TRACE.md.
// SPDX-License-Identifier: MIT
#include "race/error.hpp"
#include "replay/trace.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <tuple>

namespace drey::bench {
namespace {
using trace::RecordKind;
using trace::TraceHeader;
using trace::TraceRecord;

/// A stretch of one thread's records within a chunk.
struct Part {
  std::uint64_t thread;
  std::uint64_t number;
  std::vector<TraceRecord> records;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path)
      : path_(path), file_(path, std::ios::binary | std::ios::ate) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      throw BadInput(path.string() + ": expected a trace, found a folder");
    }
    if (!file_) throw BadInput(path.string() + ": cannot be read: " + std::strerror(errno));
    file_bytes_ = static_cast<std::uint64_t>(file_.tellg());
  }

  Trace read() {
    read_header();
    Trace result;
    result.program.assign(header_.program, strnlen(header_.program, sizeof header_.program));
    result.process = header_.process;
    result.first_ticks = header_.first_ticks;
    if (header_.clock == trace::Clock::kTicks && header_.last_ticks > header_.first_ticks) {
      result.ns_per_tick = static_cast<double>(header_.last_ns - header_.first_ns) /
                           static_cast<double>(header_.last_ticks - header_.first_ticks);
    }
    result.lost_count = header_.lost_count;
    result.limit_reached = (header_.flags & trace::kFlagLimitReached) != 0;
    result.ended_in_order = (header_.flags & trace::kFlagEndedInOrder) != 0;
    for (std::uint64_t index = 0; index < header_.chunk_count; ++index) read_chunk(index);
    join_parts(result);
    return result;
  }

 private:
  [[noreturn]] void fail(std::uint64_t offset, const std::string& what, const std::string& expected,
                         const std::string& found) const {
    throw BadInput(path_.string() + ": offset " + std::to_string(offset) + ": " + what +
                   ": expected " + expected + ", found " + found);
  }

  void expect(std::uint64_t offset, const std::string& what, std::uint64_t expected,
              std::uint64_t found) const {
    if (expected != found) fail(offset, what, std::to_string(expected), std::to_string(found));
  }

  void load(std::uint64_t offset, void* target, std::size_t bytes) {
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(static_cast<char*>(target), static_cast<std::streamsize>(bytes));
    if (!file_) {
      fail(offset, "cut off", std::to_string(bytes) + " bytes",
           std::to_string(file_bytes_ > offset ? file_bytes_ - offset : 0));
    }
  }

  void read_header() {
    load(0, header_.magic, sizeof header_.magic);
    if (std::memcmp(header_.magic, trace::kTraceMagic, sizeof header_.magic) != 0) {
      std::string found;
      for (const char c : header_.magic) found += c >= ' ' && c <= '~' ? c : '?';
      fail(0, "magic", "'drey-trc'", "'" + found + "'");
    }
    load(0, &header_, sizeof header_);
    expect(offsetof(TraceHeader, version), "version", trace::kTraceVersion, header_.version);
    expect(offsetof(TraceHeader, record_bytes), "bytes of a record", sizeof(TraceRecord),
           header_.record_bytes);
    expect(offsetof(TraceHeader, chunk_bytes), "bytes of a chunk", trace::kTraceChunkBytes,
           header_.chunk_bytes);
    const auto clock = static_cast<std::uint32_t>(header_.clock);
    if (clock != 1 && clock != 2) {
      fail(offsetof(TraceHeader, clock), "clock", "1 or 2", std::to_string(clock));
    }
    const std::uint64_t needed_bytes = (header_.chunk_count + 1) * trace::kTraceChunkBytes;
    if (header_.chunk_count > file_bytes_ || file_bytes_ < needed_bytes) {
      fail(file_bytes_, "cut off",
           std::to_string(header_.chunk_count) + " chunks, " + std::to_string(needed_bytes) +
               " bytes",
           std::to_string(file_bytes_));
    }
  }

  void read_chunk(std::uint64_t index) {
    const std::uint64_t start = (index + 1) * trace::kTraceChunkBytes;
    struct {
      trace::ChunkHeader header;
      std::array<TraceRecord, trace::kRecordsPerChunk> records;
    } chunk;
    load(start, &chunk, sizeof chunk);
    if (chunk.header.magic == 0 && chunk.header.index == 0) return;  // killed before it was written
    if (chunk.header.emptying == 1) return;  // killed while it was wiped: it is elsewhere too
    expect(start, "magic of a chunk", trace::kChunkMagic, chunk.header.magic);
    expect(start + offsetof(trace::ChunkHeader, index), "number of the chunk", index,
           chunk.header.index);
    Part* part = nullptr;
    bool has_ended = false;
    for (std::size_t place = 0; place < chunk.records.size(); ++place) {
      const std::uint64_t offset =
          start + sizeof chunk.header + place * sizeof(TraceRecord) + offsetof(TraceRecord, word);
      const TraceRecord& record = chunk.records[place];
      const std::uint8_t kind = trace::kind_of_word(record.word);
      if (kind > trace::kRecordKindLast) {
        fail(offset, "kind of a record", "0 to " + std::to_string(trace::kRecordKindLast),
             std::to_string(kind));
      }
      if (kind == 0) {  // or a killed thread left one unwritten: the rest is empty as well
        has_ended = true;
        continue;
      }
      if (has_ended) fail(offset, "record behind the end of its chunk", "0", std::to_string(kind));
      if (static_cast<RecordKind>(kind) == RecordKind::kThread) {
        part = &begin_part(record, offset);
      } else if (part == nullptr) {
        fail(offset, "first record of a chunk", "kind 1, a thread", std::to_string(kind));
      } else {
        part->records.push_back(record);
      }
    }
  }

  /// A part may be there twice where the process was killed between copying and wiping it: the longer
  /// one counts, and the shorter one is a beginning of it.
  void drop_copies() {
    std::vector<Part> kept;
    for (Part& part : parts_) {
      const bool is_copy =
          !kept.empty() && kept.back().thread == part.thread && kept.back().number == part.number;
      if (!is_copy) {
        kept.push_back(std::move(part));
        continue;
      }
      Part& first = kept.back();
      if (first.records.size() < part.records.size()) std::swap(first, part);
      const std::size_t bytes = part.records.size() * sizeof(TraceRecord);
      if (std::memcmp(first.records.data(), part.records.data(), bytes) != 0) {
        fail(offset_of_part_[{part.thread, part.number}],
             "part of thread " + std::to_string(part.thread), "another number",
             std::to_string(part.number) + " again");
      }
    }
    parts_ = std::move(kept);
  }

  Part& begin_part(const TraceRecord& record, std::uint64_t offset) {
    const std::uint64_t thread = trace::address_of_word(record.word);
    if (thread >= header_.thread_count) {
      fail(offset, "number of a thread", "less than " + std::to_string(header_.thread_count),
           std::to_string(thread));
    }
    offset_of_part_[{thread, record.size}] = offset;
    return parts_.emplace_back(Part{thread, record.size, {}});
  }

  void join_parts(Trace& result) {
    std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
      return std::tie(a.thread, a.number) < std::tie(b.thread, b.number);
    });
    drop_copies();
    result.threads.resize(header_.thread_count);
    std::vector<std::uint64_t> next_number(header_.thread_count, 0);
    for (Part& part : parts_) {
      const std::uint64_t offset = offset_of_part_[{part.thread, part.number}];
      expect(offset, "part of thread " + std::to_string(part.thread), next_number[part.thread]++,
             part.number);
      auto& records = result.threads[part.thread];
      records.insert(records.end(), part.records.begin(), part.records.end());
      part.records = {};
    }
  }

  std::filesystem::path path_;
  std::ifstream file_;
  std::uint64_t file_bytes_ = 0;
  TraceHeader header_{};
  std::vector<Part> parts_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> offset_of_part_;
};
}  // namespace

std::uint64_t Trace::record_count() const noexcept {
  std::uint64_t count = 0;
  for (const auto& records : threads) count += records.size();
  return count;
}

double Trace::ns_of(std::uint64_t ticks) const noexcept {
  return static_cast<double>(ticks - first_ticks) * ns_per_tick;
}

Trace read_trace(const std::filesystem::path& path) {
  return Reader(path).read();
}
}  // namespace drey::bench
