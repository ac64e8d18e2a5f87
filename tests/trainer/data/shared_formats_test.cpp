// shared_formats_test.cpp: real Parquet and DBN files, and damaged ones of Apache's collection.
// Skipped where the files are not: see shared_file(); those of Parquet also without DuckDB.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/data_summary.hpp"
#include "trainer/data/fault_text.hpp"
#include "trainer/data/parquet_files.hpp"
#include "trainer/data/read_bars.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
std::string fault_of(const std::string& path, const ReadOptions& options = {}) {
  return fault_text(path, [&] { return read_bars(path, options); });
}

TEST(SharedParquet, HoldsTheSameBarsAsTheCsvFile) {
  const std::string reason = why_no_duckdb();
  if (!reason.empty()) GTEST_SKIP() << reason;
  for (const std::string name : {"eurusd_1min_2017H1", "es_front_1min"}) {
    const std::string parquet = shared_file(name + ".parquet");
    const std::string csv = shared_file(name + ".csv.gz");
    if (parquet.empty() || csv.empty()) GTEST_SKIP() << name << " is not on this machine";
    const BarSeries series = read_bars(parquet);
    EXPECT_EQ(series.bars, read_bars(csv).bars) << name;
  }
}

TEST(SharedParquet, DamageIsALineOrIsReadAndChecked) {
  const std::string reason = why_no_duckdb();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const std::string folder = shared_file("parquet_bad");
  if (folder.empty()) GTEST_SKIP() << "parquet_bad is not on this machine";
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".parquet") continue;
    ++count;
    // None of them has the columns of bars: those that DuckDB reads are refused for that.
    const std::string fault = fault_of(entry.path().string());
    EXPECT_TRUE(fault.starts_with("FILE: ")) << entry.path() << ": " << fault;
    EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
  }
  EXPECT_EQ(count, 8u);
}

TEST(SharedDbn, SamplesOfEveryVersionHoldTheSameBars) {
  const std::string plain = shared_file("dbn/test_data.ohlcv-1m.dbn");
  if (plain.empty()) GTEST_SKIP() << "dbn/ is not on this machine";
  for (const std::string kind : {"1s", "1m", "1h"}) {
    const BarSeries series = read_bars(shared_file("dbn/test_data.ohlcv-" + kind + ".dbn"));
    ASSERT_EQ(series.bars.size(), 2u) << kind;
    EXPECT_EQ(series.instrument, "ESH1") << kind;
    for (const std::string version : {"v1", "v2", "v3"}) {
      const std::string name = "dbn/test_data.ohlcv-" + kind + "." + version + ".dbn.zst";
      EXPECT_EQ(read_bars(shared_file(name)).bars, series.bars) << name;
    }
  }
  // The sample's prices are 100 times too big, and are taken as they stand.
  EXPECT_EQ(read_bars(plain).bars[0].open, 372'025.0);
}

TEST(SharedDbn, SamplesWithoutBarsAreRefusedByName) {
  if (shared_file("dbn").empty()) GTEST_SKIP() << "dbn/ is not on this machine";
  const auto fault = [](const std::string& name) { return fault_of(shared_file("dbn/" + name)); };
  for (const std::string name : {"dbn", "v1.dbn.zst", "v2.dbn.zst", "v3.dbn.zst"})
    EXPECT_EQ(fault("test_data.ohlcv-1d." + name), "FILE: expected bars, found no records") << name;
  EXPECT_EQ(fault("test_data.mbo.v3.dbn"),
            "FILE: expected a schema of bars (ohlcv-1s, -1m, -1h, -1d or -eod), found mbo");
  EXPECT_EQ(fault("multi-frame.definition.v1.dbn.frag.zst"),
            "FILE: expected bars, found 8 records, none of them a bar");
  for (const std::string kind : {"1s", "1m", "1h", "1d"})
    EXPECT_EQ(fault("test_data.ohlcv-" + kind + ".dbz"),
              "FILE: expected DBN of version 1, 2 or 3, found legacy DBZ: Databento's 'dbn' "
              "program converts it");
}

TEST(SharedDbn, OneOfTwoContractsIsSelectedByNameOrNumber) {
  const std::string path =
      shared_file("dbn/nautilus_futures_ohlcv-1m_2024-07-01T23-40_2024-07-02T00-10.dbn.zst");
  if (path.empty()) GTEST_SKIP() << "dbn/ is not on this machine";
  EXPECT_EQ(fault_of(path),
            "FILE: row 2, column 'instrument_id': expected one instrument, or a symbol to select, "
            "found 2: ESU4, NQU4");
  const BarSeries series = read_bars(path, {.symbol = "ESU4"});
  ASSERT_EQ(series.bars.size(), 30u);
  EXPECT_EQ(series.bars[0].open, 5'527.25);
  EXPECT_EQ(read_bars(path, {.symbol = "118"}).bars, series.bars);
  EXPECT_EQ(read_bars(path, {.symbol = "NQU4"}).bars.size(), 30u);
}

TEST(SharedDbn, OneContractAloneNeedsNoChoice) {
  const std::string path =
      shared_file("dbn/nautilus_futures_ohlcv-1m_2026-01-09T20-55_2026-01-09T21-05.dbn.zst");
  if (path.empty()) GTEST_SKIP() << "dbn/ is not on this machine";
  const BarSeries series = read_bars(path);
  EXPECT_EQ(series.bars.size(), 10u);
  EXPECT_EQ(series.instrument, "ESH6");
  EXPECT_EQ(series.bars[0].open, 7'009.75);
}

TEST(SharedSummary, SaysWhatIsOddAboutRealFiles) {
  const auto summary_of = [](const std::string& name) {
    const std::string path = shared_file(name);
    return path.empty() ? DataSummary{} : summarise(read_bars(path));
  };
  const DataSummary currency = summary_of("eurusd_1min_2017H1.csv.gz");
  if (currency.row_count == 0) GTEST_SKIP() << "the real bars are not on this machine";
  EXPECT_EQ(currency.zero_volume_count, currency.row_count) << "a market without volumes";
  EXPECT_GT(currency.repeat_count, 0u);
  const DataSummary future = summary_of("es_front_1min.csv.gz");
  EXPECT_EQ(future.gap_longest_ns / kDayNs, 2'207) << "from 2013 to 2020";
  EXPECT_EQ(future.zero_volume_count, 0u);
}
}  // namespace
}  // namespace drey::trainer
