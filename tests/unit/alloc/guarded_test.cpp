// guarded_test.cpp: blocks between guard pages, and what becomes of them when they are freed.
// SPDX-License-Identifier: MIT
#include "core/guarded.hpp"

#include "core/guarded_quarantine.hpp"
#include "os/os.hpp"
#include "support/fake_os.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace drey::core {
namespace {
using fake_os::Call;
constexpr std::size_t kBytes = 300001;

class GuardedTest : public testing::Test {
 protected:
  GuardedTest() {
    empty_quarantine();
    fake_os::reset();
  }
  ~GuardedTest() override { empty_quarantine(); }

  static GuardedBlock take(std::size_t bytes) {
    const GuardedBlock block = map_guarded(bytes, 16, false);
    EXPECT_NE(block.start, nullptr);
    std::memset(block.start, 0xAB, bytes);
    return block;
  }
  static void take_and_free(std::size_t bytes, std::size_t count = 1) {
    for (std::size_t index = 0; index < count; ++index) unmap_guarded(take(bytes), bytes);
  }
  static bool reads_zero(const GuardedBlock& block, std::size_t bytes) {
    return std::all_of(block.start, block.start + bytes,
                       [](std::byte byte) { return byte == std::byte{0}; });
  }
};
using GuardedDeathTest = GuardedTest;

TEST_F(GuardedTest, AFreedBlockIsUsedAgainAfterEightMoreFreesAndIsZero) {
  take_and_free(kBytes);
  const std::size_t kept = fake_os::calls(Call::kReserve);
  take_and_free(kBytes, 8);
  EXPECT_EQ(fake_os::calls(Call::kReserve), kept + 8) << "the first still waits";
  const GuardedBlock again = map_guarded(kBytes, 16, false);
  EXPECT_EQ(fake_os::calls(Call::kReserve), kept + 8);
  EXPECT_TRUE(reads_zero(again, kBytes));
  EXPECT_TRUE(guarded_tail_is_intact(again.start, kBytes));
  unmap_guarded(again, kBytes);
}

TEST_F(GuardedTest, AShorterBlockEndsAtTheSameGuardAndMayTakeAQuarterMore) {
  const GuardedBlock first = take(kBytes);
  std::byte* const end = first.start + kBytes;
  unmap_guarded(first, kBytes);
  take_and_free(2000000, 9);  // too long to be kept
  const GuardedBlock shorter = map_guarded(kBytes - kBytes / 6, 16, false);
  EXPECT_LE(end - (shorter.start + kBytes - kBytes / 6), 16) << "it ends where the page does";
  EXPECT_TRUE(reads_zero(shorter, kBytes - kBytes / 6));
  unmap_guarded(shorter, kBytes - kBytes / 6);
  const std::size_t reserved = fake_os::calls(Call::kReserve);
  take_and_free(2000000, 9);
  take_and_free(kBytes / 2);
  EXPECT_EQ(fake_os::calls(Call::kReserve), reserved + 10) << "half of it would waste too much";
}

TEST_F(GuardedDeathTest, TheGuardBeforeAShorterBlockOfAKeptMappingFaults) {
  take_and_free(kBytes);
  take_and_free(2000000, 9);
  const std::size_t bytes = kBytes - kBytes / 6;
  const GuardedBlock shorter = map_guarded(bytes, 16, false);
  const std::size_t lead = reinterpret_cast<std::uintptr_t>(shorter.start) % os::page_bytes();
  EXPECT_DEATH(*(shorter.start - lead - 1) = std::byte{1}, "");
  EXPECT_DEATH(shorter.start[bytes + os::page_bytes()] = std::byte{1}, "");
  unmap_guarded(shorter, bytes);
}

TEST_F(GuardedDeathTest, AWriteToAKeptMappingIsFoundByWhoGetsIt) {
  for (const std::size_t offset : {std::size_t{0}, kBytes / 2, kBytes - 1}) {
    const GuardedBlock block = take(kBytes);
    unmap_guarded(block, kBytes);
    take_and_free(2000000, 9);
    block.start[offset] = std::byte{1};
    EXPECT_DEATH(static_cast<void>(map_guarded(kBytes, 16, false)), "was written to after");
    empty_quarantine();
  }
}

TEST_F(GuardedDeathTest, ABlockAboveAMebibyteFaultsAsSoonAsItIsFreed) {
  const GuardedBlock block = take(2000000);
  unmap_guarded(block, 2000000);
  EXPECT_DEATH(*block.start = std::byte{1}, "");
}

TEST_F(GuardedTest, WhatIsKeptIsBounded) {
  std::vector<GuardedBlock> blocks;
  for (int index = 0; index < 30; ++index) blocks.push_back(take(900000));
  const std::uint64_t purges = fake_os::calls(Call::kPurge);
  for (const GuardedBlock& block : blocks) unmap_guarded(block, 900000);
  const std::size_t dropped = fake_os::calls(Call::kPurge) - purges;
  EXPECT_EQ(30 - dropped, kKeptBytesMax / 901120) << "901,120 bytes of pages each";
}

TEST_F(GuardedTest, TheSecondTickDropsWhatIsKept) {
  const GuardedBlock block = take(kBytes);
  unmap_guarded(block, kBytes);
  drop_kept_mappings(true);
  EXPECT_TRUE(os::is_resident(block.start));
  drop_kept_mappings(true);
  EXPECT_FALSE(os::is_resident(block.start));
  take_and_free(2000000, 9);
  EXPECT_EQ(take_kept_mapping(kBytes).start, nullptr);
}

TEST_F(GuardedTest, EveryFailureLeavesNothingBehind) {
  const std::size_t held = fake_os::held_bytes();
  for (std::uint64_t n = 1; n < 40; ++n) {
    fake_os::fail_nth(n);
    for (int index = 0; index < 12; ++index) {
      const GuardedBlock block = map_guarded(kBytes - 4096 * (index % 3), 16, false);
      if (block.start != nullptr) unmap_guarded(block, kBytes - 4096 * (index % 3));
    }
    fake_os::fail_nth(0);
    empty_quarantine();
    EXPECT_EQ(fake_os::held_bytes(), held) << n;
  }
}

}  // namespace
}  // namespace drey::core
