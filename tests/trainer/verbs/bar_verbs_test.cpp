// bar_verbs_test.cpp: `drey-train convert` and `drey-train gen-bars`: what they write, that training
// on it is the same, and that whatever is wrong is one line, exit status 2 and no file.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "trainer/data/bar_file.hpp"
#include "trainer/data/synthetic_bars.hpp"
#include "trainer/data/time_text.hpp"
#include "trainer/dqn/temporary_folder.hpp"
#include "trainer/dqn/trainer_program.hpp"

namespace drey::test {
namespace {
using drey::trainer::Bar;
using drey::trainer::BarSeries;
using drey::trainer::synthetic_bars;

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// The bars as CSV, every digit of them.
std::string csv_of(const std::vector<Bar>& bars, const std::string& symbol) {
  std::string text = "timestamp,open,high,low,close,volume,symbol\n";
  for (const Bar& bar : bars) {
    char line[256];
    std::snprintf(line, sizeof(line), "%s,%.17g,%.17g,%.17g,%.17g,%.17g,%s\n",
                  drey::trainer::format_time(bar.timestamp_ns).c_str(), bar.open, bar.high, bar.low,
                  bar.close, bar.volume, symbol.c_str());
    text += line;
  }
  return text;
}

/// Expects one line with `text` in it, exit status 2, and only the files that were there before.
void expect_refusal(const TemporaryFolder& folder, const std::vector<std::string>& options,
                    const std::string& text) {
  const std::size_t files_before = folder.file_count();
  const ChildResult result = run_trainer(options);
  EXPECT_EQ(result.exit_status, 2) << result.summary();
  EXPECT_EQ(result.error_output.rfind("drey-train: ", 0), 0U) << result.summary();
  EXPECT_EQ(std::count(result.error_output.begin(), result.error_output.end(), '\n'), 1)
      << result.summary();
  EXPECT_NE(result.error_output.find(text), std::string::npos) << "wanted: " << text << "\n"
                                                               << result.summary();
  EXPECT_EQ(folder.file_count(), files_before) << result.summary();
}

TEST(Convert, WritesTheBarsOfManyFilesBitForBit) {
  const TemporaryFolder folder;
  const std::vector<Bar> bars = synthetic_bars(900, 4).bars;
  write_text(folder.path("late.csv"), csv_of({bars.begin() + 500, bars.end()}, "ESH4"));
  write_text(folder.path("soon.csv"), csv_of({bars.begin(), bars.begin() + 500}, "ESH4"));
  const std::string out = folder.path("x.bars");
  const ChildResult result = run_trainer({"convert", folder.path("*.csv"), out});
  ASSERT_TRUE(result.succeeded()) << result.summary();
  EXPECT_EQ(result.output.rfind(out + ": 900 bars of 1 min, ", 0), 0U) << result.output;
  const BarSeries series = drey::trainer::read_bar_file(out, {.symbol = "ESH4"});
  EXPECT_EQ(series.bars, bars);
  EXPECT_EQ(folder.file_count(), 3U) << "and nothing else";
}

TEST(Convert, TrainingOnTheResultGivesTheSameWeights) {
  const TemporaryFolder folder;
  const std::string csv = folder.path("x.csv");
  const std::string converted = folder.path("x.bars");
  write_text(csv, csv_of(synthetic_bars(900, 4).bars, "ESH4"));
  ASSERT_TRUE(run_trainer({"convert", csv, converted}).succeeded());
  const auto hash_of = [](const std::string& data) {
    const ChildResult result = run_trainer({"--data", data, "--epochs", "1", "--learning-starts",
                                            "50", "--batch", "16", "--buffer", "600"});
    EXPECT_TRUE(result.succeeded()) << result.summary();
    return word_after(result.output, "weights hash ");
  };
  EXPECT_EQ(hash_of(csv), hash_of(converted));
  EXPECT_EQ(hash_of(csv).size(), 16U);
}

TEST(GenBars, WritesTheBarsOfTheSeed) {
  const TemporaryFolder folder;
  const std::string out = folder.path("x.bars");
  const ChildResult result = run_trainer({"gen-bars", out, "--rows", "3000", "--seed", "7"});
  ASSERT_TRUE(result.succeeded()) << result.summary();
  EXPECT_EQ(drey::trainer::read_bar_file(out).bars, synthetic_bars(3'000, 7).bars);
  ASSERT_TRUE(run_trainer({"gen-bars", "--rows", "10", out}).succeeded());
  EXPECT_EQ(drey::trainer::read_bar_file(out).bars, synthetic_bars(10, 1).bars);
}

TEST(BarVerbs, HelpNamesEveryOption) {
  const ChildResult convert = run_trainer({"convert", "--help"});
  EXPECT_TRUE(convert.succeeded());
  EXPECT_NE(convert.output.find("--symbol"), std::string::npos) << convert.output;
  const ChildResult generate = run_trainer({"gen-bars", "--help"});
  EXPECT_TRUE(generate.succeeded());
  EXPECT_NE(generate.output.find("--rows N"), std::string::npos) << generate.output;
  EXPECT_NE(generate.output.find("--seed S"), std::string::npos) << generate.output;
}

TEST(BarVerbs, RefuseBadCommandLines) {
  const TemporaryFolder folder;
  const std::string out = folder.path("x.bars");
  const auto refused = [&](const std::vector<std::string>& options, const std::string& text) {
    expect_refusal(folder, options, text);
  };
  refused({"gen-bars", out}, "option --rows: expected a whole number from 1 to 50000000, found ''");
  refused({"gen-bars", out, "--rows", "0"}, "found '0'");
  refused({"gen-bars", out, "--rows", "50000001"}, "found '50000001'");
  refused({"gen-bars", out, "--rows", "ten"}, "found 'ten'");
  refused({"gen-bars", out, "--rows", "9", "--seed", "-1"},
          "option --seed: expected a whole number");
  refused({"gen-bars", "--rows", "9"}, "expected gen-bars --rows N [--seed S] OUT, found no names");
  refused({"gen-bars", out, "--rows"}, "option --rows: expected a value, found none");
  refused({"gen-bars", out, "--rows", "9", "--rows", "9"},
          "option --rows: expected once, found twice");
  refused({"gen-bars", out, "--row", "9"}, "unknown option '--row'");
  refused({"convert", out}, "expected convert IN OUT [--symbol NAME], found the names " + out);
  refused({"convert", out, out}, "expected OUT to be another file than IN");
}

TEST(BarVerbs, LeaveNothingBehindWhenTheInputIsBad) {
  const TemporaryFolder folder;
  const std::string csv = folder.path("x.csv");
  const std::string out = folder.path("x.bars");
  write_text(csv, csv_of(synthetic_bars(20, 4).bars, "ESH4") + "2030-01-01,1,1,1,nan,1,ESH4\n");
  expect_refusal(folder, {"convert", csv, out},
                 csv + ": row 22, column 'close': expected a finite number, found 'nan'");
  expect_refusal(folder, {"convert", folder.path("no.csv"), out}, "found none of that name");
  expect_refusal(folder, {"convert", csv, folder.path("no/x.bars")}, "cannot create");
  expect_refusal(folder, {"convert", csv, out, "--symbol", "NQH4"}, "found only ESH4");
  write_text(out, "an older file");
  expect_refusal(folder, {"convert", csv, out}, "row 22");
  EXPECT_EQ(drey::trainer::read_file(out), "an older file");
}

TEST(BarVerbs, AMissingLibraryOfParquetIsOneLineThatNamesTheWayOut) {
  const TemporaryFolder folder;
  const std::string parquet = folder.path("x.parquet");
  const std::string out = folder.path("x.bars");
  write_text(parquet, "PAR1 and so on");
  const ChildResult result = run_program({DREY_TRAIN_PROGRAM, "convert", parquet, out},
                                         {{"DREY_DUCKDB_LIB", folder.path("none.so")}});
  EXPECT_EQ(result.exit_status, 2) << result.summary();
  EXPECT_EQ(std::count(result.error_output.begin(), result.error_output.end(), '\n'), 1)
      << result.summary();
  EXPECT_NE(result.error_output.find(parquet + ": expected DuckDB's library at DREY_DUCKDB_LIB"),
            std::string::npos)
      << result.summary();
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(BarVerbs, TrainingRefusesABarFileThatWasCutShort) {
  const TemporaryFolder folder;
  const std::string out = folder.path("x.bars");
  ASSERT_TRUE(run_trainer({"gen-bars", out, "--rows", "1000"}).succeeded());
  std::filesystem::resize_file(out, 128 + 48 * 999);
  expect_refusal(folder, {"--data", out, "--epochs", "1"},
                 out + ": expected 1000 bars of 48 bytes after the header, found 47952 bytes");
}
}  // namespace
}  // namespace drey::test
