// csv_reader.cpp: see csv_reader.hpp. Reading stops at the first fault.
// SPDX-License-Identifier: MIT
#include "trainer/data/csv_reader.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "trainer/data/bar_collector.hpp"
#include "trainer/data/bar_columns.hpp"
#include "trainer/data/csv_fields.hpp"
#include "trainer/data/data_fault.hpp"
#include "trainer/data/line_reader.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kRowsToEstimate = 1'000;

class CsvParse {
 public:
  CsvParse(const std::string& path, const ReadOptions& options)
      : lines_(path), columns_(first_line()), collector_(path, options, columns_.time_name) {
    if (!options.symbol.empty() && columns_.symbol == kNoColumn)
      throw_data_error({path, lines_.row(), "symbol"}, "this column, as a symbol was asked for",
                       "only " + listed(columns_.names));
  }

  BarSeries run() {
    std::string_view line;
    while (lines_.next(line)) {
      const Fields& fields = splitter_.split(line);
      if (fields.size() == 1 && fields[0].empty()) continue;
      if (++row_count_ == kRowsToEstimate) reserve();
      read_row(fields);
    }
    if (row_count_ == 0) throw_data_error(place({}), "bars after the header", "only a header");
    return collector_.finish(row_count_, lines_.row());
  }

 private:
  using Fields = std::vector<std::string_view>;

  BarColumns first_line() {
    std::string_view line;
    if (!lines_.next(line)) throw_data_error({lines_.path()}, "a header and bars", "an empty file");
    const Fields& fields = splitter_.split(line);
    return find_columns(lines_.path(), lines_.row(), {fields.begin(), fields.end()});
  }

  [[nodiscard]] DataPlace place(std::string_view column) const {
    return {lines_.path(), lines_.row(), column};
  }

  void reserve() {
    constexpr std::size_t kSpare = 50;  // a part of 1/50 more than estimated
    const std::size_t estimated = lines_.estimated_row_count();
    if (collector_.is_unfiltered()) collector_.reserve(estimated + estimated / kSpare);
  }

  void read_row(const Fields& fields) {
    if (fields.size() < columns_.count_min)
      throw_data_error(place({}), "at least " + std::to_string(columns_.count_min) + " fields",
                       std::to_string(fields.size()));
    if (columns_.symbol != kNoColumn && !collector_.take_instrument(fields[columns_.symbol]))
      return;
    Bar bar{};
    bar.timestamp_ns = read_time(fields);
    const std::array<double*, kPriceColumns.size()> targets = {&bar.open, &bar.high, &bar.low,
                                                               &bar.close, &bar.volume};
    for (std::size_t i = 0; i < targets.size(); ++i)
      *targets[i] = read_number(kPriceColumns[i], fields[columns_.values[i]]);
    const auto texts = [&] {
      ValueTexts result;
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = fields[columns_.values[i]];
      return result;
    };
    const auto time_text = [&] { return std::string(fields[columns_.time]); };
    if (!collector_.add(bar, lines_.row(), texts, time_text)) throw_interleaved();
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

  [[noreturn]] void throw_interleaved() {
    const std::size_t row = lines_.row();
    std::string_view line;
    while (lines_.next(line)) {
      const Fields& fields = splitter_.split(line);
      if (columns_.symbol < fields.size()) collector_.take_instrument(fields[columns_.symbol]);
    }
    collector_.throw_interleaved(row);
  }

  LineReader lines_;
  FieldSplitter splitter_;
  BarColumns columns_;
  BarCollector collector_;
  std::string joined_;
  std::size_t row_count_ = 0;
};
}  // namespace

BarSeries read_csv(const std::string& path, const ReadOptions& options) {
  return CsvParse(path, options).run();
}
}  // namespace drey::trainer
