// csv_faults_test.cpp: every kind of bad input gives one line that names file, row, column, what
// was expected and what was found. Method: write the bad file, compare the whole message.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/csv_reader.hpp"
#include "trainer/data/error.hpp"

namespace drey::trainer {
namespace {
// The message of reading `path`, with the path itself replaced by FILE.
std::string fault_of_file(const std::string& path, const ReadOptions& options = {}) {
  try {
    static_cast<void>(read_csv(path, options));
  } catch (const DataError& error) {
    std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << "not one line: " << message;
    if (message.starts_with(path)) message.replace(0, path.size(), "FILE");
    return message;
  }
  return "no error";
}

std::string fault_of(std::string_view content, const ReadOptions& options = {},
                     std::string_view name = "bars.csv") {
  const TemporaryFile file(content, name);
  return fault_of_file(file.path(), options);
}

std::string fault_of_rows(std::string_view rows) {
  return fault_of(std::string(kHeader) + std::string(rows));
}

TEST(CsvFaults, MissingFileIsNamed) {
  EXPECT_EQ(fault_of_file("/nowhere/bars.csv"), "FILE: expected a file, found none of that name");
}

TEST(CsvFaults, DirectoryIsNoFile) {
  const TemporaryFile file("");
  EXPECT_EQ(fault_of_file(file.folder()), "FILE: expected a file, found a directory");
}

TEST(CsvFaults, UnreadableFileSaysWhy) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const TemporaryFile file(kHeader);
  std::filesystem::permissions(file.path(), std::filesystem::perms::none);
  EXPECT_EQ(fault_of_file(file.path()), "FILE: expected a readable file, found Permission denied");
}

TEST(CsvFaults, EmptyFileHasNoHeader) {
  EXPECT_EQ(fault_of(""), "FILE: expected a header and bars, found an empty file");
}

TEST(CsvFaults, HeaderAloneIsNotEnough) {
  EXPECT_EQ(fault_of(kHeader), "FILE: row 1: expected bars after the header, found only a header");
}

TEST(CsvFaults, MissingPriceColumnListsWhatIsThere) {
  EXPECT_EQ(fault_of("date,open,high,low,volume\n2020-01-02,1,1,1,5\n"),
            "FILE: row 1, column 'close': expected this column in the header, "
            "found only date, open, high, low, volume");
}

TEST(CsvFaults, MissingTimeColumnListsTheNamesThatWouldDo) {
  EXPECT_EQ(
      fault_of("when,open,high,low,close,volume\n"),
      "FILE: row 1, column 'timestamp': expected timestamp, timestamp_utc, ts_event, "
      "datetime, date or time in the header, found only when, open, high, low, close, volume");
}

TEST(CsvFaults, RepeatedColumnIsAmbiguous) {
  EXPECT_EQ(fault_of("date,open,high,low,close,Close,volume\n"),
            "FILE: row 1, column 'close': expected one column of this name, found two");
}

TEST(CsvFaults, BinaryDataDoesNotReachTheTerminal) {
  EXPECT_EQ(fault_of(std::string("\x1b[31m\x00\xff,x\n", 9)),
            "FILE: row 1, column 'timestamp': expected timestamp, timestamp_utc, ts_event, "
            "datetime, date or time in the header, found only ?[31m??, x");
}

TEST(CsvFaults, TooFewFieldsAreCounted) {
  EXPECT_EQ(fault_of_rows("2020-01-02,1,1,1,1,5\n2020-01-03,1,1,1\n"),
            "FILE: row 3: expected at least 6 fields, found 4");
}

TEST(CsvFaults, UnparsableNumberIsQuoted) {
  EXPECT_EQ(fault_of_rows("2020-01-02,1,1,1,abc,5\n"),
            "FILE: row 2, column 'close': expected a number, found 'abc'");
  EXPECT_EQ(fault_of_rows("2020-01-02,1,1,1,,5\n"),
            "FILE: row 2, column 'close': expected a number, found ''");
  EXPECT_EQ(fault_of_rows("2020-01-02,1,1,1,1.5x,5\n"),
            "FILE: row 2, column 'close': expected a number, found '1.5x'");
  EXPECT_EQ(fault_of_rows("2020-01-02,null,1,1,1,5\n"),
            "FILE: row 2, column 'open': expected a number, found 'null'");
}

TEST(CsvFaults, LongTextIsCut) {
  EXPECT_EQ(
      fault_of_rows("2020-01-02," + std::string(100, 'a') + ",1,1,1,5\n"),
      "FILE: row 2, column 'open': expected a number, found '" + std::string(40, 'a') + "...'");
}

TEST(CsvFaults, NonFiniteNumbersAreRefused) {
  for (const std::string text : {"nan", "NaN", "inf", "-inf", "infinity", "1e999"}) {
    EXPECT_EQ(fault_of_rows("2020-01-02,1,1,1,1,5\n2020-01-03,1," + text + ",1,1,5\n"),
              "FILE: row 3, column 'high': expected a finite number, found '" + text + "'");
  }
}

TEST(CsvFaults, PriceOfZeroOrLessIsRefused) {
  EXPECT_EQ(fault_of_rows("2020-01-02,0,1,0,1,5\n"),
            "FILE: row 2, column 'open': expected a price above 0, found '0'");
  EXPECT_EQ(fault_of_rows("2020-01-02,1,1,-1.5,1,5\n"),
            "FILE: row 2, column 'low': expected a price above 0, found '-1.5'");
}

TEST(CsvFaults, PriceBeyondReasonIsRefused) {
  EXPECT_EQ(fault_of_rows("2020-01-02,1,1e16,1,1,5\n"),
            "FILE: row 2, column 'high': expected a price from 1e-12 to 1e15, found '1e16'");
}

TEST(CsvFaults, NegativeVolumeIsRefused) {
  EXPECT_EQ(fault_of_rows("2020-01-02,1,1,1,1,-3\n"),
            "FILE: row 2, column 'volume': expected a volume of 0 or more, found '-3'");
}

TEST(CsvFaults, VolumeBeyondReasonIsRefused) {
  EXPECT_EQ(fault_of_rows("2020-01-02,1,1,1,1,1e19\n"),
            "FILE: row 2, column 'volume': expected a volume up to 1e18, found '1e19'");
}

TEST(CsvFaults, HighBelowLowIsRefused) {
  EXPECT_EQ(fault_of_rows("2020-01-02,10,9,11,10,5\n"),
            "FILE: row 2, column 'high': expected high >= low = 11, found '9'");
}

TEST(CsvFaults, OpenOutsideTheRangeIsRefused) {
  EXPECT_EQ(fault_of_rows("2020-01-02,12,11,9,10,5\n"),
            "FILE: row 2, column 'open': expected a price from low = 9 to high = 11, found '12'");
}

TEST(CsvFaults, CloseOutsideTheRangeIsRefused) {
  EXPECT_EQ(fault_of_rows("2020-01-02,10,11,9,8.5,5\n"),
            "FILE: row 2, column 'close': expected a price from low = 9 to high = 11, found '8.5'");
}

TEST(CsvFaults, UnparsableTimeIsQuoted) {
  EXPECT_EQ(fault_of("Date,open,high,low,close,volume\n2020-02-30,1,1,1,1,5\n"),
            "FILE: row 2, column 'Date': expected a time (ISO 8601, DD.MM.YYYY or epoch), "
            "found '2020-02-30'");
}

TEST(CsvFaults, TimeGoingBackwardsIsRefused) {
  EXPECT_EQ(fault_of_rows("2020-01-03,1,1,1,1,5\n2020-01-02,1,1,1,1,5\n"),
            "FILE: row 3, column 'timestamp': expected a time after 2020-01-03T00:00:00Z, "
            "found an earlier time: '2020-01-02'");
}

TEST(CsvFaults, RepeatedTimeIsRefused) {
  EXPECT_EQ(fault_of_rows("2020-01-03,1,1,1,1,5\n2020-01-03T00:00:00Z,1,1,1,1,5\n"),
            "FILE: row 3, column 'timestamp': expected a time after 2020-01-03T00:00:00Z, "
            "found the same time again: '2020-01-03T00:00:00Z'");
}

TEST(CsvFaults, TruncatedGzipIsNoticed) {
  std::string rows(kHeader);
  for (int day = 1; day < 29; ++day)
    rows += "2020-01-" + std::string(day < 10 ? "0" : "") + std::to_string(day) +
            ",1.5,2.25,1.125,1.75,5\n";
  const std::string whole = gzipped(rows);
  for (const std::size_t kept : {whole.size() / 2, whole.size() - 8, whole.size() - 1}) {
    const std::string message = fault_of(whole.substr(0, kept), {}, "bars.csv.gz");
    EXPECT_TRUE(
        message.ends_with("expected the end of the gzip data, found the end of the file: "
                          "it is cut off"))
        << kept << " of " << whole.size() << " bytes: " << message;
  }
}

TEST(CsvFaults, DamagedGzipIsNoticed) {
  std::string damaged = gzipped(std::string(kHeader) + "2020-01-02,1,1,1,1,5\n");
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 0x5A);  // checksum
  EXPECT_EQ(fault_of(damaged, {}, "bars.csv.gz"),
            "FILE: row 1: expected sound gzip data, found damage (incorrect data check)");
}

