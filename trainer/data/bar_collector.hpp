// bar_collector.hpp: takes the bars of one file, whatever its format, and keeps the promises of
// BarSeries: every reader hands its rows to one of these.
// Invariant: a bar is appended only after every check on it has passed.
// Read next: bar_rules.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/bar_rules.hpp"
#include "trainer/data/bars.hpp"

namespace drey::trainer {
/// A reader calls, for each row: take_instrument() where the format has one, then, if that is
/// wanted, add(). Threads: one at a time. Cost: one comparison of names a row,
/// and a look-up where the name changes.
class BarCollector {
 public:
  /// `time_column` and `symbol_column` are the names that messages give them.
  BarCollector(std::string path, const ReadOptions& options, std::string time_column,
               std::string symbol_column = "symbol");

  /// Notes whose the row is. Returns: whether it is wanted.
  bool take_instrument(std::string_view name);

  /// Appends `bar`. `texts()` gives the ValueTexts of the row, `time_text()` its time as the file
  /// spells it: both are called for a message only.
  /// Returns: false when the bar is another instrument's at a time already passed: the reader then
  /// notes the instruments of the rows that are left, and calls throw_interleaved().
  /// Fails: DataError for a value against the rules, or a time not after the one before.
  template <class Texts, class TimeText>
  [[nodiscard]] bool add(const Bar& bar, std::size_t row, Texts&& texts, TimeText&& time_text) {
    if (!is_sound(bar)) throw_unsound(bar, {path_, row}, texts());
    if (!series_.bars.empty() && bar.timestamp_ns <= series_.bars.back().timestamp_ns) {
      if (instrument_changed_ && is_unfiltered()) return false;
      throw_not_later(bar.timestamp_ns, row, time_text());
    }
    series_.bars.push_back(bar);
    instrument_changed_ = false;
    return true;
  }

  /// Names every instrument noted, so that the user need not open the file to choose one.
  [[noreturn]] void throw_interleaved(std::size_t row) const;

  /// The series, once all `row_count` rows of the file were seen; `row` is the last one's number.
  /// Fails: DataError when nothing was taken, or instruments changed too often for a contract roll.
  [[nodiscard]] BarSeries finish(std::size_t row_count, std::size_t row);

  /// Makes room for about so many bars: growing by doubling writes every bar twice. Ten million at
  /// most: a damaged count must not take all memory.
  void reserve(std::size_t bar_count) {
    series_.bars.reserve(std::min<std::size_t>(bar_count, 10'000'000));
  }
  [[nodiscard]] bool is_unfiltered() const { return symbol_.empty(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& time_column() const { return time_column_; }
  /// In order of appearance.
  [[nodiscard]] const std::vector<std::string>& instruments() const { return instruments_; }

 private:
  [[noreturn]] void throw_not_later(std::int64_t time_ns, std::size_t row,
                                    std::string_view text) const;

  std::string path_;
  std::string symbol_;
  std::string time_column_;
  std::string symbol_column_;
  BarSeries series_;
  std::vector<std::string> instruments_;
  std::map<std::string, std::size_t, std::less<>> indices_;  // into instruments_
  std::size_t instrument_index_ = 0;                         // of the last row's
  std::size_t change_count_ = 0;
  bool instrument_changed_ = false;  // since the last bar that was kept
};
}  // namespace drey::trainer
