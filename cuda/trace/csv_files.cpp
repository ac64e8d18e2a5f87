// csv_files.cpp: RMM's log and MiniMalloc's buffers; see trace_files.hpp.
//
// A time in RMM's log is one of the day, "14:05:09:123456" or with a point; a log that passes midnight
// goes on with the next day. Frees and allocations of one moment of MiniMalloc: the frees come first.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/csv_rows.hpp>
#include <drey/cuda/trace/trace_files.hpp>

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace drey::cuda::trace {
namespace {
constexpr std::uint64_t kDayNs = std::uint64_t{86'400} * 1'000'000'000;

// Digits of `text` from `place` on, `count` of them; false if they are none.
bool digits(std::string_view text, std::size_t place, std::size_t count, std::uint64_t& value) {
  value = 0;
  for (std::size_t index = place; index < place + count; ++index) {
    if (text[index] < '0' || text[index] > '9') return false;
    value = value * 10 + static_cast<std::uint64_t>(text[index] - '0');
  }
  return true;
}

// "hh:mm:ss:uuuuuu" in nanoseconds; false if it is something else.
bool time_of_day(std::string_view text, std::uint64_t& ns) {
  constexpr std::size_t kLength = 15;
  std::uint64_t hours = 0;
  std::uint64_t minutes = 0;
  std::uint64_t seconds = 0;
  std::uint64_t microseconds = 0;
  const bool is_time = text.size() == kLength && text[2] == ':' && text[5] == ':' &&
                       (text[8] == ':' || text[8] == '.') && digits(text, 0, 2, hours) &&
                       digits(text, 3, 2, minutes) && digits(text, 6, 2, seconds) &&
                       digits(text, 9, 6, microseconds);
  ns = ((hours * 3600 + minutes * 60 + seconds) * 1'000'000 + microseconds) * 1000;
  return is_time && ns < kDayNs;
}

// "(nil)" is how some C libraries print the null pointer.
std::uint64_t pointer_of(const CsvRows& rows, std::size_t column) {
  return rows.field(column) == "(nil)" ? 0 : rows.number(column, 16);
}
}  // namespace

DeviceTrace read_rmm_csv(std::string_view text, const std::string& source) {
  TraceBuilder builder(source);
  CsvRows rows(text, builder);
  const std::size_t thread = rows.column("Thread");
  const std::size_t time = rows.column("Time");
  const std::size_t action = rows.column("Action");
  const std::size_t pointer = rows.column("Pointer");
  const std::size_t size = rows.column("Size");
  const std::size_t stream = rows.column("Stream");
  std::uint64_t days_ns = 0;
  std::uint64_t last_ns = 0;
  while (rows.next()) {
    RawEvent raw;
    std::uint64_t ns = 0;
    if (!time_of_day(rows.field(time), ns))
      builder.fail("Time", "hh:mm:ss:uuuuuu", "'" + std::string(rows.field(time)) + "'");
    // Threads log a little out of order; half a day back is a new day.
    if (ns + kDayNs / 2 < last_ns) days_ns += kDayNs;
    last_ns = ns;
    raw.time_ns = days_ns + ns;
    raw.thread = rows.number(thread);
    raw.pointer = pointer_of(rows, pointer);
    raw.bytes = rows.number(size);
    raw.stream = pointer_of(rows, stream);
    const std::string_view what = rows.field(action);
    if (what != "allocate" && what != "free" && what != "allocate failure")
      builder.fail("Action", "allocate or free", "'" + std::string(what) + "'");
    if (raw.bytes == 0 || what == "allocate failure") continue;
    raw.action = what == "free" ? TraceAction::kFreeOn : TraceAction::kAllocate;
    builder.add(raw);
  }
  return builder.finish();
}

std::string rmm_csv_of(const DeviceTrace& trace) {
  std::string text = "Thread,Time,Action,Pointer,Size,Stream\n";
  std::vector<std::uint64_t> bytes(trace.blocks, 0);
  // Any numbers do that differ while the blocks live: no address was ever part of a trace.
  constexpr std::uint64_t kFirstPointer = std::uint64_t{1} << 44;
  constexpr std::uint64_t kStep = 512;
  for (const Event& event : trace.events) {
    const bool is_free = event.action == TraceAction::kFree || event.action == TraceAction::kFreeOn;
    if (!is_free && event.action != TraceAction::kAllocate) continue;
    if (!is_free) bytes[event.block] = event.bytes;
    const std::uint64_t us = event.time_ns % kDayNs / 1000;
    const std::uint64_t seconds = us / 1'000'000;
    char row[160];
    std::snprintf(row, sizeof row, "%u,%02u:%02u:%02u:%06u,%s,0x%llx,%llu,0x%x\n", event.thread,
                  static_cast<unsigned>(seconds / 3600), static_cast<unsigned>(seconds / 60 % 60),
                  static_cast<unsigned>(seconds % 60), static_cast<unsigned>(us % 1'000'000),
                  is_free ? "free" : "allocate",
                  static_cast<unsigned long long>(kFirstPointer + event.block * kStep),
                  static_cast<unsigned long long>(bytes[event.block]), event.stream);
    text += row;
  }
  return text;
}

DeviceTrace read_minimalloc_csv(std::string_view text, const std::string& source,
                                std::uint64_t scale) {
  TraceBuilder builder(source);
  CsvRows rows(text, builder);
  const std::size_t lower = rows.column("lower");
  const std::size_t upper = rows.column("upper");
  const std::size_t size = rows.column("size");
  // Moment, frees before allocations, row; and the size.
  std::vector<std::tuple<std::uint64_t, bool, std::uint64_t, std::uint64_t>> ends;
  while (rows.next()) {
    const std::uint64_t first = rows.number(lower);
    const std::uint64_t end = rows.number(upper);
    const std::uint64_t bytes = rows.number(size);
    if (end <= first)
      builder.fail("upper", "more than lower, " + std::to_string(first), std::to_string(end));
    if (scale == 0 || bytes > kBlockBytesMax / scale || bytes == 0)
      builder.fail("size", "1 to 2^48 bytes by the scale", std::to_string(bytes));
    ends.emplace_back(first, true, rows.row(), bytes * scale);
    ends.emplace_back(end, false, rows.row(), bytes * scale);
  }
  std::sort(ends.begin(), ends.end());
  for (const auto& [moment, is_begin, row, bytes] : ends) {
    builder.set_place("row", row);
    builder.add({is_begin ? TraceAction::kAllocate : TraceAction::kFree, row, bytes, 0, 0, moment});
  }
  return builder.finish();
}
}  // namespace drey::cuda::trace
