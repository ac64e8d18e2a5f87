// csv_reader_test.cpp: what the reader accepts, and that it reads the values that are written.
// SPDX-License-Identifier: MIT
#include "trainer/data/csv_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
BarSeries read_text(std::string_view content, const ReadOptions& options = {}) {
  const TemporaryFile file(content);
  return read_csv(file.path(), options);
}

constexpr std::int64_t kSecondOfJanuaryNs = 1'577'923'200 * kSecondNs;  // 2020-01-02

TEST(CsvReader, ReadsEveryFieldOfABar) {
  const BarSeries series = read_text(std::string(kHeader) + "2020-01-02,1.5,2.25,1.125,2,1234.5\n");
  ASSERT_EQ(series.bars.size(), 1u);
  const Bar& bar = series.bars[0];
  EXPECT_EQ(bar.timestamp_ns, kSecondOfJanuaryNs);
  EXPECT_EQ(bar.open, 1.5);
  EXPECT_EQ(bar.high, 2.25);
  EXPECT_EQ(bar.low, 1.125);
  EXPECT_EQ(bar.close, 2.0);
  EXPECT_EQ(bar.volume, 1234.5);
}

TEST(CsvReader, SourceIsThePathAsGiven) {
  const TemporaryFile file(std::string(kHeader) + "2020-01-02,1,1,1,1,5\n");
  EXPECT_EQ(read_csv(file.path()).source, file.path());
}

TEST(CsvReader, ColumnsAreFoundByNameInAnyCaseAndOrder) {
  const BarSeries series =
      read_text("Adj Close,CLOSE,Volume,Low,High,Open,DateTime\n9,2,7,1,4,3,2020-01-02\n");
  ASSERT_EQ(series.bars.size(), 1u);
  const Bar& bar = series.bars[0];
  EXPECT_EQ(bar.timestamp_ns, kSecondOfJanuaryNs);
  EXPECT_EQ(bar.open, 3.0);
  EXPECT_EQ(bar.high, 4.0);
  EXPECT_EQ(bar.low, 1.0);
  EXPECT_EQ(bar.close, 2.0);
  EXPECT_EQ(bar.volume, 7.0);
}

TEST(CsvReader, EveryTimeColumnNameIsKnown) {
  for (const std::string name :
       {"timestamp", "timestamp_utc", "ts_event", "datetime", "date", "time", "Ts_Event"}) {
    const BarSeries series =
        read_text(name + ",open,high,low,close,volume\n2020-01-02,1,1,1,1,5\n");
    EXPECT_EQ(series.bars.at(0).timestamp_ns, kSecondOfJanuaryNs) << name;
  }
}

TEST(CsvReader, DateAndTimeColumnsAreJoined) {
  const BarSeries series =
      read_text("date,time,open,high,low,close,volume\n2020-01-02,00:01:30,1,1,1,1,5\n");
  EXPECT_EQ(series.bars.at(0).timestamp_ns, kSecondOfJanuaryNs + 90 * kSecondNs);
}

TEST(CsvReader, FormsOfTimeMayBeMixed) {
  const BarSeries series = read_text(std::string(kHeader) +
                                     "2020-01-02,1,1,1,1,5\n"
                                     "1577923201,1,1,1,1,5\n"
                                     "02.01.2020 00:00:02.000,1,1,1,1,5\n");
  ASSERT_EQ(series.bars.size(), 3u);
  EXPECT_EQ(series.bars[2].timestamp_ns, kSecondOfJanuaryNs + 2 * kSecondNs);
}

TEST(CsvReader, LineEndsOfEverySystemAreFine) {
  const std::string rows = "2020-01-02,1,1,1,1,5";
  const std::string header(kHeader.substr(0, kHeader.size() - 1));
  EXPECT_EQ(read_text(header + "\r\n" + rows + "\r\n").bars.at(0).volume, 5.0);
  EXPECT_EQ(read_text(header + "\n" + rows).bars.at(0).volume, 5.0) << "no newline at the end";
  EXPECT_EQ(read_text(header + "\r\n" + rows + "\r").bars.at(0).volume, 5.0);
}

TEST(CsvReader, BlankLinesAreSkippedButCounted) {
  const BarSeries series = read_text(std::string(kHeader) + "\n2020-01-02,1,1,1,1,5\n\n \n");
  EXPECT_EQ(series.bars.size(), 1u);
}

TEST(CsvReader, ByteOrderMarkIsSkipped) {
  EXPECT_EQ(read_text("\xEF\xBB\xBF" + std::string(kHeader) + "2020-01-02,1,1,1,1,5\n").bars.size(),
            1u);
}

