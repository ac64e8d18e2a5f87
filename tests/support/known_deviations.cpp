// known_deviations.cpp: where the peers are known to differ from what these tests ask.
// One row a test, with the version it was seen in; drey has no rows and never gets any.
// Read next: subject.hpp.
// SPDX-License-Identifier: MIT
#include "support/subject.hpp"

#include <array>

namespace drey::test {
namespace {
struct Deviation {
  const char* subject;
  const char* test;
  const char* reason;
};

constexpr std::array kDeviations = {
    Deviation{"system", "PosixMemalign.SaysNoMemoryByItsResultAloneAndTouchesNothing",
              "glibc 2.36 sets errno as well"},
    Deviation{"system", "AlignedAlloc.RefusesWhatIsNoPowerOfTwo",
              "glibc before 2.38 rounds the alignment up"},
    Deviation{"system", "Limits.NothrowNewRefusesWithoutThrowing",
              "libstdc++ 12 wraps when it rounds the size of an aligned new"},
    Deviation{"system", "OperatorNew.ThrowsBadAllocWhenThereIsNoMemory",
              "libstdc++ 12 wraps when it rounds the size of an aligned new"},
    Deviation{"system", "Realloc.WithinTheUsableSizeDoesNotMove",
              "glibc 2.36 moves mapped blocks by mremap"},
    Deviation{"mimalloc", "Alignment.OfMallocIsSixteenForEverySize",
              "mimalloc 2.0.9 aligns blocks of up to 8 bytes to 8 only"},
    Deviation{"mimalloc", "Alignment.OfCallocIsSixteenForEverySize",
              "mimalloc 2.0.9 aligns blocks of up to 8 bytes to 8 only"},
    Deviation{"mimalloc", "Alignment.OfReallocIsSixteenForEverySize",
              "mimalloc 2.0.9 aligns blocks of up to 8 bytes to 8 only"},
    Deviation{"mimalloc", "Alignment.OfOperatorNewIsSixteenForSmallSizes",
              "mimalloc 2.0.9 aligns blocks of up to 8 bytes to 8 only"},
    Deviation{"mimalloc", "Alignment.StaysSixteenWhenBlocksAreReused",
              "mimalloc 2.0.9 aligns blocks of up to 8 bytes to 8 only"},
    Deviation{"mimalloc", "Alignment.HoldsWhenSizeEqualsAlignment",
              "mimalloc 2.0.9 misaligns blocks whose size is their alignment"},
    Deviation{"mimalloc", "AlignedAlloc.AcceptsAlignmentsBelowAPointersSize",
              "mimalloc 2.0.9 aligns blocks of up to 8 bytes to 8 only"},
    Deviation{"mimalloc", "AlignedAlloc.RefusesWhatIsNoPowerOfTwo",
              "mimalloc 2.0.9 does not set errno for a bad alignment"},
    Deviation{"mimalloc", "PageAligned.RoundingUpToAPageNeverWraps",
              "mimalloc 2.0.9 does not set errno when a size is too large"},
    Deviation{"mimalloc", "Limits.MallocRefuses",
              "mimalloc 2.0.9 does not set errno when a size is too large"},
    Deviation{"mimalloc", "Limits.CallocRefuses",
              "mimalloc 2.0.9 does not set errno when a size is too large"},
    Deviation{"mimalloc", "Limits.ReallocOfNullRefuses",
              "mimalloc 2.0.9 does not set errno when a size is too large"},
    Deviation{"mimalloc", "Limits.AlignedAllocRefusesAtEveryAlignment",
              "mimalloc 2.0.9 does not set errno when a size is too large"},
    Deviation{"mimalloc", "Limits.VallocAndPvallocRefuse",
              "mimalloc 2.0.9 does not set errno when a size is too large"},
    Deviation{"mimalloc", "Limits.AlignmentAndSizeTogetherNeverWrap",
              "mimalloc 2.0.9 does not set errno when a size is too large"},
    Deviation{"mimalloc", "CallocOverflow.AllPairsAroundPowersOfTwoAreRefused",
              "mimalloc 2.0.9 does not set errno when a size is too large"},
    Deviation{"mimalloc", "Realloc.ThatFailsLeavesTheBlockAlone",
              "mimalloc 2.0.9 does not set errno when a size is too large"},
    Deviation{"mimalloc", "Realloc.ToZeroFreesAndGivesNullWithoutAnError",
              "mimalloc 2.0.9 gives a block of size 0"},
    Deviation{"mimalloc", "FreeForms.EverySourceIsGivenBackByFreeAndByRealloc",
              "mimalloc 2.0.9 gives a block of size 0"},
    Deviation{"mimalloc", "OperatorNew.ThrowsBadAllocWhenThereIsNoMemory",
              "mimalloc 2.0.9, built as C, aborts where new should throw"},
    Deviation{"mimalloc", "OperatorNew.ContainersOfTheStandardLibraryLiveOnIt",
              "mimalloc 2.0.9, built as C, aborts where new should throw"},
    Deviation{"mimalloc", "NewHandler.IsCalledUntilItGivesUpThenBadAlloc",
              "mimalloc 2.0.9, built as C, aborts where new should throw"},
    Deviation{"mimalloc", "NewHandler.IsCalledByTheNothrowAndAlignedForms",
              "mimalloc 2.0.9 does not call the handler in these forms"},
    Deviation{"mimalloc", "NewHandler.MayThrowItsOwnException",
              "mimalloc 2.0.9, built as C, aborts where new should throw"},
    Deviation{"mimalloc", "NewHandler.MayFreeMemoryAndAllocate",
              "mimalloc 2.0.9, built as C, aborts where new should throw"},
    Deviation{"mimalloc", "AlignedNew.AcceptsSmallAlignments",
              "mimalloc 2.0.9 aligns blocks of up to 8 bytes to 8 only"},
    Deviation{"mimalloc", "AlignedNew.AllFormsPairWithAllDeletesWhileManyAreLive",
              "mimalloc 2.0.9 misaligns blocks whose size is their alignment"},
};
}  // namespace

std::string known_deviation(const std::string& test_name) {
  const std::string subject = intended_subject();
  if (subject == "drey") return {};
  for (const Deviation& row : kDeviations) {
    if (subject == row.subject && test_name == row.test) return row.reason;
  }
  return {};
}
}  // namespace drey::test
