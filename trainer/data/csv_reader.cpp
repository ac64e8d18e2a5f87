// csv_reader.cpp: see csv_reader.hpp. Reading stops at the first fault.
// Invariant: a bar is appended only after every check on it has passed.
// SPDX-License-Identifier: MIT
#include "trainer/data/csv_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "trainer/data/csv_columns.hpp"
#include "trainer/data/data_fault.hpp"
#include "trainer/data/line_reader.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kSymbolsNamedMax = 12;

class CsvParse {
 public:
  CsvParse(const std::string& path, const CsvOptions& options)
      : lines_(path), options_(options), columns_(first_line()) {
    series_.source = path;
    if (!options_.symbol.empty() && columns_.symbol == kNoColumn)
      throw_data_error({path, lines_.row(), "symbol"}, "this column, as a symbol was asked for",
                       "only " + listed(columns_.names));
  }

  BarSeries run() {
    std::string_view line;
    while (lines_.next(line)) {
      const auto& fields = splitter_.split(line);
      if (fields.size() == 1 && fields[0].empty()) continue;
      ++row_count_;
      read_row(fields);
    }
    if (series_.bars.empty()) throw_no_bars();
    require_few_symbol_changes();
    return std::move(series_);
  }

 private:
  using Fields = std::vector<std::string_view>;

  CsvColumns first_line() {
    std::string_view line;
    if (!lines_.next(line)) throw_data_error({lines_.path()}, "a header and bars", "an empty file");
    return read_header(lines_.path(), lines_.row(), line);
  }

  [[nodiscard]] DataPlace place(std::string_view column) const {
    return {lines_.path(), lines_.row(), column};
  }

  void read_row(const Fields& fields) {
    if (fields.size() < columns_.count_min)
      throw_data_error(place({}), "at least " + std::to_string(columns_.count_min) + " fields",
                       std::to_string(fields.size()));
    if (columns_.symbol != kNoColumn && !take_symbol(fields[columns_.symbol])) return;
    Bar bar{};
    bar.timestamp_ns = read_time(fields);
    const std::array<double*, kPriceColumns.size()> targets = {&bar.open, &bar.high, &bar.low,
                                                               &bar.close, &bar.volume};
    for (std::size_t i = 0; i < targets.size(); ++i)
      *targets[i] = read_number(kPriceColumns[i], fields[columns_.values[i]]);
    require_sound(bar, fields);
    require_later(bar.timestamp_ns, fields);
    series_.bars.push_back(bar);
    symbol_changed_ = false;
  }

  // False when the row is of a symbol that was not asked for.
  bool take_symbol(std::string_view symbol) {
    if (symbols_.empty() || symbol != symbols_[symbol_index_]) {
      const auto known = std::find(symbols_.begin(), symbols_.end(), symbol);
      symbol_changed_ = !symbols_.empty();
      symbol_changes_ += symbol_changed_ ? 1 : 0;
      symbol_index_ = static_cast<std::size_t>(known - symbols_.begin());
      if (known == symbols_.end()) symbols_.emplace_back(symbol);
    }
    return options_.symbol.empty() || symbol == options_.symbol;
  }

  [[nodiscard]] std::int64_t read_time(const Fields& fields) {
    const std::string_view text = fields[columns_.time];
    std::optional<std::int64_t> time;
    if (columns_.clock == kNoColumn) {
      time = parse_time(text);
    } else {
      joined_.assign(text).append(1, ' ').append(fields[columns_.clock]);
      time = parse_time(joined_);
    }
    if (!time)
      throw_data_error(place(columns_.time_name), "a time (ISO 8601, DD.MM.YYYY or epoch)",
                       quoted(columns_.clock == kNoColumn ? text : joined_));
    return *time;
  }