TEST(CsvFaults, PlainTextNamedGzIsNoticed) {
  EXPECT_EQ(fault_of(kHeader, {}, "bars.csv.gz"),
            "FILE: expected gzip data, as the name ends in .gz, found other data");
}

TEST(CsvFaults, EndlessLineIsNoticed) {
  EXPECT_EQ(fault_of(std::string(300'000, 'x')),
            "FILE: row 1: expected a line of less than 262144 bytes, found a longer one");
}

constexpr std::string_view kTwoSymbols =
    "timestamp,open,high,low,close,volume,symbol\n"
    "2020-01-02,1,1,1,1,5,ESH0\n"
    "2020-01-02,2,2,2,2,5,ESM0\n"
    "2020-01-03,1,1,1,1,5,ESH0\n"
    "2020-01-03,3,3,3,3,5,ESU0\n";

TEST(CsvFaults, InterleavedSymbolsAreAllNamed) {
  EXPECT_EQ(fault_of(kTwoSymbols),
            "FILE: row 3, column 'symbol': expected one instrument at a time, or a symbol to "
            "select, found 3 interleaved: ESH0, ESM0, ESU0");
}

TEST(CsvFaults, SymbolsThatTakeTurnsAreInterleavedToo) {
  std::string rows = "timestamp,open,high,low,close,volume,symbol\n";
  for (int day = 10; day < 30; ++day)
    rows += "2020-01-" + std::to_string(day) + ",1,1,1,1,5," + (day % 2 == 0 ? "A" : "B") + "\n";
  EXPECT_EQ(fault_of(rows),
            "FILE: row 21, column 'symbol': expected one instrument at a time, or a symbol to "
            "select, found 2 interleaved: A, B");
}

TEST(CsvFaults, UnknownSymbolListsTheKnown) {
  EXPECT_EQ(fault_of(kTwoSymbols, {.symbol = "NQH0"}),
            "FILE: column 'symbol': expected rows of 'NQH0', found only ESH0, ESM0, ESU0");
}

TEST(CsvFaults, SymbolFilterNeedsASymbolColumn) {
  EXPECT_EQ(fault_of(std::string(kHeader) + "2020-01-02,1,1,1,1,5\n", {.symbol = "ESH0"}),
            "FILE: row 1, column 'symbol': expected this column, as a symbol was asked for, "
            "found only timestamp, open, high, low, close, volume");
}
}  // namespace
}  // namespace drey::trainer
