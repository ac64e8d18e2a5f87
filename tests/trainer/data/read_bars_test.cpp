// read_bars_test.cpp: the format told by the contents, many files as one series, and what the files
// may not be.
// SPDX-License-Identifier: MIT
#include "trainer/data/read_bars.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>

#include "trainer/data/bar_file.hpp"
#include "trainer/data/bar_files.hpp"
#include "trainer/data/data_summary.hpp"
#include "trainer/data/dbn_files.hpp"
#include "trainer/data/fault_text.hpp"

namespace drey::trainer {
namespace {
std::string csv_of_day(int day, const std::string& symbol = "ES") {
  const std::string date = "2024-01-0" + std::to_string(day);
  return "date,open,high,low,close,volume,symbol\n" + date + "T10:00,1,1,1,1,5," + symbol + "\n" +
         date + "T11:00,1,1,1,1,6," + symbol + "\n";
}

/// A folder with files in it, gone with its owner.
class Folder {
 public:
  Folder() : first_("", "unused.txt"), path_(first_.folder() + "/bars") {
    std::filesystem::create_directory(path_);
  }
  void add(const std::string& name, std::string_view content) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << content;
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  TemporaryFile first_;
  std::string path_;
};

std::string fault_of(const Folder& folder, const std::string& data,
                     const ReadOptions& options = {}) {
  std::string text = fault_text(folder / data, [&] { return read_bars(folder / data, options); });
  const std::string path = folder / "";
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path))
    text.erase(at, path.size());
  return text;
}

TEST(ReadBars, FilesAreSortedByTheirFirstBarsWhateverTheirNames) {
  const Folder folder;
  folder.add("c.csv", csv_of_day(2));
  folder.add("a.csv", csv_of_day(3));
  folder.add("b.csv", csv_of_day(1));
  folder.add("b.txt", csv_of_day(4));
  const BarSeries series = read_bars(folder / "*.csv");
  ASSERT_EQ(series.bars.size(), 6u);
  for (std::size_t i = 1; i < series.bars.size(); ++i)
    EXPECT_LT(series.bars[i - 1].timestamp_ns, series.bars[i].timestamp_ns);
  EXPECT_EQ(series.source, folder / "*.csv");
  EXPECT_EQ(series.instrument, "ES");
}

TEST(ReadBars, FormatsMix) {
  const Folder folder;
  folder.add("1.csv", csv_of_day(1));
  folder.add("2.csv.gz", gzipped(csv_of_day(3)));
  folder.add("3.dbn", dbn_head() + dbn_minutes(4));  // the afternoon of the 2nd
  BarSeries last{"", {{1'704'500'000'000'000'000, 1, 1, 1, 1, 9}}, "ES"};
  folder.add("4.bars", bar_file_header(last) + std::string(bar_bytes(last)));
  const BarSeries series = read_bars(folder / "*");
  ASSERT_EQ(series.bars.size(), 9u);
  EXPECT_EQ(series.bars[2].close, 1.75) << "DBN lies between the two days of CSV";
  EXPECT_EQ(series.bars.back().volume, 9.0);
  EXPECT_EQ(series.instrument, "") << "they do not agree";
}

TEST(ReadBars, AFormatIsToldByTheContentsNotByTheName) {
  const Folder folder;
  folder.add("bars.csv", dbn_head() + dbn_minutes(4));
  EXPECT_EQ(read_bars(folder / "bars.csv").bars.size(), 4u);
  folder.add("bars", csv_of_day(1));
  EXPECT_EQ(read_bars(folder / "bars").bars.size(), 2u);
}

TEST(ReadBars, ANameThatPromisesAnotherFormatIsRefused) {
  const Folder folder;
  const std::string found = ", found 'date,open,high,l' at its beginning";
  for (const char* const name : {"x.parquet", "x.pq"}) {
    folder.add(name, csv_of_day(1));
    EXPECT_EQ(fault_of(folder, name), "FILE: expected Parquet data, as the name ends in " +
                                          std::string(name).substr(1) + found);
  }
  folder.add("x.dbn", csv_of_day(1));
  EXPECT_EQ(fault_of(folder, "x.dbn"), "FILE: expected DBN data, as the name ends in .dbn" + found);
  folder.add("x.zst", csv_of_day(1));
  EXPECT_EQ(fault_of(folder, "x.zst"),
            "FILE: expected zstd data, as the name ends in .zst" + found);
  folder.add("x.bars", csv_of_day(1));
  EXPECT_EQ(fault_of(folder, "x.bars"),
            "FILE: expected a bar file, as the name ends in .bars" + found);
}

