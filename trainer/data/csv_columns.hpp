// csv_columns.hpp: the header of a bar file, and the splitting of a line into fields.
// Invariants: each known column is found at most once; fields are views into the line, or into the
// splitter's own text when the line has quotes.
// Read next: csv_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace drey::trainer {
inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);
inline constexpr std::array<std::string_view, 5> kPriceColumns = {"open", "high", "low", "close",
                                                                  "volume"};

/// Which field holds what. Columns with other names are ignored.
struct CsvColumns {
  std::size_t time = kNoColumn;
  std::size_t clock = kNoColumn;  ///< column `time` beside a column `date`, else kNoColumn
  std::size_t symbol = kNoColumn;
  std::array<std::size_t, kPriceColumns.size()> values{};  ///< in the order of kPriceColumns
  std::string time_name;                                   ///< as the file spells it
  std::vector<std::string> names;                          ///< all columns of the file
  std::size_t count_min = 0;                               ///< fields that a row must have
};

/// Splits lines at commas; RFC 4180 quotes, spaces around fields dropped.
class FieldSplitter {
 public:
  /// The fields of `line`; they hold until the next call. Cost: no allocation once warm.
  [[nodiscard]] const std::vector<std::string_view>& split(std::string_view line);

 private:
  void split_quoted(std::string_view line);

  std::vector<std::string_view> fields_;
  std::string unquoted_;
};

/// Reads the header `line` of `file`, whose line number is `row`.
/// Fails: DataError naming the first column that is missing, or that stands there twice.
[[nodiscard]] CsvColumns read_header(std::string_view file, std::size_t row, std::string_view line);
}  // namespace drey::trainer
