// options.cpp: the table, and its reader. Read next: options.hpp, option_text.cpp.
// SPDX-License-Identifier: MIT
#include "core/options.hpp"

#include "core/option_text.hpp"
#include "core/report_writer.hpp"
#include "os/os.hpp"

#include <drey/base/assert.hpp>

#include <cstring>

namespace drey::core {
constinit Options options{};

namespace {
constexpr std::int64_t kBytesMax = std::int64_t{1} << 46;

template <auto kMember>
using ValueOf = typename std::remove_reference_t<decltype(options.*kMember)>::Value;

// Relaxed on both sides: see Options.
template <auto kMember>
void store(std::int64_t value) noexcept {
  (options.*kMember).store(static_cast<ValueOf<kMember>>(value), std::memory_order_relaxed);
}
template <auto kMember>
std::int64_t load() noexcept {
  return static_cast<std::int64_t>((options.*kMember).load(std::memory_order_relaxed));
}

template <auto kMember>
constexpr OptionRow row(const char* name, OptionKind kind, std::int64_t min, std::int64_t max,
                        const char* unit, const char* sentence) noexcept {
  const auto fallback = std::remove_reference_t<decltype(options.*kMember)>::kFallback;
  return {name,
          kind,
          static_cast<std::int64_t>(fallback),
          min,
          max,
          unit,
          sentence,
          store<kMember>,
          load<kMember>,
          nullptr};
}

template <auto kMember>
constexpr OptionRow integer(const char* name, std::int64_t min, std::int64_t max, const char* unit,
                            const char* sentence) noexcept {
  return row<kMember>(name, OptionKind::kInteger, min, max, unit, sentence);
}
template <auto kMember>
constexpr OptionRow bytes(const char* name, std::int64_t min, const char* sentence) noexcept {
  return row<kMember>(name, OptionKind::kBytes, min, kBytesMax, "bytes", sentence);
}
template <auto kMember>
constexpr OptionRow boolean(const char* name, const char* sentence) noexcept {
  return row<kMember>(name, OptionKind::kBoolean, 0, 1, "0|1", sentence);
}
template <auto kMember>
constexpr OptionRow choice(const char* name, const char* words, const char* sentence) noexcept {
  std::int64_t last = 0;
  for (const char* word = words; *word != '\0'; ++word) last += *word == '|' ? 1 : 0;
  return row<kMember>(name, OptionKind::kChoice, 0, last, words, sentence);
}
constexpr OptionRow path(const char* name, TextSetting& setting, const char* sentence) noexcept {
  return {name, OptionKind::kPath, 0, 0, 0, "file", sentence, nullptr, nullptr, &setting};
}

constexpr OptionRow kRows[] = {
    integer<&Options::purge_delay_ms>(
        "purge_delay_ms", -1, 3'600'000, "ms",
        "idle memory goes back to the system after this long; -1: never, 0: at the next visit"),
    choice<&Options::on_error>(
        "on_error", "abort|warn",
        "what a detected misuse does after its one line: end the process, or go on"),
    choice<&Options::huge_pages>("huge_pages", "system|never|always|large",
                                 "transparent huge pages for new segments: as the system is set, "
                                 "none, all, or beyond 16 MiB; but for \"never\", blocks that "
                                 "realloc grows to 16 MiB ask for them too"),
    boolean<&Options::purge_thread>(
        "purge_thread",
        "run a thread that gives idle memory back also while the whole process sleeps"),
    boolean<&Options::numa>(
        "numa",
        "on machines with several memory nodes, threads get memory of their own; "
        "read when the process begins"),
    boolean<&Options::guard_large>(
        "guard_large",
        "blocks above 1 MiB end at an inaccessible page and lose access when they are freed"),
    boolean<&Options::show_stats>("show_stats", "print statistics to standard error at exit"),
    path("stats_json", options.stats_json, "write statistics as JSON into this file at exit"),
    boolean<&Options::leak_report>("leak_report",
                                   "tell on standard error what is still live at exit"),
    path("profile", options.profile,
         "sample the heap, and write pprof's heap profile into this file at exit; %p: process id"),
    bytes<&Options::profile_interval>("profile_interval", 1,
                                      "mean number of bytes between two samples of the profile"),
};

/// Variables that the project's programs and tests read; the allocator has no opinion on them.
constexpr const char* kOthersPrefixes[] = {
    "DREY_LIBRARY=",      "DREY_SHARED_DATA=", "DREY_TEST_",         "DREY_SKIP_INSTALL=",
    "DREY_TRAIN_",        "DREY_TRACE",        "DREY_PRETENDER_",    "DREY_POOL_",
    "DREY_DUCKDB_LIB=",   "DREY_ISA=",         "DREY_CUDA_LIBRARY=", "DREY_MPI_LIBRARY=",
    "DREY_NCCL_LIBRARY=", "DREY_SIM_"};

bool starts_with(const char* text, const char* prefix) noexcept {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

bool is_others(const char* line) noexcept {
  for (const char* prefix : kOthersPrefixes) {
    if (starts_with(line, prefix)) return true;
  }
  return false;
}

/// One variable "DREY_NAME=value" of the environment.
void read_variable(const char* line) noexcept {
  constexpr std::size_t kNameMax = 64;
  const std::size_t length = static_cast<std::size_t>(std::strchr(line, '=') - line);
  char name[kNameMax] = {};
  std::memcpy(name, line, length < kNameMax - 1 ? length : kNameMax - 1);
  const char* const value = line + length + 1;
  const OptionRow* const found = length < kNameMax ? find_option(name) : nullptr;
  if (found != nullptr && set_option(*found, value)) return;
  char text[400];
  ReportWriter report(text, sizeof(text));
  report.add("drey: ").add_quoted(name, kNameMax).add("=").add_quoted(value, 80).add(" ignored: ");
  if (found == nullptr) {
    report.add("no such option; drey-run --help lists them");
  } else {
    report.add("expected ");
    add_range(report, *found);
    report.add("; ");
    add_fallback(report, *found);
    report.add(" is used");
  }
  write_line_to_stderr(text);
}

constinit std::atomic<bool> have_read{false};
}  // namespace

std::span<const OptionRow> option_rows() noexcept {
  return kRows;
}

const OptionRow* find_option(const char* name) noexcept {
  for (const OptionRow& candidate : kRows) {
    if (is_named(candidate, name)) return &candidate;
  }
  return nullptr;
}

void read_options() noexcept {
  // Relaxed: who comes second has nothing to wait for; the options in force are atomics themselves.
  if (have_read.load(std::memory_order_relaxed) || !os::environment_is_readable()) return;
  if (have_read.exchange(true, std::memory_order_relaxed)) return;
  const char* line = nullptr;
  for (std::size_t index = 0; (line = os::environment_line(index)) != nullptr; ++index) {
    if (!starts_with(line, "DREY_") || is_others(line)) continue;
    if (std::strchr(line, '=') != nullptr) read_variable(line);
  }
}

bool set_option(const OptionRow& target, const char* text) noexcept {
  if (target.kind == OptionKind::kPath) return target.path->set(text);
  std::int64_t value = 0;
  if (!parse_option(target, text, value)) return false;
  target.store(value);
  return true;
}

void acquire_option_locks() noexcept {
  for (const OptionRow& each : kRows) {
    if (each.path != nullptr) each.path->lock().acquire();
  }
}
void release_option_locks() noexcept {
  for (const OptionRow& each : kRows) {
    if (each.path != nullptr) each.path->lock().release();
  }
}
}  // namespace drey::core