TEST(ReadBars, FormatsThatAreKnownAndNotReadAreNamed) {
  const Folder folder;
  folder.add("x", "ARROW1 and so on");
  EXPECT_EQ(fault_of(folder, "x"),
            "FILE: expected CSV, Parquet, DBN or a bar file, found an Arrow file");
  folder.add("x.csv", "PK\x03\x04 and so on");
  EXPECT_EQ(fault_of(folder, "x.csv"),
            "FILE: expected CSV, Parquet, DBN or a bar file, found a zip archive or spreadsheet");
}

TEST(ReadBars, AListHasCommas) {
  const Folder folder;
  folder.add("b.csv", csv_of_day(2));
  folder.add("a1.csv", csv_of_day(3));
  folder.add("a2.csv", csv_of_day(1));
  EXPECT_EQ(read_bars((folder / "b.csv") + "," + (folder / "a?.csv")).bars.size(), 6u);
  EXPECT_EQ(fault_of(folder, "b.csv,"),
            "FILE: expected a file's name before and after each comma, found nothing");
}

TEST(ReadBars, AFileWhoseNameLooksLikeAListOrAPatternIsAFile) {
  const Folder folder;
  for (const char* const name : {"a,b.csv", "a[1].csv", "*.csv"}) {
    folder.add(name, csv_of_day(1));
    EXPECT_EQ(find_bar_files(folder / name), std::vector<std::string>{folder / name});
  }
}

TEST(ReadBars, OverlapsAreRefusedWithBothNames) {
  const Folder folder;
  folder.add("a.csv", csv_of_day(1));
  folder.add("b.csv", csv_of_day(1, "NQ"));
  folder.add("c.csv", csv_of_day(2));
  EXPECT_EQ(fault_of(folder, "*.csv"),
            "b.csv: expected bars after 2024-01-01T11:00:00Z, the last of a.csv, found an overlap: "
            "its first is of 2024-01-01T10:00:00Z");
  EXPECT_EQ(fault_of(folder, "[ac].csv"), "no error");
  EXPECT_NE(fault_of(folder, "[a].csv," + (folder / "a.csv")), "no error") << "a file twice";
}

TEST(ReadBars, APatternWithoutAMatchIsRefused) {
  const Folder folder;
  EXPECT_EQ(fault_of(folder, "*.csv"), "FILE: expected files that match this pattern, found none");
  std::filesystem::create_directory(folder / "folder.csv");
  EXPECT_EQ(fault_of(folder, "*.csv"), "FILE: expected files that match this pattern, found none");
}

TEST(ReadBars, WhatCannotBeReadIsNamed) {
  const Folder folder;
  folder.add("empty.csv", "");
  EXPECT_EQ(fault_of(folder, "empty.csv"), "FILE: expected a header and bars, found an empty file");
  EXPECT_EQ(fault_of(folder, "missing.csv"), "FILE: expected a file, found none of that name");
  EXPECT_EQ(fault_of(folder, ""), "FILE: expected a file, found a directory");
}

TEST(ReadBars, GapsRollsAndPricesAreTakenAsTheyStandAndTold) {
  const Folder folder;
  folder.add("x.csv",
             "ts_event,open,high,low,close,volume,symbol\n"
             "1382110200000,1700,1701,1699,1700,5,ESZ3\n"
             "1382110260000,1700,1701,1699,1700,0,ESZ3\n"
             "2013-10-18T15:32:00Z,372150,372151,372149,372150,5,ESH4\n"
             "2013-10-18T15:37:00Z,372150,372151,372149,372150,5,ESH4\n"
             "03.11.2019 15:37,372150,372151,372149,372150,5,ESH4");
  const DataSummary summary = summarise(read_bars(folder / "x.csv"));
  EXPECT_EQ(to_text(summary),
            "5 bars of 1 min, 2013-10-18T15:30:00Z to 2019-11-03T15:37:00Z, 2 gaps, the longest "
            "2207 d, 2 repeats, 1 of volume 0");
}

TEST(ReadBars, APipeIsReadAsCsv) {
  const Folder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << csv_of_day(1); });
  EXPECT_EQ(read_bars(path).bars.size(), 2u);
  writer.join();
}

TEST(ReadBars, TheSymbolCountsForEachFile) {
  const Folder folder;
  folder.add("a.csv", csv_of_day(1, "ES"));
  folder.add("b.csv", csv_of_day(2, "NQ"));
  EXPECT_EQ(read_bars(folder / "*.csv").bars.size(), 4u) << "a roll";
  EXPECT_EQ(fault_of(folder, "*.csv", {.symbol = "ES"}),
            "b.csv: column 'symbol': expected rows of 'ES', found only NQ");
}
}  // namespace
}  // namespace drey::trainer
