// options_test.cpp: every row of the table, and what becomes of values that mean nothing.
//
// Method: the environment is read once a process, so each reading happens in a child of its own.
// SPDX-License-Identifier: MIT
#include "core/options.hpp"

#include "support/fake_os.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace drey::core {
namespace {

const OptionRow& row_of(const char* name) {
  for (const OptionRow& row : option_rows()) {
    if (std::strcmp(row.name, name) == 0) return row;
  }
  std::abort();
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

TEST(Options, TheDefaultsAreTheFallbacksOfTheTable) {
  EXPECT_EQ(options.purge_delay_ms.load(), row_of("DREY_PURGE_DELAY_MS").fallback);
  EXPECT_EQ(static_cast<std::int64_t>(options.on_error.load()), row_of("DREY_ON_ERROR").fallback);
  EXPECT_EQ(options.show_stats.load() ? 1 : 0, row_of("DREY_SHOW_STATS").fallback);
}

TEST(Options, EveryRowIsComplete) {
  for (const OptionRow& row : option_rows()) {
    EXPECT_EQ(std::string(row.name).rfind("DREY_", 0), 0u) << row.name;
    EXPECT_LE(row.min, row.fallback) << row.name;
    EXPECT_LE(row.fallback, row.max) << row.name;
    EXPECT_GT(std::strlen(row.sentence), 10u) << row.name;
    EXPECT_GT(std::strlen(row.unit), 0u) << row.name;
    EXPECT_TRUE(means(row.name, std::to_string(row.min).c_str(), row.min));
    EXPECT_TRUE(means(row.name, std::to_string(row.max).c_str(), row.max));
    EXPECT_TRUE(is_refused(row.name, std::to_string(row.min - 1).c_str())) << row.name;
    EXPECT_TRUE(is_refused(row.name, std::to_string(row.max + 1).c_str())) << row.name;
  }
}

TEST(Options, WordsMeanTheirIndex) {
  EXPECT_TRUE(means("DREY_ON_ERROR", "abort", 0));
  EXPECT_TRUE(means("DREY_ON_ERROR", "warn", 1));
  EXPECT_TRUE(means("DREY_SHOW_STATS", "0", 0));
  EXPECT_TRUE(means("DREY_SHOW_STATS", "1", 1));
}

TEST(Options, WhatIsNeitherWordNorNumberIsRefused) {
  for (const char* text :
       {"", " ", "warning", "war", "abort|warn", "|", "Warn", "warn ", "2", "-1"}) {
    EXPECT_TRUE(is_refused("DREY_ON_ERROR", text)) << "'" << text << "'";
  }
  for (const char* text : {"", "-", "--1", "1s", "1.5", "0x10", " 1", "+1", "-2", "3600001",
                           "99999999999999999999999999", "-99999999999999999999999999"}) {
    EXPECT_TRUE(is_refused("DREY_PURGE_DELAY_MS", text)) << "'" << text << "'";
  }
}

TEST(Options, TheNameOfAUnitIsNoValue) {
  EXPECT_TRUE(is_refused("DREY_PURGE_DELAY_MS", "ms"));
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
  EXPECT_EXIT(read_and_exit("DREY_PURGE_DELAY_MS", "soon", options.purge_delay_ms, 1000),
              testing::ExitedWithCode(0), "^drey: DREY_PURGE_DELAY_MS=soon ignored: [^\n]*\n$");
  EXPECT_EXIT(read_and_exit("DREY_PURGE_DELAY_MS", "3600001", options.purge_delay_ms, 1000),
              testing::ExitedWithCode(0), "^drey: DREY_PURGE_DELAY_MS=3600001 ignored: [^\n]*\n$");
  EXPECT_EXIT(read_and_exit("DREY_ON_ERROR", "explode", options.on_error, OnError::kAbort),
              testing::ExitedWithCode(0),
              "^drey: DREY_ON_ERROR=explode ignored: expected abort.warn\n$");
  EXPECT_EXIT(read_and_exit("DREY_SHOW_STATS", "yes", options.show_stats, false),
              testing::ExitedWithCode(0), "^drey: DREY_SHOW_STATS=yes ignored: [^\n]*\n$");
}

TEST(OptionsDeathTest, AValueOfAnyLengthIsStillOneLine) {
  static const std::string endless(5000, 'x');
  EXPECT_EXIT(read_and_exit("DREY_ON_ERROR", endless.c_str(), options.on_error, OnError::kAbort),
              testing::ExitedWithCode(0), "^drey: DREY_ON_ERROR=x+\n$");
}

TEST(OptionsDeathTest, VariablesOfOtherNamesAreNotLookedFor) {
  EXPECT_EXIT(read_and_exit("DREY_NO_SUCH_THING", "5", options.purge_delay_ms, 1000),
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
