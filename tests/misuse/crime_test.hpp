// crime_test.hpp: runs a child program that commits one crime, with drey linked in or preloaded, and
// compares its last words as a whole.
// Read next: misuse_child.cpp, secure_child.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "misuse/expected_messages.hpp"
#include "support/child_process.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace drey::test {
enum class Way { kLinked, kPreloaded };

class CrimeTest : public ::testing::TestWithParam<Way> {
 protected:
  static ChildResult commit(const std::string& crime, bool warn = false) {
    std::vector<std::pair<std::string, std::string>> environment;
    if (warn) environment.emplace_back("DREY_ON_ERROR", "warn");
    const bool preloaded = GetParam() == Way::kPreloaded;
    if (preloaded) environment.emplace_back("LD_PRELOAD", DREY_TEST_LIBRARY);
    const std::string child = preloaded ? DREY_TEST_CHILD_PLAIN : DREY_TEST_CHILD_LINKED;
    return run_program({child, crime, DREY_TEST_PLUGIN}, environment);
  }

  static void expect_abort(const std::string& crime, const std::string& what) {
    const ChildResult child = commit(crime);
    EXPECT_EQ(child.signal_number, SIGABRT) << crime << ": " << child.summary();
    EXPECT_EQ(child.output, "") << crime;
    EXPECT_TRUE(std::regex_match(child.error_output, std::regex(report_pattern(what))))
        << crime << ": expected '" << report_pattern(what) << "'; " << child.summary();
  }

  static void expect_warning(const std::string& crime, const std::string& what) {
    const ChildResult child = commit(crime, true);
    EXPECT_TRUE(child.succeeded()) << crime << ": " << child.summary();
    EXPECT_EQ(child.output, "survived\n") << crime;
    EXPECT_TRUE(std::regex_match(child.error_output, std::regex(report_pattern(what))))
        << crime << ": expected '" << report_pattern(what) << "'; " << child.summary();
  }

  static void expect_signal(const std::string& crime, int signal_number) {
    const ChildResult child = commit(crime);
    EXPECT_EQ(child.signal_number, signal_number) << crime << ": " << child.summary();
    EXPECT_EQ(child.output, "") << crime;
    EXPECT_EQ(child.error_output, "") << crime;
  }

  static void expect_silence(const std::string& crime) {
    const ChildResult child = commit(crime);
    EXPECT_TRUE(child.succeeded()) << crime << ": " << child.summary();
    EXPECT_EQ(child.output, "survived\n") << crime;
    EXPECT_EQ(child.error_output, "") << crime;
  }
};

inline std::string way_name(const ::testing::TestParamInfo<Way>& way) {
  return way.param == Way::kLinked ? "Linked" : "Preloaded";
}
}  // namespace drey::test
