// misuse_test.cpp: what a program does wrong is told in one exact line, and then it is over; with
// DREY_ON_ERROR=warn the line is all that happens.
// Method: misuse_child commits one crime a run, with drey linked in and with libdrey.so preloaded;
// its standard error is compared as a whole.
// Read next: crime_test.hpp, expected_messages.hpp.
// SPDX-License-Identifier: MIT
#include "misuse/crime_test.hpp"
#include "misuse/expected_messages.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace drey::test {
namespace {
using Misuse = CrimeTest;

TEST_P(Misuse, IsNotSeenInACorrectProgram) {
  expect_silence("nothing");
}

TEST_P(Misuse, DoubleFreeOfALargeBlockIsReported) {
  expect_abort("double_free_large", kDoubleFreeOfReturned);
}

TEST_P(Misuse, DoubleFreeOfAHugeBlockIsReported) {
  expect_abort("double_free_huge", kDoubleFreeOfReturned);
}

TEST_P(Misuse, DoubleFreeOfALargeBlockByTwoThreadsIsReported) {
  expect_abort("double_free_by_threads", kDoubleFreeOfReturned);
}

TEST_P(Misuse, DoubleFreeOfASmallBlockIsReportedWhereEveryFreeIsChecked) {
  if (!DREY_TEST_SECURE) GTEST_SKIP() << "only in builds with DREY_SECURE";
  expect_abort("double_free_small", kDoubleFree);
  expect_abort("double_free_medium", kDoubleFree);
}

TEST_P(Misuse, DoubleFreeOfASmallBlockIsReportedOnTheSlowPathAtTheLatest) {
  expect_abort("double_free_small_later", kDoubleFreeOfReturned);
}

TEST_P(Misuse, FreeInsideALargeBlockIsReported) {
  expect_abort("interior_of_large", kInvalidFree);
  expect_abort("interior_slice_of_large", kInvalidFree);
  expect_abort("interior_slice_of_single", kInvalidFree);
  expect_abort("interior_of_huge", kInvalidFree);
}

TEST_P(Misuse, FreeInsideASmallBlockIsReportedWhereEveryFreeIsChecked) {
  if (!DREY_TEST_SECURE) GTEST_SKIP() << "only in builds with DREY_SECURE";
  expect_abort("interior_of_small", kInvalidFree);
  expect_abort("interior_unaligned", kInvalidFree);
}

TEST_P(Misuse, FreeOfWhatIsNoBlockIsReported) {
  for (const char* crime :
       {"free_stack", "free_static", "free_foreign_mapping", "free_small_number", "free_wild"}) {
    expect_abort(crime, kInvalidFree);
  }
}

TEST_P(Misuse, ReallocOfWhatIsNoBlockIsReported) {
  expect_abort("realloc_foreign_mapping", kInvalidRealloc);
  expect_abort("realloc_stack", kInvalidRealloc);
}

TEST_P(Misuse, ReallocOfAFreedLargeBlockIsReported) {
  expect_abort("realloc_after_free_large", kInvalidRealloc);
}

TEST_P(Misuse, IsOnlyReportedWhenAskedToWarn) {
  expect_warning("double_free_large", kDoubleFreeOfReturned);
  expect_warning("interior_of_large", kInvalidFree);
  expect_warning("free_stack", kInvalidFree);
  expect_warning("realloc_foreign_mapping", kInvalidRealloc);
}

TEST_P(Misuse, LargeBlockEndsAtAPageThatFaultsWhereAskedFor) {
  ::setenv("DREY_GUARD_LARGE", "1", 1);
  expect_signal("write_behind_large", SIGSEGV);
  ::unsetenv("DREY_GUARD_LARGE");
  if (!DREY_TEST_SECURE) expect_silence("write_behind_large");
}

TEST_P(Misuse, WrongSizesOfSizedDeleteAreIgnored) {
  if (DREY_TEST_SECURE) GTEST_SKIP() << "reported in builds with DREY_SECURE";
  expect_silence("wrong_sized_deletes");
}

TEST_P(Misuse, BlocksOfTheCLibraryGoBackToIt) {
  expect_silence("blocks_of_the_c_library");
}

INSTANTIATE_TEST_SUITE_P(Ways, Misuse, ::testing::Values(Way::kLinked, Way::kPreloaded), way_name);
}  // namespace
}  // namespace drey::test
