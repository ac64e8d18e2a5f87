// fatal_test.cpp: a broken check is one line naming the fact and the place, then an abort.
// SPDX-License-Identifier: MIT
#include <drey/base/assert.hpp>

#include <gtest/gtest.h>

namespace drey {
namespace {

TEST(FatalDeathTest, SaysWhatInOneLineAndAborts) {
  EXPECT_DEATH(fatal("the nest is on fire"), "^drey: the nest is on fire\n$");
}

TEST(FatalDeathTest, BrokenCheckNamesFactAndPlace) {
  EXPECT_DEATH(DREY_CHECK(1 + 1 == 3, "sums are broken"),
               "drey: sums are broken .*fatal_test.cpp:");
}

TEST(Fatal, HoldingCheckDoesNothing) {
  DREY_CHECK(1 + 1 == 2, "sums are broken");
}

}  // namespace
}  // namespace drey
