// slab_map_test.cpp: both forms of the map: any address can be looked up, and only what was set is
// found.
//
// Method: maps of the test's own; addresses are numbers that nobody reads. The two-level form's
// table is one for the process, so its tests use addresses far apart and clear what they set.
// SPDX-License-Identifier: MIT
#include "core/slab_map.hpp"

#include "support/fake_os.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace drey::core {
namespace {
using fake_os::Call;

/// Maps that are never closed: they own address space only.
enum class Form { kFlat, kTwoLevels };

class SlabMapTest : public testing::TestWithParam<Form> {
 protected:
  SlabMapTest() {
    fake_os::reset();
    if (GetParam() == Form::kTwoLevels) fake_os::set_address_space_limit(8_GiB);
    map.open();
    fake_os::reset();
  }

  static void* address(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
  [[nodiscard]] bool is_flat() const { return GetParam() == Form::kFlat; }

  SlabMap map{nullptr, 0};
  Slab slab{};
  Slab other_slab{};
};

TEST_P(SlabMapTest, HasTheFormThatTheAddressSpaceAllows) {
  EXPECT_EQ(map.flat_mask.load(), is_flat() ? SlabMap::kSliceCount - 1 : 0u);
}

TEST_P(SlabMapTest, FindsNothingAtAnyAddressAndNeverFaults) {
  const std::uintptr_t end = std::uintptr_t{1} << os::kAddressBits;
  for (const std::uintptr_t number :
       {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{65535}, std::uintptr_t{65536},
        address_of(&map), address_of("text"), end - 1, end, end + 65536, std::uintptr_t{1} << 52,
        std::uintptr_t{0xFFFF'8000'0000'0000}, UINTPTR_MAX}) {
    EXPECT_EQ(map.find(address(number)), nullptr) << number;
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uintptr_t number = std::uintptr_t{1} << bit;
    EXPECT_EQ(map.find(address(number)), nullptr) << number;
    EXPECT_EQ(map.find(address(number - 1)), nullptr) << number - 1;
  }
}

TEST_P(SlabMapTest, FindsExactlyTheSlicesThatWereSet) {
  const std::uintptr_t start = 0x7000'0000'0000;
  ASSERT_TRUE(map.make_writable(address(start), 64_MiB));
  map.set(address(start), 3, &slab);
  map.set(address(start + 3 * kSliceBytes), 1, &other_slab);
  EXPECT_EQ(map.find(address(start - 1)), nullptr);
  EXPECT_EQ(map.find(address(start)), &slab);
  EXPECT_EQ(map.find(address(start + 3 * kSliceBytes - 1)), &slab);
  EXPECT_EQ(map.find(address(start + 3 * kSliceBytes)), &other_slab);
  EXPECT_EQ(map.find(address(start + 4 * kSliceBytes)), nullptr);
  map.set(address(start), 3, nullptr);
  EXPECT_EQ(map.find(address(start)), nullptr);
  EXPECT_EQ(map.find(address(start + 3 * kSliceBytes)), &other_slab);
  map.set(address(start + 3 * kSliceBytes), 1, nullptr);
}

TEST_P(SlabMapTest, HoldsRangesAcrossEveryInnerBorder) {
  const std::uintptr_t border = 0x6000'8000'0000;  // 2 GiB: a leaf ends; a page of entries too
  ASSERT_TRUE(map.make_writable(address(border - 2 * kSliceBytes), 4 * kSliceBytes));
  map.set(address(border - 2 * kSliceBytes), 4, &slab);
  EXPECT_EQ(map.find(address(border - 1)), &slab);
  EXPECT_EQ(map.find(address(border)), &slab);
  EXPECT_EQ(map.find(address(border + 2 * kSliceBytes)), nullptr);
  map.set(address(border - 2 * kSliceBytes), 4, nullptr);
  EXPECT_EQ(map.find(address(border)), nullptr);
}

TEST_P(SlabMapTest, HoldsTheLastSliceAndRefusesWhatIsBeyond) {
  const std::uintptr_t end = std::uintptr_t{1} << os::kAddressBits;
  ASSERT_TRUE(map.make_writable(address(end - kSliceBytes), kSliceBytes));
  map.set(address(end - kSliceBytes), 1, &slab);
  EXPECT_EQ(map.find(address(end - 1)), &slab);
  map.set(address(end - kSliceBytes), 1, nullptr);
  EXPECT_FALSE(map.make_writable(address(end), kSliceBytes));
  EXPECT_FALSE(map.make_writable(address(end - kSliceBytes), 2 * kSliceBytes));
}

TEST_P(SlabMapTest, SaysSoWhereItsOwnMemoryIsRefused) {
  const std::uintptr_t start = is_flat() ? 0x5000'0000'0000 : 0x5001'0000'0000;
  fake_os::fail_all(is_flat() ? Call::kCommit : Call::kMap, true);
  EXPECT_FALSE(map.make_writable(address(start), kSliceBytes));
  EXPECT_EQ(map.find(address(start)), nullptr);
  fake_os::reset();
  EXPECT_TRUE(map.make_writable(address(start), kSliceBytes));
  map.set(address(start), 1, &slab);
  EXPECT_EQ(map.find(address(start)), &slab);
  map.set(address(start), 1, nullptr);
}

TEST_P(SlabMapTest, CostsMemoryOnlyWhereSomethingIsSet) {
  const std::uintptr_t start = 0x4000'0000'0000;
  ASSERT_TRUE(map.make_writable(address(start), 64_MiB));
  const Call kind = is_flat() ? Call::kCommit : Call::kMap;
  EXPECT_LE(fake_os::bytes(kind), is_flat() ? 12_KiB : 256_KiB);
}

INSTANTIATE_TEST_SUITE_P(BothForms, SlabMapTest, testing::Values(Form::kFlat, Form::kTwoLevels),
                         [](const testing::TestParamInfo<Form>& form) {
                           return form.param == Form::kFlat ? "Flat" : "TwoLevels";
                         });

TEST(SlabMap, BeforeItIsOpenedFindsNothing) {
  const SlabMap map{nullptr, 0};
  for (unsigned bit = 0; bit < 64; ++bit) {
    // Above every address another test sets; none of them leaves an entry behind.
    EXPECT_EQ(map.find(reinterpret_cast<void*>(std::uintptr_t{1} << bit)), nullptr);
  }
}

TEST(SlabMap, ARefusedReservationLeavesTheTwoLevels) {
  fake_os::reset();
  fake_os::fail_all(Call::kReserveReadable, true);
  SlabMap map{nullptr, 0};
  map.open();
  fake_os::reset();
  EXPECT_EQ(map.flat_mask.load(), 0u);
  void* const start = reinterpret_cast<void*>(0x3000'0000'0000);
  ASSERT_TRUE(map.make_writable(start, kSliceBytes));
  const Slab slab{};
  map.set(start, 1, &slab);
  EXPECT_EQ(map.find(start), &slab);
  map.set(start, 1, nullptr);
}

}  // namespace
}  // namespace drey::core