  [[nodiscard]] double read_number(std::string_view column, std::string_view text) const {
    double value = 0.0;
    const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* last = text.data() + text.size();
    const auto [rest, error] = std::from_chars(first, last, value);
    if (error == std::errc::invalid_argument || rest != last)
      throw_data_error(place(column), "a number", quoted(text));
    if (error != std::errc{} || !std::isfinite(value))
      throw_data_error(place(column), "a finite number", quoted(text));
    return value;
  }

  void require_sound(const Bar& bar, const Fields& fields) const {
    const std::array<double, 4> prices = {bar.open, bar.high, bar.low, bar.close};
    for (std::size_t i = 0; i < prices.size(); ++i) {
      if (prices[i] <= 0.0) fail(i, fields, "a price above 0");
      if (prices[i] < kPriceMin || prices[i] > kPriceMax)
        fail(i, fields, "a price from 1e-12 to 1e15");
    }
    if (bar.volume < 0.0) fail(4, fields, "a volume of 0 or more");
    if (bar.volume > kVolumeMax) fail(4, fields, "a volume up to 1e18");
    if (bar.high < bar.low)
      fail(1, fields, "high >= low = " + std::string(fields[columns_.values[2]]));
    for (const std::size_t i : {std::size_t{0}, std::size_t{3}}) {
      if (prices[i] >= bar.low && prices[i] <= bar.high) continue;
      fail(i, fields,
           "a price from low = " + std::string(fields[columns_.values[2]]) +
               " to high = " + std::string(fields[columns_.values[1]]));
    }
  }

  [[noreturn]] void fail(std::size_t value_index, const Fields& fields,
                         std::string_view expected) const {
    throw_data_error(place(kPriceColumns[value_index]), expected,
                     quoted(fields[columns_.values[value_index]]));
  }

  void require_later(std::int64_t time_ns, const Fields& fields) {
    if (series_.bars.empty() || time_ns > series_.bars.back().timestamp_ns) return;
    if (symbol_changed_ && options_.symbol.empty()) throw_interleaved();
    const std::int64_t last_ns = series_.bars.back().timestamp_ns;
    const std::string what = time_ns == last_ns ? "the same time again: " : "an earlier time: ";
    throw_data_error(place(columns_.time_name), "a time after " + format_time(last_ns),
                     what + quoted(fields[columns_.time]));
  }

  // Names every symbol of the file, so the user need not open it to choose one.
  [[noreturn]] void throw_interleaved() {
    const std::size_t row = lines_.row();
    std::string_view line;
    while (lines_.next(line)) {
      const Fields& fields = splitter_.split(line);
      if (columns_.symbol < fields.size()) take_symbol(fields[columns_.symbol]);
    }
    throw_data_error(
        {lines_.path(), row, "symbol"}, "one instrument at a time, or a symbol to select",
        std::to_string(symbols_.size()) + " interleaved: " + listed(symbols_, kSymbolsNamedMax));
  }

  // A contract roll changes the symbol now and then; instruments that take turns change it often.
  void require_few_symbol_changes() {
    if (!options_.symbol.empty() || symbol_changes_ < 2) return;
    if (symbol_changes_ > row_count_ / 10) throw_interleaved();
  }

  [[noreturn]] void throw_no_bars() {
    if (row_count_ == 0)
      throw_data_error({lines_.path(), lines_.row()}, "bars after the header", "only a header");
    throw_data_error({lines_.path(), 0, "symbol"}, "rows of " + quoted(options_.symbol),
                     "only " + listed(symbols_, kSymbolsNamedMax));
  }

  LineReader lines_;
  const CsvOptions& options_;
  CsvColumns columns_;
  FieldSplitter splitter_;
  BarSeries series_;
  std::string joined_;
  std::vector<std::string> symbols_;  // in order of appearance
  std::size_t symbol_index_ = 0;      // of the last row's symbol
  std::size_t symbol_changes_ = 0;
  std::size_t row_count_ = 0;
  bool symbol_changed_ = false;  // since the last bar that was kept
};
}  // namespace

BarSeries read_csv(const std::string& path, const CsvOptions& options) {
  return CsvParse(path, options).run();
}
}  // namespace drey::trainer
