// bar_columns.hpp: which column of a table holds what, found by name, whatever the format.
// Invariant: each known column is found at most once.
// Read next: csv_reader.hpp, parquet_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/bar_rules.hpp"

namespace drey::trainer {
inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

/// Which field holds what. Columns with other names are ignored.
struct BarColumns {
  std::size_t time = kNoColumn;
  std::size_t clock = kNoColumn;  ///< column `time` beside a column `date`, else kNoColumn
  std::size_t symbol = kNoColumn;
  std::array<std::size_t, kPriceColumns.size()> values{};  ///< in the order of kPriceColumns
  std::string time_name;                                   ///< as the file spells it
  std::vector<std::string> names;                          ///< all columns of the file
  std::size_t count_min = 0;                               ///< fields that a row must have
};

/// Finds the columns by `names`, in any case and order. `row` is the header's line number, 0 for a
/// format whose header is none of the lines.
/// Fails: DataError naming the first column that is missing, or that stands there twice.
[[nodiscard]] BarColumns find_columns(std::string_view file, std::size_t row,
                                      std::vector<std::string> names);
}  // namespace drey::trainer
