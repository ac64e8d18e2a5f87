// subject.hpp: which allocator a test program is meant to test, and which one really answers.
// The build says what is meant (DREY_TEST_SUBJECT, as a definition; the environment variable of
// that name wins, for runs under LD_PRELOAD); the process is asked what is. A test of the wrong
// allocator proves nothing, so SubjectTest fails every test when the two differ.
// Read next: known_deviations.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace drey::test {
/// "system", "mimalloc" or "drey".
std::string intended_subject();

/// Found from the address of malloc and from who owns one of its blocks:
/// "system", "mimalloc", "drey", or the file that malloc is in.
std::string active_subject();

/// True when drey is what is tested; it has no known deviations.
bool subject_is_drey();

/// Why the subject is known to fail this test ("Suite.Name"), with its version; empty if it must
/// pass. Always empty for drey.
std::string known_deviation(const std::string& test_name);

/// Fixture of all tests that run against several allocators: skips known deviations by name.
class SubjectTest : public ::testing::Test {
 protected:
  void SetUp() override;
};
}  // namespace drey::test
