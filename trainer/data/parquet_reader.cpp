// parquet_reader.cpp: see parquet_reader.hpp. The schema is asked for first; then the columns of a
// bar, prices cast to double by DuckDB, are fetched in its own chunks.
// SPDX-License-Identifier: MIT
#include "trainer/data/parquet_reader.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/data/bar_collector.hpp"
#include "trainer/data/bar_columns.hpp"
#include "trainer/data/data_fault.hpp"
#include "trainer/data/duckdb_session.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
// The order of the columns in the query.
constexpr std::size_t kTimeColumn = 0;
constexpr std::size_t kFirstValueColumn = 1;
constexpr std::size_t kSymbolColumn = kFirstValueColumn + kPriceColumns.size();

enum class TimeForm : std::uint8_t { kScaled, kDays, kNumber, kText };

struct TimeColumn {
  TimeForm form;
  std::int64_t unit_ns;  // of kScaled
  std::string query;     // the expression that gives it
};

bool is_integer(DuckdbType type) {
  return type >= DuckdbType::kTinyInt && type <= DuckdbType::kUBigInt;
}

bool is_number(DuckdbType type) {
  return is_integer(type) || type == DuckdbType::kFloat || type == DuckdbType::kDouble ||
         type == DuckdbType::kHugeInt || type == DuckdbType::kDecimal;
}

bool is_text(DuckdbType type) {
  return type == DuckdbType::kVarchar || type == DuckdbType::kEnum;
}

std::string type_name(DuckdbType type) {
  if (is_integer(type) || type == DuckdbType::kHugeInt) return "integers";
  if (is_number(type)) return "numbers";
  if (is_text(type)) return "text";
  switch (type) {
    case DuckdbType::kDate:
      return "dates";
    case DuckdbType::kTime:
      return "times of a day";
    case DuckdbType::kTimestamp:
    case DuckdbType::kTimestampSeconds:
    case DuckdbType::kTimestampMilliseconds:
    case DuckdbType::kTimestampNanoseconds:
    case DuckdbType::kTimestampZone:
      return "timestamps";
    default:
      return "values of DuckDB's type " + std::to_string(static_cast<int>(type));
  }
}

