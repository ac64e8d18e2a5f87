// csv_columns.cpp: see csv_columns.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/csv_columns.hpp"

#include <algorithm>

#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
namespace {
// In order of preference: a file with both `ts_event` and `date` is timed by the former.
constexpr std::array<std::string_view, 6> kTimeColumns = {"timestamp", "timestamp_utc", "ts_event",
                                                          "datetime",  "date",          "time"};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string in_lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

struct Header {
  std::string_view file;
  std::size_t row;
  std::vector<std::string> lower_names;

  // kNoColumn when absent.
  [[nodiscard]] std::size_t find(std::string_view name) const {
    const auto first = std::find(lower_names.begin(), lower_names.end(), name);
    if (first == lower_names.end()) return kNoColumn;
    if (std::find(first + 1, lower_names.end(), name) != lower_names.end())
      throw_data_error({file, row, name}, "one column of this name", "two");
    return static_cast<std::size_t>(first - lower_names.begin());
  }
};

void find_time(const Header& header, CsvColumns& columns) {
  for (const std::string_view name : kTimeColumns) {
    columns.time = header.find(name);
    if (columns.time == kNoColumn) continue;
    if (name == "date") columns.clock = header.find("time");
    columns.time_name = columns.names[columns.time];
    return;
  }
  throw_data_error({header.file, header.row, kTimeColumns[0]},
                   "timestamp, timestamp_utc, ts_event, datetime, date or time in the header",
                   "only " + listed(columns.names));
}
}  // namespace

const std::vector<std::string_view>& FieldSplitter::split(std::string_view line) {
  fields_.clear();
  if (line.find('"') != std::string_view::npos) {
    split_quoted(line);
    return fields_;
  }
  while (true) {
    const std::size_t comma = line.find(',');
    fields_.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields_;
    line.remove_prefix(comma + 1);
  }
}

void FieldSplitter::split_quoted(std::string_view line) {
  unquoted_.clear();
  unquoted_.reserve(line.size());  // the views below must not move
  std::size_t start = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      const bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (doubled) {
        unquoted_ += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields_.push_back(trimmed(std::string_view(unquoted_).substr(start)));
      start = unquoted_.size();
    } else {
      unquoted_ += c;
    }
  }
  fields_.push_back(trimmed(std::string_view(unquoted_).substr(start)));
}

CsvColumns read_header(std::string_view file, std::size_t row, std::string_view line) {
  CsvColumns columns;
  Header header{file, row, {}};
  FieldSplitter splitter;
  for (const std::string_view field : splitter.split(line)) {
    columns.names.emplace_back(field);
    header.lower_names.push_back(in_lower_case(columns.names.back()));
  }
  find_time(header, columns);
  columns.symbol = header.find("symbol");
  columns.count_min = columns.time + 1;
  for (std::size_t i = 0; i < kPriceColumns.size(); ++i) {
    const std::size_t index = header.find(kPriceColumns[i]);
    if (index == kNoColumn)
      throw_data_error({file, row, kPriceColumns[i]}, "this column in the header",
                       "only " + listed(columns.names));
    columns.values[i] = index;
    columns.count_min = std::max(columns.count_min, index + 1);
  }
  for (const std::size_t index : {columns.clock, columns.symbol}) {
    if (index != kNoColumn) columns.count_min = std::max(columns.count_min, index + 1);
  }
  return columns;
}
}  // namespace drey::trainer
