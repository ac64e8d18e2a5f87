// parquet_reader_test.cpp: bars out of Parquet files: every type that a column may have, file names
// that mean something to DuckDB, and the same bars as from CSV.
// Skipped where DuckDB's library is not: scripts/get-parquet brings it.
// SPDX-License-Identifier: MIT
#include "trainer/data/parquet_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "trainer/data/parquet_files.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
constexpr std::int64_t kFirstNs = 1'704'205'800 * kSecondNs;  // 2024-01-02T14:30:00Z

class Parquet : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = why_no_duckdb();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

void expect_three_bars(const BarSeries& series, const std::string& what) {
  ASSERT_EQ(series.bars.size(), 3u) << what;
  EXPECT_EQ(series.bars[0], (Bar{kFirstNs, 1.5, 2.0, 1.0, 1.75, 10.0})) << what;
  EXPECT_EQ(series.bars[1], (Bar{kFirstNs + kMinuteNs, 1.75, 2.5, 1.5, 2.25, 0.0})) << what;
  EXPECT_EQ(series.bars[2], (Bar{kFirstNs + 2 * kMinuteNs, 2.25, 2.25, 2.0, 2.0, 30.0})) << what;
}

TEST_F(Parquet, EveryTypeOfTimeMeansTheSame) {
  for (const char* const time :
       {"t::TIMESTAMP_S AS timestamp", "t::TIMESTAMP_MS AS timestamp", "t::TIMESTAMP AS timestamp",
        "t::TIMESTAMP_NS AS timestamp", "t::TIMESTAMPTZ AS timestamp_utc",
        "epoch_ns(t) AS ts_event", "epoch_us(t) AS time", "epoch_ms(t) AS Timestamp",
        "epoch(t)::BIGINT AS timestamp", "epoch(t)::UINTEGER AS timestamp",
        "strftime(t, '%Y-%m-%dT%H:%M:%SZ') AS date", "strftime(t, '%d.%m.%Y %H:%M') AS datetime",
        "t::DATE AS date, t::TIME AS time",
        "strftime(t, '%Y-%m-%d') AS date, strftime(t, '%H:%M') AS time"}) {
    const ParquetFile file(three_bars(time) + " ORDER BY t");
    expect_three_bars(read_parquet(file.path()), time);
  }
}

TEST_F(Parquet, DatesAreMidnight) {
  const ParquetFile file(three_bars("t::DATE + (minute(t) - 30)::INTEGER AS date"));
  const BarSeries series = read_parquet(file.path());
  ASSERT_EQ(series.bars.size(), 3u);
  EXPECT_EQ(format_time(series.bars[0].timestamp_ns), "2024-01-02T00:00:00Z");
  EXPECT_EQ(format_time(series.bars[2].timestamp_ns), "2024-01-04T00:00:00Z");
}

TEST_F(Parquet, EveryTypeOfNumberMeansTheSame) {
  for (const char* const type : {"FLOAT", "DOUBLE", "DECIMAL(9, 2)", "DECIMAL(38, 6)"}) {
    const std::string cast = std::string("::") + type;
    const ParquetFile file("SELECT t AS timestamp, o" + cast + " AS open, h" + cast +
                           " AS High, l" + cast + " AS LOW, c" + cast + " AS close, v" + cast +
                           " AS volume FROM " + kThreeBars);
    expect_three_bars(read_parquet(file.path()), type);
  }
  for (const char* const type : {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UBIGINT"}) {
    const std::string cast = std::string("::") + type;
    const ParquetFile file("SELECT t AS timestamp, 4" + cast + " AS open, 5" + cast + " AS high, " +
                           "3" + cast + " AS low, 4" + cast + " AS close, v" + cast +
                           " AS volume FROM " + kThreeBars);
    EXPECT_EQ(read_parquet(file.path()).bars.at(2),
              (Bar{kFirstNs + 2 * kMinuteNs, 4.0, 5.0, 3.0, 4.0, 30.0}))
        << type;
  }
}

TEST_F(Parquet, NamesThatMeanSomethingToDuckdbAreOnlyNames) {
  for (const char* const name : {"it's.parquet", "a[1]*?.parquet", "symbol=ES.parquet", "x\"y"}) {
    const ParquetFile made(three_bars("t AS timestamp"));
    const TemporaryFile named("", name);
    std::filesystem::copy_file(made.path(), named.path(),
                               std::filesystem::copy_options::overwrite_existing);
    expect_three_bars(read_parquet(named.path()), name);
  }
}

TEST_F(Parquet, ASymbolIsSelectedAndNamed) {
  const std::string two = three_bars("t AS timestamp", ", s AS symbol") + " UNION ALL " +
                          three_bars("t AS timestamp", ", 'NQH4' AS symbol");
  const ParquetFile file("SELECT * FROM (" + two + ") ORDER BY timestamp, symbol");
  const BarSeries series = read_parquet(file.path(), {.symbol = "NQH4"});
  expect_three_bars(series, "NQH4");
  EXPECT_EQ(series.instrument, "NQH4");
  const ParquetFile one(three_bars("t AS timestamp", ", s AS symbol"));
  EXPECT_EQ(read_parquet(one.path()).instrument, "ESH4");
}

TEST_F(Parquet, ASymbolMayBeACategory) {
  const ParquetFile file(three_bars("t AS timestamp", ", s::ENUM('ESH4', 'NQH4') AS symbol"));
  expect_three_bars(read_parquet(file.path(), {.symbol = "ESH4"}), "an enumeration");
}

TEST_F(Parquet, ManyRowGroupsKeepTheirOrder) {
  const TemporaryFile file("", "many.parquet");
  run_duckdb(
      "COPY (SELECT TIMESTAMP '2020-01-01' + INTERVAL (i) MINUTE AS timestamp, 1.0 + i AS open, "
      "1.0 + i AS high, 1.0 + i AS low, 1.0 + i AS close, i AS volume FROM range(50000) r(i)) TO "
      "'" +
      file.path() + "' (FORMAT parquet, ROW_GROUP_SIZE 4096)");
  const BarSeries series = read_parquet(file.path());
  ASSERT_EQ(series.bars.size(), 50'000u);
  EXPECT_EQ(series.bars.capacity(), 50'000u) << "the metadata says how many";
  for (std::size_t i = 0; i < series.bars.size(); ++i)
    ASSERT_EQ(series.bars[i].volume, static_cast<double>(i));
}
}  // namespace
}  // namespace drey::trainer
