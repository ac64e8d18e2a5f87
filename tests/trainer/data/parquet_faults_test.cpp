// parquet_faults_test.cpp: every fault of a Parquet file is one line that names file, row, column,
// expected and found. Skipped where DuckDB's library is not: scripts/get-parquet brings it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "trainer/data/fault_text.hpp"
#include "trainer/data/parquet_files.hpp"
#include "trainer/data/parquet_reader.hpp"

namespace drey::trainer {
namespace {
class ParquetFaults : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = why_no_duckdb();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

std::string fault_of_file(const std::string& path, const ReadOptions& options = {}) {
  return fault_text(path, [&] { return read_parquet(path, options); });
}

std::string fault_of(const std::string& query, const ReadOptions& options = {}) {
  const ParquetFile file(query);
  return fault_of_file(file.path(), options);
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Three bars whose second has `value` (SQL) in the column `name` of type DOUBLE.
std::string second_with(const std::string& name, const std::string& value) {
  return "SELECT * REPLACE (CASE minute(timestamp) WHEN 31 THEN " + value + " ELSE " + name +
         " END AS " + name + ") FROM (" + three_bars("t AS timestamp") + ")";
}

TEST_F(ParquetFaults, AMissingColumnIsNamed) {
  EXPECT_EQ(fault_of("SELECT t AS timestamp, o AS open, h AS high, l AS low, v AS volume FROM " +
                     std::string(kThreeBars)),
            "FILE: column 'close': expected this column, found only timestamp, open, high, low, "
            "volume");
  EXPECT_EQ(fault_of(three_bars("t AS moment")),
            "FILE: column 'timestamp': expected timestamp, timestamp_utc, ts_event, datetime, date "
            "or time, found only moment, open, high, low, close, volume");
}

TEST_F(ParquetFaults, AColumnOfAnotherTypeIsNamed) {
  EXPECT_EQ(fault_of("SELECT * REPLACE (close::VARCHAR AS close) FROM (" +
                     three_bars("t AS timestamp") + ")"),
            "FILE: column 'close': expected numbers, found text");
  EXPECT_EQ(fault_of("SELECT * REPLACE (volume > 1 AS volume) FROM (" +
                     three_bars("t AS timestamp") + ")"),
            "FILE: column 'volume': expected numbers, found values of DuckDB's type 1");
  EXPECT_EQ(
      fault_of(three_bars("epoch(t)::DOUBLE AS timestamp")),
      "FILE: column 'timestamp': expected timestamps, dates, text or integers, found numbers");
  EXPECT_EQ(fault_of(three_bars("t::TIME AS time")),
            "FILE: column 'time': expected timestamps, dates, text or integers, found times of a "
            "day");
  EXPECT_EQ(fault_of(three_bars("t AS timestamp", ", 7 AS symbol")),
            "FILE: column 'symbol': expected text, found integers");
}

TEST_F(ParquetFaults, ANullIsNamedWithItsRow) {
  EXPECT_EQ(fault_of(second_with("low", "NULL")),
            "FILE: row 2, column 'low': expected a number, found NULL");
  EXPECT_EQ(fault_of(second_with("timestamp", "NULL")),
            "FILE: row 2, column 'timestamp': expected a time, found NULL");
  EXPECT_EQ(fault_of(three_bars("t AS timestamp",
                                ", CASE minute(t) WHEN 32 THEN NULL ELSE s END "
                                "AS symbol")),
            "FILE: row 3, column 'symbol': expected a text, found NULL");
}

TEST_F(ParquetFaults, AValueAgainstTheRulesIsNamed) {
  EXPECT_EQ(fault_of(second_with("close", "'nan'::DOUBLE")),
            "FILE: row 2, column 'close': expected a finite number, found 'nan'");
  EXPECT_EQ(fault_of(second_with("high", "'inf'::DOUBLE")),
            "FILE: row 2, column 'high': expected a finite number, found 'inf'");
  EXPECT_EQ(fault_of(second_with("open", "0.0")),
            "FILE: row 2, column 'open': expected a price above 0, found '0'");
  EXPECT_EQ(fault_of(second_with("volume", "-1.0")),
            "FILE: row 2, column 'volume': expected a volume of 0 or more, found '-1'");
  EXPECT_EQ(fault_of(second_with("low", "9.5")),
            "FILE: row 2, column 'high': expected high >= low = 9.5, found '2.5'");
  EXPECT_EQ(fault_of(second_with("close", "2.75")),
            "FILE: row 2, column 'close': expected a price from low = 1.5 to high = 2.5, found "
            "'2.75'");
}

TEST_F(ParquetFaults, TimeMustGoOn) {
  EXPECT_EQ(fault_of(second_with("timestamp", "TIMESTAMP '2024-01-02 14:30:00'")),
            "FILE: row 2, column 'timestamp': expected a time after 2024-01-02T14:30:00Z, found "
            "the same time again: '2024-01-02T14:30:00Z'");
  EXPECT_EQ(fault_of(second_with("timestamp", "TIMESTAMP '2024-01-01'")),
            "FILE: row 2, column 'timestamp': expected a time after 2024-01-02T14:30:00Z, found an "
            "earlier time: '2024-01-01T00:00:00Z'");
  EXPECT_EQ(fault_of(second_with("timestamp", "TIMESTAMP 'infinity'")),
            "FILE: row 2, column 'timestamp': expected a time of 1700 to 2260, found "
            "'9223372036854775807'");
  EXPECT_EQ(fault_of(three_bars("'noon' AS timestamp")),
            "FILE: row 1, column 'timestamp': expected a time of 1700 to 2260, found 'noon'");
}

TEST_F(ParquetFaults, InstrumentsThatTakeTurnsAreNamed) {
  const std::string two = three_bars("t AS timestamp", ", s AS symbol") + " UNION ALL " +
                          three_bars("t AS timestamp", ", 'NQH4' AS symbol");
  const std::string query = "SELECT * FROM (" + two + ") ORDER BY timestamp, symbol";
  EXPECT_EQ(fault_of(query),
            "FILE: row 2, column 'symbol': expected one instrument at a time, or a symbol to "
            "select, found 2 interleaved: ESH4, NQH4");
  EXPECT_EQ(fault_of(query, {.symbol = "CLH4"}),
            "FILE: column 'symbol': expected rows of 'CLH4', found only ESH4, NQH4");
  EXPECT_EQ(fault_of(three_bars("t AS timestamp"), {.symbol = "ESH4"}),
            "FILE: column 'symbol': expected this column, as a symbol was asked for, found only "
            "timestamp, open, high, low, close, volume");
}

TEST_F(ParquetFaults, NoRowsAreAFault) {
  EXPECT_EQ(fault_of(three_bars("t AS timestamp", "", " WHERE o > 100")),
            "FILE: expected bars, found no rows");
}

TEST_F(ParquetFaults, AFileThatIsCutOffAnywhereIsAFault) {
  const ParquetFile whole(three_bars("t AS timestamp"));
  const std::string bytes = bytes_of(whole.path());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 15) {
    const TemporaryFile cut(bytes.substr(0, size), "cut.parquet");
    const std::string fault = fault_of_file(cut.path());
    EXPECT_TRUE(fault.starts_with("FILE: expected a sound Parquet file, found damage (")) << fault;
    EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
    EXPECT_EQ(fault.find("/proc/"), std::string::npos) << fault;
  }
}

TEST_F(ParquetFaults, AFileThatIsNotThereIsAFault) {
  EXPECT_EQ(fault_of_file("/no/such/bars.parquet"),
            "FILE: expected a file, found none of that name");
}
}  // namespace
}  // namespace drey::trainer
