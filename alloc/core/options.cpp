// options.cpp: the table and its reader. Read next: options.hpp.
// SPDX-License-Identifier: MIT
#include "core/options.hpp"

#include "os/os.hpp"

#include <drey/base/assert.hpp>
#include <drey/base/text.hpp>

namespace drey::core {
namespace {
constexpr std::int64_t kPurgeDelayMs = 1000;

constexpr OptionRow kRows[] = {
    {"DREY_PURGE_DELAY_MS", kPurgeDelayMs, -1, 3'600'000, "ms",
     "idle memory goes back to the system after this long; -1: never, 0: at the next visit",
     [](std::int64_t value) noexcept {
       options.purge_delay_ms.store(value, std::memory_order_relaxed);
     }},
    {"DREY_ON_ERROR", 0, 0, 1, "abort|warn",
     "what a detected misuse does after its one line: end the process, or go on",
     [](std::int64_t value) noexcept {
       options.on_error.store(static_cast<OnError>(value), std::memory_order_relaxed);
     }},
    {"DREY_PURGE_THREAD", 0, 0, 1, "0|1",
     "run a thread that gives idle memory back also while the whole process sleeps",
     [](std::int64_t value) noexcept {
       options.purge_thread.store(value != 0, std::memory_order_relaxed);
     }},
    {"DREY_SHOW_STATS", 0, 0, 1, "0|1", "print statistics to standard error at exit",
     [](std::int64_t value) noexcept {
       options.show_stats.store(value != 0, std::memory_order_relaxed);
     }},
    {"DREY_GUARD_LARGE", 0, 0, 1, "0|1",
     "blocks above 1 MiB end at an inaccessible page and lose access when they are freed",
     [](std::int64_t value) noexcept {
       options.guard_large.store(value != 0, std::memory_order_relaxed);
     }},
};

constinit std::atomic<bool> have_read{false};

/// True if a row's `unit` is words to choose from, not the unit of a number.
bool are_words(const char* unit) noexcept {
  while (*unit != '\0' && *unit != '|') ++unit;
  return *unit == '|';
}

/// Index of `text` among the words of `words` separated by '|'; -1 if it is none of them.
std::int64_t word_index(const char* words, const char* text) noexcept {
  std::int64_t index = 0;
  for (const char* word = words;; ++index) {
    const char* match = text;
    while (*word != '\0' && *word != '|' && *word == *match) {
      ++word;
      ++match;
    }
    if ((*word == '\0' || *word == '|') && *match == '\0') return index;
    while (*word != '\0' && *word != '|') ++word;
    if (*word++ == '\0') return -1;
  }
}

bool parse_number(const char* text, std::int64_t& value) noexcept {
  const bool negative = *text == '-';
  if (negative) ++text;
  if (*text == '\0') return false;
  std::int64_t magnitude = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9' || magnitude > INT64_MAX / 10 - 1) return false;
    magnitude = magnitude * 10 + (*text - '0');
  }
  value = negative ? -magnitude : magnitude;
  return true;
}
}  // namespace

constinit Options options{kPurgeDelayMs, OnError::kAbort, false, false, false};

std::span<const OptionRow> option_rows() noexcept {
  return kRows;
}

bool parse_option(const OptionRow& row, const char* text, std::int64_t& value) noexcept {
  value = are_words(row.unit) ? word_index(row.unit, text) : -1;
  if (value < 0 && !parse_number(text, value)) return false;
  return value >= row.min && value <= row.max;
}

void read_options() noexcept {
  // Relaxed: reading twice does no harm.
  if (have_read.load(std::memory_order_relaxed) || !os::environment_is_readable()) return;
  have_read.store(true, std::memory_order_relaxed);
  for (const OptionRow& row : kRows) {
    const char* const text = os::environment(row.name);
    if (text == nullptr) continue;
    std::int64_t value = 0;
    if (parse_option(row, text, value)) {
      row.set(value);
      continue;
    }
    Text<256> line;
    line.add("drey: ").add(row.name).add("=").add(text).add(" ignored: expected ").add(row.unit);
    write_line_to_stderr(line.c_str());
  }
}
}  // namespace drey::core
