// trace_files.cpp: which form a file has, and files as a whole; see trace_files.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/trace_files.hpp>

#include <drey/cuda/trace/trace_builder.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace drey::cuda::trace {
namespace {
[[noreturn]] void fail(const std::string& path, const char* what) {
  throw BadInput(path + ": " + what + ": " + std::strerror(errno));
}

bool has_column(std::string_view head, std::string_view name) {
  return ("," + std::string(head) + ",").find("," + std::string(name) + ",") != std::string::npos;
}
}  // namespace

std::string read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw BadInput(path + ": expected a trace, found a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".part";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
      const int reason = errno;
      std::remove(temporary.c_str());
      errno = reason;
      fail(path, "cannot be written");
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary.c_str());
    errno = reason;
    fail(path, "cannot be written");
  }
}

DeviceTrace read_trace(const std::string& path, std::uint64_t minimalloc_scale) {
  const std::string bytes = read_file(path);
  const std::string_view text = bytes;
  if (text.starts_with("dreydvtr")) return read_binary(text, path);
  std::string_view head = text.substr(0, text.find('\n'));
  if (head.ends_with('\r')) head.remove_suffix(1);
  if (has_column(head, "Action") && has_column(head, "Pointer")) return read_rmm_csv(text, path);
  if (has_column(head, "lower") && has_column(head, "upper"))
    return read_minimalloc_csv(text, path, minimalloc_scale);
  std::string begin;
  for (const char character : head.substr(0, 24))
    begin += character >= ' ' && character <= '~' ? character : '?';
  throw BadInput(path + ": row 1: expected a trace (drey's, RMM's CSV or MiniMalloc's), found '" +
                 begin + "'");
}

DeviceTrace trace_of_records(std::span<const TraceRecord> records, const TraceMoment& begin,
                             const TraceMoment& end) {
  std::vector<TraceRecord> sorted(records.begin(), records.end());
  // Stable: of one thread's records with the same tick the first comes first.
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  const double ns_a_tick =
      end.ticks > begin.ticks
          ? static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.ticks - begin.ticks)
          : 1.0;
  TraceBuilder builder("recorded");
  std::unordered_map<std::uint64_t, bool> live;
  for (const TraceRecord& record : sorted) {
    const bool is_free =
        record.action == TraceAction::kFree || record.action == TraceAction::kFreeOn;
    const bool is_use =
        record.action == TraceAction::kRecordStream || record.action == TraceAction::kRecordUse;
    // Devices have addresses of their own, yet the driver gives none twice.
    if ((is_free || is_use) && !live.contains(record.pointer)) continue;
    if (record.action == TraceAction::kAllocate) live[record.pointer] = true;
    if (is_free) live.erase(record.pointer);
    const double ticks =
        record.ticks > begin.ticks ? static_cast<double>(record.ticks - begin.ticks) : 0.0;
    RawEvent raw{record.action, record.pointer, record.bytes,
                 record.stream, record.thread,  static_cast<std::uint64_t>(ticks * ns_a_tick)};
    if (is_free) raw.bytes = 0;  // the allocator checked it
    builder.add(raw);
  }
  return builder.finish();
}
}  // namespace drey::cuda::trace
