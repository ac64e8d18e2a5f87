// options_test.cpp: every row of the table, and what becomes of values that mean nothing.
//
// Method: the environment is read once a process, so each reading happens in a child of its own.
// SPDX-License-Identifier: MIT
#include "core/options.hpp"

#include "core/option_text.hpp"
#include "support/fake_os.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace drey::core {
namespace {

const OptionRow& row_of(const char* name) {
  const OptionRow* const row = find_option(name);
  if (row == nullptr) std::abort();
  return *row;
}

/// What one of the add_ functions writes of a row.
template <typename Add>
std::string text_of(Add add, const OptionRow& row) {
  char text[300];
  ReportWriter report(text, sizeof(text));
  add(report, row);
  return text;
}

std::string path_of(const TextSetting& setting) {
  char text[TextSetting::kBytesMax];
  setting.copy_to(text);
  return text;
}

/// Reads one variable and ends the process, with 0 if the option then has the value `expected`.
template <typename Option>
[[noreturn]] void read_and_exit(const char* name, const char* text, const Option& option,
                                decltype(option.load()) expected) {
  fake_os::reset();
  fake_os::set_environment(name, text);
  read_options();
  std::_Exit(option.load() == expected ? 0 : 1);
}

testing::AssertionResult means(const char* name, const char* text, std::int64_t expected) {
  std::int64_t value = -77;
  if (!parse_option(row_of(name), text, value)) {
    return testing::AssertionFailure() << name << "=" << text << " is refused";
  }
  if (value == expected) return testing::AssertionSuccess();
  return testing::AssertionFailure() << name << "=" << text << " means " << value;
}

bool is_refused(const char* name, const char* text) {
  std::int64_t value = 0;
  return !parse_option(row_of(name), text, value);
}

TEST(Options, InForceAtFirstAreTheFallbacksOfTheTable) {
  for (const OptionRow& row : option_rows()) {
    if (row.kind == OptionKind::kPath) {
      EXPECT_FALSE(row.path->is_set()) << row.name;
    } else {
      EXPECT_EQ(row.load(), row.fallback) << row.name;
    }
  }
}

TEST(Options, EveryRowIsComplete) {
  for (const OptionRow& row : option_rows()) {
    EXPECT_GT(std::strlen(row.sentence), 10u) << row.name;
    EXPECT_GT(std::strlen(row.unit), 0u) << row.name;
    EXPECT_EQ(text_of(add_variable, row).rfind("DREY_", 0), 0u) << row.name;
    if (row.kind == OptionKind::kPath) continue;
    EXPECT_LE(row.min, row.fallback) << row.name;
    EXPECT_LE(row.fallback, row.max) << row.name;
    EXPECT_TRUE(means(row.name, std::to_string(row.min).c_str(), row.min));
    EXPECT_TRUE(means(row.name, std::to_string(row.max).c_str(), row.max));
    EXPECT_TRUE(is_refused(row.name, std::to_string(row.min - 1).c_str())) << row.name;
    EXPECT_TRUE(is_refused(row.name, std::to_string(row.max + 1).c_str())) << row.name;
  }
}

TEST(Options, ARowIsFoundByItsNameAndByItsVariable) {
  for (const OptionRow& row : option_rows()) {
    EXPECT_EQ(find_option(row.name), &row);
    EXPECT_EQ(find_option(text_of(add_variable, row).c_str()), &row);
  }
  for (const char* name : {"", "DREY_", "purge_delay", "PURGE_DELAY_MS", "drey_purge_delay_ms",
                           "DREY_PURGE_DELAY_MS_", "DREY_purge_delay_ms"}) {
    EXPECT_EQ(find_option(name), nullptr) << name;
  }
}

TEST(Options, WhatARowPrintsItAlsoReads) {
  for (const OptionRow& row : option_rows()) {
    if (row.kind == OptionKind::kPath) continue;
    EXPECT_TRUE(means(row.name, text_of(add_fallback, row).c_str(), row.fallback));
  }
}

TEST(Options, WordsMeanTheirIndex) {
  EXPECT_TRUE(means("on_error", "abort", 0));
  EXPECT_TRUE(means("on_error", "warn", 1));
  EXPECT_TRUE(means("show_stats", "0", 0));
  EXPECT_TRUE(means("show_stats", "1", 1));
}

TEST(Options, BytesMayBeWrittenInStepsOf1024) {
  EXPECT_TRUE(means("profile_interval", "4096", 4096));
  EXPECT_TRUE(means("profile_interval", "512K", 512 << 10));
  EXPECT_TRUE(means("profile_interval", "3M", 3 << 20));
  EXPECT_TRUE(means("profile_interval", "2G", std::int64_t{2} << 30));
  for (const char* text : {"K", "1KB", "1k", "1K2", "0", "-1K", "9999999999T", "65T"}) {
    EXPECT_TRUE(is_refused("profile_interval", text)) << text;
  }
  EXPECT_TRUE(is_refused("purge_delay_ms", "1K"));
}

TEST(Options, WhatIsNeitherWordNorNumberIsRefused) {
  for (const char* text :
       {"", " ", "warning", "war", "abort|warn", "|", "Warn", "warn ", "2", "-1"}) {
    EXPECT_TRUE(is_refused("on_error", text)) << "'" << text << "'";
  }
  for (const char* text : {"", "-", "--1", "1s", "1.5", "0x10", " 1", "+1", "-2", "3600001", "ms",
                           "99999999999999999999999999", "-99999999999999999999999999"}) {
    EXPECT_TRUE(is_refused("purge_delay_ms", text)) << "'" << text << "'";
  }
}

TEST(Options, APathIsKeptAndOneThatIsTooLongIsRefused) {
  const OptionRow& row = row_of("profile");
  EXPECT_TRUE(set_option(row, "a folder/file"));
  EXPECT_EQ(path_of(options.profile), "a folder/file");
  EXPECT_FALSE(set_option(row, std::string(TextSetting::kBytesMax, 'x').c_str()));
  EXPECT_EQ(path_of(options.profile), "a folder/file");
  EXPECT_TRUE(set_option(row, ""));
  EXPECT_FALSE(options.profile.is_set());
}

TEST(Options, TheTableNamesEveryVariableWithItsRangeAndDefault) {
  char text[8000];
  ReportWriter report(text, sizeof(text));
  add_option_table(report);
  ASSERT_LT(report.length(), sizeof(text));
  const std::string table = text;
  EXPECT_NE(table.find("  DREY_PURGE_DELAY_MS: -1 to 3600000 ms (default: 1000)\n"),
            std::string::npos);
  EXPECT_NE(table.find("  DREY_ON_ERROR: abort or warn (default: abort)\n"), std::string::npos);
  for (const OptionRow& row : option_rows()) {
    EXPECT_NE(table.find(text_of(add_variable, row)), std::string::npos) << row.name;
    EXPECT_NE(table.find(row.sentence), std::string::npos) << row.name;
  }
}

TEST(OptionsDeathTest, ReadsWhatTheEnvironmentSays) {
  EXPECT_EXIT(read_and_exit("DREY_PURGE_DELAY_MS", "250", options.purge_delay_ms, 250),
              testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read_and_exit("DREY_PURGE_DELAY_MS", "-1", options.purge_delay_ms, -1),
              testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read_and_exit("DREY_ON_ERROR", "warn", options.on_error, OnError::kWarn),
              testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read_and_exit("DREY_SHOW_STATS", "1", options.show_stats, true),
              testing::ExitedWithCode(0), "^$");
}

TEST(OptionsDeathTest, ABadValueIsOneLineAndKeepsTheDefault) {
  EXPECT_EXIT(
      read_and_exit("DREY_PURGE_DELAY_MS", "soon", options.purge_delay_ms, 1000),
      testing::ExitedWithCode(0),
      "^drey: DREY_PURGE_DELAY_MS=soon ignored: expected -1 to 3600000 ms; 1000 is used\n$");
  EXPECT_EXIT(read_and_exit("DREY_PURGE_DELAY_MS", "3600001", options.purge_delay_ms, 1000),
              testing::ExitedWithCode(0), "^drey: DREY_PURGE_DELAY_MS=3600001 ignored: [^\n]*\n$");
  EXPECT_EXIT(read_and_exit("DREY_ON_ERROR", "explode", options.on_error, OnError::kAbort),
              testing::ExitedWithCode(0),
              "^drey: DREY_ON_ERROR=explode ignored: expected abort or warn; abort is used\n$");
  EXPECT_EXIT(read_and_exit("DREY_SHOW_STATS", "yes", options.show_stats, false),
              testing::ExitedWithCode(0),
              "^drey: DREY_SHOW_STATS=yes ignored: expected 0 or 1; 0 is used\n$");
}

TEST(OptionsDeathTest, AValueOfAnyLengthAndContentIsStillOneLine) {
  static const std::string endless(5000, 'x');
  EXPECT_EXIT(read_and_exit("DREY_ON_ERROR", endless.c_str(), options.on_error, OnError::kAbort),
              testing::ExitedWithCode(0),
              "^drey: DREY_ON_ERROR=x+... ignored: expected abort or warn; abort is used\n$");
  EXPECT_EXIT(read_and_exit("DREY_ON_ERROR", "a\nb", options.on_error, OnError::kAbort),
              testing::ExitedWithCode(0), "^drey: DREY_ON_ERROR=a.b ignored: [^\n]*\n$");
  EXPECT_EXIT(
      read_and_exit("DREY_PROFILE", endless.c_str(), options.on_error, OnError::kAbort),
      testing::ExitedWithCode(0),
      "^drey: DREY_PROFILE=x+... ignored: expected the name of a file, [^\n]*; none is used\n$");
}

TEST(OptionsDeathTest, AVariableThatIsNoOptionIsOneLine) {
  EXPECT_EXIT(read_and_exit("DREY_NO_SUCH_THING", "5", options.purge_delay_ms, 1000),
              testing::ExitedWithCode(0),
              "^drey: DREY_NO_SUCH_THING=5 ignored: no such option; drey-run --help lists them\n$");
  static const std::string endless = "DREY_" + std::string(500, 'N');
  EXPECT_EXIT(read_and_exit(endless.c_str(), "5", options.purge_delay_ms, 1000),
              testing::ExitedWithCode(0), "^drey: DREY_N+=5 ignored: [^\n]*\n$");
}

TEST(OptionsDeathTest, VariablesOfOtherProgramsAreTheirs) {
  EXPECT_EXIT(read_and_exit("DREY_TEST_SEED", "5", options.purge_delay_ms, 1000),
              testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read_and_exit("DREYER", "5", options.purge_delay_ms, 1000),
              testing::ExitedWithCode(0), "^$");
}

TEST(OptionsDeathTest, AnEnvironmentThatIsNotReadableYetIsReadLater) {
  const auto read_twice = [] {
    fake_os::reset();
    fake_os::set_environment("DREY_PURGE_DELAY_MS", "7");
    fake_os::set_environment_readable(false);
    read_options();
    if (options.purge_delay_ms.load() != 1000) std::_Exit(1);
    fake_os::set_environment_readable(true);
    read_options();
    if (options.purge_delay_ms.load() != 7) std::_Exit(2);
    fake_os::set_environment("DREY_PURGE_DELAY_MS", "9");
    read_options();  // once read, it is read
    std::_Exit(options.purge_delay_ms.load() == 7 ? 0 : 3);
  };
  EXPECT_EXIT(read_twice(), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace drey::core
