// parquet_reader.hpp: market bars from a Parquet file, read by DuckDB.
// Columns by name as in a CSV file. Types: the time a timestamp (any unit, with or without zone), a
// date, text in the forms of time_text.hpp, or an integer (epoch); or a date and a clock time.
// Prices and volume: floating point, decimal or integer. Symbol: text.
// Invariant: what DuckDB says of the file is checked here: types, NULLs, values, order.
// Read next: duckdb_library.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "trainer/data/bars.hpp"

namespace drey::trainer {
/// The bars of `path`, in the order of its rows.
/// Fails: DataError naming file, row (from 1), column, expected and found, for: a missing library
/// (duckdb_library.hpp); a file that DuckDB cannot read; a column missing or of another type; a
/// NULL; and the rules of bar_rules.hpp and bar_collector.hpp.
/// Cost: the first call of a process loads a library of 65 MB (about 30 MB resident); memory is
/// twice the bars.
[[nodiscard]] BarSeries read_parquet(const std::string& path, const ReadOptions& options = {});
}  // namespace drey::trainer
