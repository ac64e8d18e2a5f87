// parcel_test.cpp: packing freed blocks into a few of them, and what of damage is found on opening.
// SPDX-License-Identifier: MIT
#include "core/parcel.hpp"

#include "core/misuse.hpp"
#include "support/seeded_random.hpp"
#include "support/test_slab.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace drey::core {
namespace {

/// A slab whose blocks are all handed out, and chains of them.
class ParcelTest : public testing::TestWithParam<std::size_t> {
 protected:
  ParcelTest() {
    slab->become_current();
    blocks = take_all(*slab);
  }

  /// Packs blocks [first, first + count) and links the chain as hand_over() does.
  Block* packed(std::size_t first, std::uint32_t count, Block* next = nullptr) {
    std::vector<Place> places;
    for (std::uint32_t index = 0; index < count; ++index) {
      places.push_back(place_of(*slab, blocks[first + index]));
    }
    const Parcels parcels = pack(*slab, places.data(), count);
    link_parcel(parcels.tail, next, parcels.tail_places);
    return parcels.head;
  }

  std::set<Block*> some(std::size_t first, std::size_t count) {
    return {blocks.begin() + static_cast<std::ptrdiff_t>(first),
            blocks.begin() + static_cast<std::ptrdiff_t>(first + count)};
  }

  TestSlab slab{class_of(GetParam())};
  std::vector<Block*> blocks;
};

TEST_P(ParcelTest, EveryBlockThatIsPackedIsUnpackedOnce) {
  const auto all = static_cast<std::uint32_t>(std::min<std::size_t>(blocks.size(), 200));
  for (std::uint32_t count = 1; count <= all; ++count) {
    BlockList list;
    ASSERT_TRUE(unpack(*slab, packed(0, count), slab->carved, list));
    const std::vector<Block*> opened = list_of(list.head);
    EXPECT_EQ(list.count, count);
    EXPECT_EQ(opened.back(), list.tail);
    EXPECT_EQ(opened.size(), count);
    EXPECT_EQ(std::set<Block*>(opened.begin(), opened.end()), some(0, count));
  }
}

TEST_P(ParcelTest, ChainsOfSeveralSendersAndPlainBlocksOpenTogether) {
  Block* chain = packed(0, 3);
  for (std::size_t index = 3; index < 6; ++index) {
    link(blocks[index], chain);  // a block that was handed over alone
    chain = blocks[index];
  }
  chain = packed(6, 1, chain);
  std::set<Block*> seen;
  visit_parcels(*slab, chain,
                [&](const Block* block) { return seen.insert(const_cast<Block*>(block)).second; });
  EXPECT_EQ(seen, some(0, 7));
  BlockList list;
  ASSERT_TRUE(unpack(*slab, chain, slab->carved, list));
  EXPECT_EQ(list.count, 7u);
  EXPECT_TRUE(all_distinct(list_of(list.head)));
}

TEST_P(ParcelTest, OnlyTheBlocksThatCarryAreWritten) {
  constexpr std::byte kMark{0xA5};
  const std::uint32_t count = 8;
  for (Block* const block : some(0, count)) {
    std::fill_n(reinterpret_cast<std::byte*>(block), GetParam(), kMark);
  }
  static_cast<void>(packed(0, count));
  std::size_t written = 0;
  for (Block* const block : some(0, count)) {
    written += *reinterpret_cast<const std::byte*>(block) != kMark;
  }
  EXPECT_EQ(written, divide_up(count, parcel_places_max(GetParam()) + 1));
}

using ParcelDeathTest = ParcelTest;

TEST_P(ParcelDeathTest, ABlockTwiceInOneParcelIsADoubleFree) {
  blocks[4] = blocks[1];
  BlockList list;
  EXPECT_DEATH(static_cast<void>(unpack(*slab, packed(0, 6), slab->carved, list)), "double free");
}

TEST_P(ParcelDeathTest, ABlockTwiceInTwoParcelsIsADoubleFree) {
  blocks[4] = blocks[1];
  Block* const chain = packed(3, 3, packed(0, 3));
  BlockList list;
  EXPECT_DEATH(static_cast<void>(unpack(*slab, chain, slab->carved, list)), "double free");
}

TEST_P(ParcelDeathTest, ABlockTwiceInALongChainIsADoubleFree) {
  Block* chain = nullptr;
  for (std::size_t index = 0; index < 40; ++index) chain = packed(index, 1, chain);
  blocks[40] = blocks[7];
  // Linked by hand: packing block 7 again would end the chain there.
  chain = packed(41, 1, chain);
  std::vector<Place> places{place_of(*slab, blocks[42]), place_of(*slab, blocks[40])};
  const Parcels parcels = pack(*slab, places.data(), 2);
  link_parcel(parcels.tail, chain, parcels.tail_places);
  BlockList list;
  EXPECT_DEATH(static_cast<void>(unpack(*slab, parcels.head, slab->carved, list)), "double free");
}

TEST_P(ParcelDeathTest, MoreBlocksThanAreLiveAreADoubleFree) {
  BlockList list;
  EXPECT_DEATH(static_cast<void>(unpack(*slab, packed(0, 6), 5, list)), "double free");
}

TEST_P(ParcelDeathTest, APlaceThatWasOverwrittenIsFoundBeforeItIsFollowed) {
  if (kSecure) GTEST_SKIP() << "a secure build's parcels carry nothing";
  Block* const chain = packed(0, 3);
  const std::uint32_t end = slab->carved * slab->block_bytes / kMinAlignmentBytes;
  if (end > 0xFFFF) GTEST_SKIP() << "every place lies in a slab of 65,536 places";
  places_of(chain)[0] = static_cast<Place>(end);
  BlockList list;
  EXPECT_DEATH(static_cast<void>(unpack(*slab, chain, slab->carved, list)), "write after free");
}

TEST_P(ParcelDeathTest, ACountThatWasOverwrittenIsFound) {
  if (kSecure) GTEST_SKIP() << "a secure build's parcels carry nothing";
  Block* const chain = packed(0, 3);
  link_parcel(chain, nullptr, parcel_places_max(GetParam()) + 1);
  BlockList list;
  EXPECT_DEATH(static_cast<void>(unpack(*slab, chain, slab->carved, list)), "write after free");
}

INSTANTIATE_TEST_SUITE_P(Sizes, ParcelTest, testing::Values(16, 48, 64, 1024),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Sizes, ParcelDeathTest, testing::Values(16, 64, 1024),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace drey::core