std::string quoted_name(const std::string& name) {
  std::string result(1, '"');
  for (const char c : name) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

struct Schema {
  std::string file;
  BarColumns columns;
  std::vector<DuckdbType> types;

  [[nodiscard]] std::string name(std::size_t column) const {
    return quoted_name(columns.names[column]);
  }
  [[noreturn]] void refuse(std::size_t column, std::string_view expected) const {
    throw_data_error({file, 0, columns.names[column]}, expected, type_name(types[column]));
  }
};

Schema read_schema(const DuckdbSession& session) {
  DuckdbRows rows(session, "SELECT * FROM " + session.table() + " LIMIT 0");
  return {session.path(), find_columns(session.path(), 0, rows.column_names()),
          rows.column_types()};
}

// A date and a clock time that go together; nothing when the time column stands alone.
std::optional<TimeColumn> date_and_clock(const Schema& schema) {
  if (schema.columns.clock == kNoColumn) return std::nullopt;
  const std::string date = schema.name(schema.columns.time);
  const std::string clock = schema.name(schema.columns.clock);
  const DuckdbType date_type = schema.types[schema.columns.time];
  const DuckdbType clock_type = schema.types[schema.columns.clock];
  if (date_type == DuckdbType::kDate && clock_type == DuckdbType::kTime)
    return TimeColumn{TimeForm::kScaled, 1'000, "CAST(" + date + " + " + clock + " AS TIMESTAMP)"};
  if (is_text(date_type) && is_text(clock_type))
    return TimeColumn{TimeForm::kText, 0,
                      "CAST(" + date + " AS VARCHAR) || ' ' || CAST(" + clock + " AS VARCHAR)"};
  return std::nullopt;
}

TimeColumn time_column(const Schema& schema) {
  if (std::optional<TimeColumn> both = date_and_clock(schema)) return *std::move(both);
  const std::string name = schema.name(schema.columns.time);
  const DuckdbType type = schema.types[schema.columns.time];
  if (is_integer(type)) return {TimeForm::kNumber, 0, "CAST(" + name + " AS BIGINT)"};
  if (is_text(type)) return {TimeForm::kText, 0, "CAST(" + name + " AS VARCHAR)"};
  switch (type) {
    case DuckdbType::kTimestamp:
    case DuckdbType::kTimestampZone:
      return {TimeForm::kScaled, 1'000, name};
    case DuckdbType::kTimestampSeconds:
      return {TimeForm::kScaled, kSecondNs, name};
    case DuckdbType::kTimestampMilliseconds:
      return {TimeForm::kScaled, 1'000'000, name};
    case DuckdbType::kTimestampNanoseconds:
      return {TimeForm::kScaled, 1, name};
    case DuckdbType::kDate:
      return {TimeForm::kDays, kDayNs, name};
    default:
      schema.refuse(schema.columns.time, "timestamps, dates, text or integers");
  }
}

std::string query_of(const Schema& schema, const TimeColumn& time, const std::string& table) {
  std::string query = "SELECT " + time.query;
  for (const std::size_t column : schema.columns.values) {
    if (!is_number(schema.types[column])) schema.refuse(column, "numbers");
    query += ", CAST(" + schema.name(column) + " AS DOUBLE)";
  }
  if (schema.columns.symbol != kNoColumn) {
    if (!is_text(schema.types[schema.columns.symbol])) schema.refuse(schema.columns.symbol, "text");
    query += ", CAST(" + schema.name(schema.columns.symbol) + " AS VARCHAR)";
  }
  return query + " FROM " + table;
}

// As the file's metadata tells, without reading a row.
std::size_t read_row_count(const DuckdbSession& session) {
  DuckdbRows rows(session, "SELECT count(*) FROM " + session.table());
  return rows.next() ? static_cast<std::size_t>(rows.value<std::int64_t>(0, 0)) : 0;
}

class ParquetParse {
 public:
  ParquetParse(const std::string& path, const ReadOptions& options)
      : session_(path),
        schema_(read_schema(session_)),
        time_(time_column(schema_)),
        rows_(session_, query_of(schema_, time_, session_.table())),
        collector_(path, options, schema_.columns.time_name) {
    if (!options.symbol.empty() && schema_.columns.symbol == kNoColumn)
      throw_data_error({path, 0, "symbol"}, "this column, as a symbol was asked for",
                       "only " + listed(schema_.columns.names));
  }

  BarSeries run() {
    const std::size_t row_count = read_row_count(session_);
    if (collector_.is_unfiltered()) collector_.reserve(row_count);
    while (rows_.next()) {
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        ++row_count_;
        read_row(row);
      }
    }
    if (row_count_ != row_count)
      throw_data_error({session_.path()}, std::to_string(row_count) + " rows, as its metadata says",
                       std::to_string(row_count_));
    if (row_count_ == 0) throw_data_error({session_.path()}, "bars", "no rows");
    return collector_.finish(row_count_, row_count_);
  }

 private:
  [[nodiscard]] bool has_symbols() const { return schema_.columns.symbol != kNoColumn; }

  void require_valid(std::size_t column, std::size_t row, std::string_view name,
                     std::string_view expected) const {
    if (rows_.is_valid(column, row)) return;
    throw_data_error({session_.path(), row_count_, name}, expected, "NULL");
  }

  bool take_symbol(std::size_t row) {
    require_valid(kSymbolColumn, row, "symbol", "a text");
    return collector_.take_instrument(rows_.text(kSymbolColumn, row));
  }

  void read_row(std::size_t row) {
    if (has_symbols() && !take_symbol(row)) return;
    Bar bar{};
    bar.timestamp_ns = read_time(row);
    const std::array<double*, kPriceColumns.size()> targets = {&bar.open, &bar.high, &bar.low,
                                                               &bar.close, &bar.volume};
    for (std::size_t i = 0; i < targets.size(); ++i) {
      require_valid(kFirstValueColumn + i, row, kPriceColumns[i], "a number");
      *targets[i] = rows_.value<double>(kFirstValueColumn + i, row);
    }
    const auto texts = [&] { return value_texts(bar); };
    const auto time_text = [&] { return format_time(bar.timestamp_ns); };
    if (!collector_.add(bar, row_count_, texts, time_text)) throw_interleaved(row + 1);
  }

  [[nodiscard]] std::int64_t read_time(std::size_t row) const {
    require_valid(kTimeColumn, row, collector_.time_column(), "a time");
    const std::optional<std::int64_t> time = parsed_time(row);
    if (!time)
      throw_data_error({session_.path(), row_count_, collector_.time_column()},
                       "a time of 1700 to 2260", time_found(row));
    return *time;
  }

  [[nodiscard]] std::optional<std::int64_t> parsed_time(std::size_t row) const {
    switch (time_.form) {
      case TimeForm::kScaled:
        return scaled_time(rows_.value<std::int64_t>(kTimeColumn, row), time_.unit_ns);
      case TimeForm::kDays:
        return scaled_time(rows_.value<std::int32_t>(kTimeColumn, row), time_.unit_ns);
      case TimeForm::kNumber:
        return time_of_number(rows_.value<std::int64_t>(kTimeColumn, row));
      case TimeForm::kText:
        return parse_time(rows_.text(kTimeColumn, row));
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string time_found(std::size_t row) const {
    if (time_.form == TimeForm::kText) return quoted(rows_.text(kTimeColumn, row));
    if (time_.form == TimeForm::kDays)
      return std::to_string(rows_.value<std::int32_t>(kTimeColumn, row)) + " days from 1970";
    return quoted(std::to_string(rows_.value<std::int64_t>(kTimeColumn, row)));
  }

  [[noreturn]] void throw_interleaved(std::size_t next_row) {
    const std::size_t row_number = row_count_;
    do {
      for (std::size_t row = next_row; row < rows_.size(); ++row) {
        if (rows_.is_valid(kSymbolColumn, row))
          collector_.take_instrument(rows_.text(kSymbolColumn, row));
      }
      next_row = 0;
    } while (rows_.next());
    collector_.throw_interleaved(row_number);
  }

  DuckdbSession session_;
  Schema schema_;
  TimeColumn time_;
  DuckdbRows rows_;
  BarCollector collector_;
  std::size_t row_count_ = 0;
};
}  // namespace

BarSeries read_parquet(const std::string& path, const ReadOptions& options) {
  return ParquetParse(path, options).run();
}
}  // namespace drey::trainer
