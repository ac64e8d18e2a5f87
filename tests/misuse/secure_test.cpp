// secure_test.cpp: what a secure build finds beyond misuse_test.cpp, and that a correct program is
// left in peace. Method as there; the child is secure_child.cpp.
// Read next: crime_test.hpp.
// SPDX-License-Identifier: MIT
#include "misuse/crime_test.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <set>

namespace drey::test {
namespace {
using Secure = CrimeTest;

TEST_P(Secure, SecondFreeIsFoundWithOtherFreesInBetween) {
  expect_abort("p_q_p_small", kDoubleFree);
  expect_abort("p_q_p_medium", kDoubleFree);
  expect_abort("p_q_p_large", kInvalidFree);  // its place is nobody's by then
  expect_abort("again_later_small", kDoubleFree);
  expect_abort("again_later_medium", kDoubleFree);
  expect_abort("again_later_large", kInvalidFree);
}

TEST_P(Secure, SecondFreeIsFoundWhicheverThreadsFree) {
  expect_abort("twice_elsewhere_small", kDoubleFree);
  expect_abort("twice_elsewhere_medium", kDoubleFree);
  expect_abort("here_and_elsewhere", kDoubleFree);
  expect_abort("elsewhere_and_here", kDoubleFree);
}

TEST_P(Secure, FreeInsideABlockIsFound) {
  for (const char* crime : {"inside_1", "inside_8", "inside_16", "inside_medium", "inside_large"}) {
    expect_abort(crime, kInvalidFree);
  }
}

TEST_P(Secure, ByteBehindABlockIsMissedAtItsFree) {
  for (const char* crime :
       {"overflow_1", "overflow_8", "overflow_20", "overflow_24", "overflow_100", "overflow_1000",
        "overflow_5000", "overflow_60000", "overflow_300001", "overflow_by_32",
        "overflow_after_growth", "overflow_after_large_growth", "overflow_after_growth_twice",
        "overflow_after_shrinking"}) {
    expect_abort(crime, kOverflow);
  }
}

TEST_P(Secure, ByteBeforeABlockIsMissedAtItsFree) {
  for (const char* crime : {"underflow_8", "underflow_100", "underflow_5000"}) {
    expect_abort(crime, kUnderflow);
  }
}

TEST_P(Secure, LargeBlockEndsAtAPageThatFaults) {
  expect_signal("overflow_at_page", SIGSEGV);
}

TEST_P(Secure, FreedBlockAboveAMebibyteFaults) {
  expect_signal("write_after_free_huge", SIGSEGV);
}

TEST_P(Secure, WriteAfterFreeIsFoundWhenTheBlockLeavesQuarantine) {
  for (const char* crime : {"write_after_free_8", "write_after_free_100", "write_after_free_5000",
                            "write_after_free_large", "write_after_free_large_end"}) {
    expect_abort(crime, kWrittenFreeList);
  }
}

TEST_P(Secure, OverwrittenLinkIsNotFollowed) {
  expect_abort("write_over_links", kWrittenFreeList);
}

TEST_P(Secure, DeleteWithAnotherSizeIsReported) {
  expect_abort("delete_wrong_size_small", kWrongSize);
  expect_abort("delete_wrong_size_large", kWrongSize);
}

TEST_P(Secure, QuestionsAboutFreedBlocksAreReported) {
  expect_abort("realloc_after_free", kInvalidRealloc);
  expect_abort("realloc_inside", kInvalidRealloc);
  expect_abort("usable_size_after_free", kInvalidUsableSize);
}

TEST_P(Secure, NoBytesCannotBeRead) {
  expect_signal("read_empty", SIGSEGV);
  expect_abort("free_empty_twice", kDoubleFree);
  expect_silence("empty_blocks");
}

TEST_P(Secure, MemoryIsZeroWhenTakenAndWhenGivenBack) {
  expect_silence("zeros");
}

TEST_P(Secure, FreedBlockIsNotHandedOutAtOnce) {
  expect_silence("quarantine");
}

TEST_P(Secure, CorrectProgramIsLeftInPeace) {
  expect_silence("no_false_alarm");
  expect_silence("growth");
}

TEST_P(Secure, OrderOfBlocksDiffersFromRunToRun) {
  std::set<std::string> orders;
  for (int run = 0; run < 4; ++run) orders.insert(commit("order").output);
  EXPECT_EQ(orders.size(), 4U) << "two of four runs alike by chance: once in 10^13";
}

TEST_P(Secure, IsOnlyReportedWhenAskedToWarn) {
  expect_warning("p_q_p_small", kDoubleFree);
  expect_warning("overflow_100", kOverflow);
  expect_warning("inside_16", kInvalidFree);
  expect_warning("delete_wrong_size_small", kWrongSize);
  expect_warning("realloc_after_free", kInvalidRealloc);
}

INSTANTIATE_TEST_SUITE_P(Ways, Secure, ::testing::Values(Way::kLinked, Way::kPreloaded), way_name);
}  // namespace
}  // namespace drey::test
