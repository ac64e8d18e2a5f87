// options.hpp: what can be set from outside: one table, from which the reader of DREY_*, the calls by
// name, `drey-run --help` and the README all speak.
//
// To add an option: a member of Options, with its default, and a row in options.cpp.
// Invariants: a setuid process reads none from its environment; a variable DREY_* that is no option,
// or a value out of range, is one line on standard error, and the default stays.
// Threads: any. Read next: options.cpp, option_text.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/text_setting.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drey::core {
enum class OnError : std::int64_t { kAbort = 0, kWarn = 1 };
enum class HugePages : std::int64_t { kSystem = 0, kNever = 1, kAlways = 2, kLarge = 3 };

/// A value with its default.
template <typename T, T kDefault>
struct Setting : std::atomic<T> {
  using Value = T;
  static constexpr T kFallback = kDefault;

  constexpr Setting() noexcept : std::atomic<T>(kDefault) {}
  using std::atomic<T>::operator=;
};

/// The values in force. Relaxed everywhere: each stands alone, and pairs with the stores of the table.
struct Options {
  Setting<std::int64_t, 1000> purge_delay_ms;
  Setting<OnError, OnError::kAbort> on_error;
  Setting<bool, false> purge_thread;
  Setting<HugePages, HugePages::kSystem> huge_pages;
  Setting<bool, true> numa;
  Setting<bool, false> guard_large;
  Setting<bool, false> show_stats;
  TextSetting stats_json;
  Setting<bool, false> leak_report;
  TextSetting profile;
  Setting<std::int64_t, std::int64_t{512} << 10U> profile_interval;
};
extern constinit Options options;

enum class OptionKind : std::uint8_t { kInteger, kBytes, kBoolean, kChoice, kPath };

/// A row of the table.
struct OptionRow {
  const char* name;  ///< in lower case; the variable is DREY_ and this in upper case
  OptionKind kind;
  std::int64_t fallback;  ///< of a path: 0, and the default is none
  std::int64_t min;
  std::int64_t max;
  const char* unit;  ///< of a number; or the words for 0, 1, ... separated by '|'
  const char* sentence;
  void (*store)(std::int64_t value) noexcept;
  std::int64_t (*load)() noexcept;
  TextSetting* path;  ///< null for all other kinds
};
[[nodiscard]] std::span<const OptionRow> option_rows() noexcept;

/// The row of "purge_delay_ms" or "DREY_PURGE_DELAY_MS". Fails: null.
[[nodiscard]] const OptionRow* find_option(const char* name) noexcept;

/// Reads the environment, if it is readable yet. Idempotent.
void read_options() noexcept;

// For fork.cpp.
void acquire_option_locks() noexcept;
void release_option_locks() noexcept;

/// Sets an option from text. Fails: false (not a value of the row, out of range, a path too long); the
/// option is unchanged.
[[nodiscard]] bool set_option(const OptionRow& row, const char* text) noexcept;
}  // namespace drey::core
