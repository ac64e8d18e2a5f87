// options.hpp: what can be set from outside: one table, read once from DREY_* before it matters. A
// setuid process reads none. Unknown names are not looked for; a value out of range is reported in
// one line and the default stays.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drey::core {
enum class OnError : std::int64_t { kAbort = 0, kWarn = 1 };

/// The values in force. Relaxed everywhere: each stands alone, and is set before threads start.
struct Options {
  std::atomic<std::int64_t> purge_delay_ms;
  std::atomic<OnError> on_error;
  std::atomic<bool> show_stats;
  std::atomic<bool> guard_large;
  std::atomic<bool> purge_thread;
};
extern constinit Options options;

/// A row of the table.
struct OptionRow {
  const char* name;  ///< of the environment variable
  std::int64_t fallback;
  std::int64_t min;
  std::int64_t max;
  const char* unit;  ///< of the number, or the words for 0, 1, ... separated by '|'
  const char* sentence;
  void (*set)(std::int64_t value) noexcept;
};
[[nodiscard]] std::span<const OptionRow> option_rows() noexcept;

/// Reads the environment, if it is readable yet. Idempotent. Threads: any.
void read_options() noexcept;

/// Value that `text` means in `row`. Fails: false (not a number or word of the row, out of range).
[[nodiscard]] bool parse_option(const OptionRow& row, const char* text,
                                std::int64_t& value) noexcept;
}  // namespace drey::core
