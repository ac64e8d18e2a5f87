// bar_columns.cpp: see bar_columns.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/bar_columns.hpp"

#include <algorithm>
#include <utility>

#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
namespace {
// In order of preference: a file with both `ts_event` and `date` is timed by the former.
constexpr std::array<std::string_view, 6> kTimeColumns = {"timestamp", "timestamp_utc", "ts_event",
                                                          "datetime",  "date",          "time"};

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

  [[nodiscard]] std::string words() const { return row == 0 ? "" : " in the header"; }

  // kNoColumn when absent.
  [[nodiscard]] std::size_t find(std::string_view name) const {
    const auto first = std::find(lower_names.begin(), lower_names.end(), name);
    if (first == lower_names.end()) return kNoColumn;
    if (std::find(first + 1, lower_names.end(), name) != lower_names.end())
      throw_data_error({file, row, name}, "one column of this name", "two");
    return static_cast<std::size_t>(first - lower_names.begin());
  }
};

void find_time(const Header& header, BarColumns& columns) {
  for (const std::string_view name : kTimeColumns) {
    columns.time = header.find(name);
    if (columns.time == kNoColumn) continue;
    if (name == "date") columns.clock = header.find("time");
    columns.time_name = columns.names[columns.time];
    return;
  }
  throw_data_error({header.file, header.row, kTimeColumns[0]},
                   "timestamp, timestamp_utc, ts_event, datetime, date or time" + header.words(),
                   "only " + listed(columns.names));
}
}  // namespace

BarColumns find_columns(std::string_view file, std::size_t row, std::vector<std::string> names) {
  BarColumns columns;
  columns.names = std::move(names);
  Header header{file, row, {}};
  for (const std::string& name : columns.names) header.lower_names.push_back(in_lower_case(name));
  find_time(header, columns);
  columns.symbol = header.find("symbol");
  columns.count_min = columns.time + 1;
  for (std::size_t i = 0; i < kPriceColumns.size(); ++i) {
    const std::size_t index = header.find(kPriceColumns[i]);
    if (index == kNoColumn)
      throw_data_error({file, row, kPriceColumns[i]}, "this column" + header.words(),
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