TEST(CsvReader, QuotesAndSpacesAroundFieldsAreDropped) {
  const BarSeries series = read_text(
      "\"date\",\"open\",\"high\",low,close,volume,\"a \"\"b\"\", c\"\n"
      "\"2020-01-02\", 1 ,\"2\",1,\t1.5,\"5\",\"x,y\"\n");
  ASSERT_EQ(series.bars.size(), 1u);
  EXPECT_EQ(series.bars[0].close, 1.5);
  EXPECT_EQ(series.bars[0].volume, 5.0);
}

TEST(CsvReader, NumbersMayHaveASignOrAnExponent) {
  const BarSeries series = read_text(std::string(kHeader) + "2020-01-02,+1,1e0,1,1.0,5.5E+03\n");
  EXPECT_EQ(series.bars.at(0).volume, 5500.0);
}

TEST(CsvReader, ZeroVolumeEverywhereIsFine) {
  const BarSeries series =
      read_text(std::string(kHeader) + "2020-01-02,1,1,1,1,0\n2020-01-03,1,1,1,1,0\n");
  EXPECT_EQ(series.bars.size(), 2u);
}

TEST(CsvReader, GzipGivesTheSameBarsWhateverItIsCalled) {
  const std::string text = std::string(kHeader) + "2020-01-02,1,1,1,1,5\n2020-01-03,1,1,1,1,6\n";
  const std::string packed = gzipped(text);
  for (const std::string name : {"bars.csv.gz", "bars.csv"}) {
    const TemporaryFile file(packed, name);
    const BarSeries series = read_csv(file.path());
    ASSERT_EQ(series.bars.size(), 2u) << name;
    EXPECT_EQ(series.bars[1].volume, 6.0);
  }
}

TEST(CsvReader, GzipMembersInARowAreOneFile) {
  const TemporaryFile file(gzipped(kHeader) + gzipped("2020-01-02,1,1,1,1,5\n"), "bars.csv.gz");
  EXPECT_EQ(read_csv(file.path()).bars.size(), 1u);
}

TEST(CsvReader, LinesAcrossTheBufferAreWhole) {
  std::string text(kHeader);
  constexpr int kRows = 20'000;  // about 900 KB, more than three buffers
  for (int i = 0; i < kRows; ++i)
    text += std::to_string(1'577'923'200 + i) + ",100.125,100.25,100.0," + std::to_string(100) +
            ".125," + std::to_string(i) + "\n";
  const BarSeries series = read_text(text);
  ASSERT_EQ(series.bars.size(), static_cast<std::size_t>(kRows));
  for (int i = 0; i < kRows; ++i)
    ASSERT_EQ(series.bars[static_cast<std::size_t>(i)].volume, static_cast<double>(i));
}

constexpr std::string_view kSymbols =
    "timestamp,open,high,low,close,volume,symbol\n"
    "2020-01-02,1,1,1,1,5,A\n2020-01-02,2,2,2,2,6,B\n2020-01-03,1,1,1,1,7,A\n";

TEST(CsvReader, RoomIsMadeOnceForFilesOfEvenLines) {
  std::string text(kHeader);
  for (int i = 0; i < 30'000; ++i)
    text += std::to_string(1'577'836'800 + 60 * i) + ",1.25,1.5,1.125,1.375,1000\n";
  for (const std::string& bytes : {text, gzipped(text)}) {
    const TemporaryFile file(bytes, "bars.csv");
    const BarSeries series = read_csv(file.path());
    EXPECT_EQ(series.bars.size(), 30'000u);
    EXPECT_NE(series.bars.capacity(), 32'768u) << "doubling ends there";
    EXPECT_LT(series.bars.capacity(), 36'000u) << series.source << " of " << bytes.size();
  }
}

TEST(CsvReader, SymbolFilterKeepsOneInstrument) {
  const BarSeries series = read_text(kSymbols, {.symbol = "A"});
  ASSERT_EQ(series.bars.size(), 2u);
  EXPECT_EQ(series.bars[1].volume, 7.0);
  EXPECT_EQ(read_text(kSymbols, {.symbol = "B"}).bars.size(), 1u);
}

TEST(CsvReader, ContractRollIsNotInterleaving) {
  std::string text = "timestamp,open,high,low,close,volume,symbol\n";
  for (int day = 10; day < 30; ++day)
    text += "2020-01-" + std::to_string(day) + ",1,1,1,1,5," + (day < 20 ? "H0" : "M0") + "\n";
  EXPECT_EQ(read_text(text).bars.size(), 20u);
}
}  // namespace
}  // namespace drey::trainer
