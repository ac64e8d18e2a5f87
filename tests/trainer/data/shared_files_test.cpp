// shared_files_test.cpp: real files of eight sources load, with the number of rows they are known
// to have; the one that interleaves contracts is refused, and loads once a contract is chosen.
// Skipped where the files are not: see shared_file().
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/csv_reader.hpp"
#include "trainer/data/data_summary.hpp"
#include "trainer/data/error.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
struct KnownFile {
  const char* name;
  std::size_t row_count;
  std::int64_t bar_length_ns;
};

// The name of the file, for the test's name.
std::string name_of(const testing::TestParamInfo<KnownFile>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

class SharedFiles : public testing::TestWithParam<KnownFile> {};

TEST_P(SharedFiles, LoadWithTheKnownNumberOfRows) {
  const KnownFile known = GetParam();
  const std::string path = shared_file(known.name);
  if (path.empty()) GTEST_SKIP() << known.name << " is not on this machine";
  const DataSummary summary = summarise(read_csv(path));
  EXPECT_EQ(summary.row_count, known.row_count) << to_text(summary);
  EXPECT_EQ(summary.bar_length_ns, known.bar_length_ns) << to_text(summary);
}

INSTANTIATE_TEST_SUITE_P(
    All, SharedFiles,
    testing::Values(KnownFile{"es_front_1min.csv.gz", 19'083, kMinuteNs},
                    KnownFile{"spy_1s_2013-10.csv.gz", 116'820, kSecondNs},
                    KnownFile{"spy_1h.csv.gz", 40'832, kHourNs},
                    KnownFile{"aapl_1h.csv.gz", 40'831, kHourNs},
                    KnownFile{"ibm_1h.csv.gz", 40'813, kHourNs},
                    KnownFile{"bac_1h.csv.gz", 40'818, kHourNs},
                    KnownFile{"aig_1h.csv.gz", 40'811, kHourNs},
                    KnownFile{"eurusd_1min_2017H1.csv.gz", 186'348, kMinuteNs},
                    KnownFile{"6EH4_1min_2024-01.csv.gz", 29'996, kMinuteNs},
                    KnownFile{"btc_perp_1min_2022-01.csv.gz", 45'031, kMinuteNs},
                    KnownFile{"spy_1min_2011_pyalgotrade.csv.gz", 31'757, kMinuteNs},
                    KnownFile{"eurusd_1h_2017_gym-anytrading.csv.gz", 6'225, kHourNs},
                    KnownFile{"sp500_daily_2000-2020_vega.csv.gz", 5'105, kDayNs}),
    name_of);

TEST(SharedFile, InterleavedContractsAreRefusedAndNamed) {
  const std::string path = shared_file("es_all_contracts_1min.csv.gz");
  if (path.empty()) GTEST_SKIP() << "es_all_contracts_1min.csv.gz is not on this machine";
  try {
    static_cast<void>(read_csv(path));
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(),
              path +
                  ": row 3, column 'symbol': expected one instrument at a time, or a symbol to "
                  "select, found 8 interleaved: ES201403, ES201312, ES201406, ES201409, ES201412, "
                  "ES202003, ES202006, ES202009");
  }
}

TEST(SharedFile, OneContractOfSeveralLoads) {
  const std::string path = shared_file("es_all_contracts_1min.csv.gz");
  if (path.empty()) GTEST_SKIP() << "es_all_contracts_1min.csv.gz is not on this machine";
  const BarSeries series = read_csv(path, {.symbol = "ES201312"});
  EXPECT_GT(series.bars.size(), 10'000u);
}

TEST(SharedFile, RowsOfTheSp500FileAreReadToTheDigit) {
  const std::string path = shared_file("sp500_daily_2000-2020_vega.csv.gz");
  if (path.empty()) GTEST_SKIP() << "sp500_daily_2000-2020_vega.csv.gz is not on this machine";
  const BarSeries series = read_csv(path);
  EXPECT_EQ(format_time_briefly(series.bars.front().timestamp_ns), "2000-01-03");
  EXPECT_EQ(series.bars.front().high, 1478.0);
  EXPECT_EQ(series.bars.front().low, 1438.359985);
  EXPECT_EQ(format_time_briefly(series.bars.back().timestamp_ns), "2020-04-17");
  EXPECT_EQ(series.bars.back().close, 2874.560059);
  EXPECT_EQ(series.bars.back().volume, 5'792'140'000.0);
}
}  // namespace
}  // namespace drey::trainer
