// parquet_files.hpp: Parquet files for the tests, made by DuckDB itself when the test runs.
// Read next: duckdb_library.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/duckdb_library.hpp"
#include "trainer/data/error.hpp"

namespace drey::trainer {
/// Empty where DuckDB's library is there; else why not, for GTEST_SKIP.
inline std::string why_no_duckdb() {
  try {
    static_cast<void>(duckdb_api("a Parquet file"));
    return {};
  } catch (const DataError& error) {
    return error.what();
  }
}

/// Runs one statement in a DuckDB that lives as long as the test.
inline void run_duckdb(const std::string& statement) {
  static const DuckdbApi& api = duckdb_api("a Parquet file");
  static void* database = nullptr;
  static void* connection = nullptr;
  if (connection == nullptr && (api.open_ext(nullptr, &database, nullptr, nullptr) != 0 ||
                                api.connect(database, &connection) != 0))
    throw std::runtime_error("DuckDB does not open");
  DuckdbResult result{};
  std::string fault;
  if (api.query(connection, statement.c_str(), &result) != 0) fault = api.result_error(&result);
  api.destroy_result(&result);
  if (!fault.empty()) throw std::runtime_error(statement + ": " + fault);
}

/// A Parquet file of the rows that `query` gives, gone with its owner.
class ParquetFile {
 public:
  explicit ParquetFile(const std::string& query, std::string_view name = "bars.parquet")
      : file_("", name) {
    run_duckdb("COPY (" + query + ") TO '" + file_.path() + "' (FORMAT parquet)");
  }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

 private:
  TemporaryFile file_;
};

/// Three bars, a minute apart, as SQL with columns t (TIMESTAMP), o, h, l, c, v (DOUBLE), s (text).
inline constexpr const char* kThreeBars =
    "(VALUES (TIMESTAMP '2024-01-02 14:30:00', 1.5, 2.0, 1.0, 1.75, 10.0, 'ESH4'), "
    "(TIMESTAMP '2024-01-02 14:31:00', 1.75, 2.5, 1.5, 2.25, 0.0, 'ESH4'), "
    "(TIMESTAMP '2024-01-02 14:32:00', 2.25, 2.25, 2.0, 2.0, 30.0, 'ESH4')) AS b(t, o, h, l, c, "
    "v, s)";

/// SELECT of kThreeBars with `time` (an expression of t) as its first column.
inline std::string three_bars(const std::string& time, const std::string& more = "",
                              const std::string& condition = "") {
  return "SELECT " + time + ", o::DOUBLE AS open, h::DOUBLE AS high, l::DOUBLE AS low, c::DOUBLE " +
         "AS close, v::DOUBLE AS volume" + more + " FROM " + kThreeBars + condition;
}
}  // namespace drey::trainer
