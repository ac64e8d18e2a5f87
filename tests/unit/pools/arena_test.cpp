// arena_test.cpp: what one thread sees of an arena: places, alignment, limits, marks, reuse.
//
// The random test keeps a model: every piece alive holds a pattern of its own, none overlaps another,
// and a rewind ends exactly the pieces taken since its mark.
// SPDX-License-Identifier: MIT
#include <drey/base/bits.hpp>
#include <drey/pools/arena.hpp>

#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <type_traits>
#include <vector>

namespace drey {
namespace {
static_assert(!std::is_copy_constructible_v<Arena> && !std::is_move_constructible_v<Arena>);
static_assert(!std::is_convertible_v<std::size_t, Arena>, "an arena is made on purpose");
static_assert(noexcept(std::declval<Arena&>().allocate(1)));

TEST(Arena, TakesNoMemoryBeforeTheFirstPiece) {
  const Arena arena;
  EXPECT_EQ(arena.statistics().reserved_bytes, 0U);
  EXPECT_EQ(arena.statistics().chunk_count, 0U);
  EXPECT_TRUE(arena.invariants_hold());
}

TEST(Arena, LaysPiecesSideBySideOnSixteenBytes) {
  Arena arena;
  auto* const first = static_cast<std::byte*>(arena.allocate(64));
  auto* const second = static_cast<std::byte*>(arena.allocate(1));
  auto* const third = static_cast<std::byte*>(arena.allocate(17));
  auto* const fourth = static_cast<std::byte*>(arena.allocate(16));
  EXPECT_EQ(second - first, 64);
  EXPECT_EQ(third - second, 16);
  EXPECT_EQ(fourth - third, 32);
  EXPECT_EQ(arena.statistics().used_bytes, 64U + 16 + 32 + 16);
}

TEST(Arena, GivesZeroBytesAPlaceOfTheirOwn) {
  Arena arena;
  std::set<void*> places;
  for (int i = 0; i < 100; ++i) places.insert(arena.allocate(0));
  EXPECT_EQ(places.size(), 100U);
  EXPECT_EQ(places.count(nullptr), 0U);
}

TEST(Arena, AlignsUpToAndBeyondAPage) {
  Arena arena;
  for (std::size_t alignment = 1; alignment <= 1_MiB; alignment *= 2) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
      void* const piece = arena.allocate(bytes, alignment);
      ASSERT_NE(piece, nullptr) << alignment;
      EXPECT_TRUE(is_aligned(piece, alignment)) << alignment;
      std::memset(piece, 0x5A, bytes);
    }
  }
  EXPECT_TRUE(arena.invariants_hold());
}

TEST(Arena, RefusesAlignmentsThatAreNoPowerOfTwo) {
  Arena arena;
  for (const std::size_t alignment :
       {std::size_t{0}, std::size_t{3}, std::size_t{24}, std::size_t{65}, SIZE_MAX, 2_GiB}) {
    EXPECT_EQ(arena.allocate(16, alignment), nullptr) << alignment;
  }
  EXPECT_EQ(arena.statistics().refused_count, 6U);
  EXPECT_EQ(arena.statistics().used_bytes, 0U);
}

TEST(Arena, RefusesSizesNearTheEndOfAllNumbers) {
  Arena arena;
  ASSERT_NE(arena.allocate(64), nullptr);
  const std::size_t used_bytes = arena.statistics().used_bytes;
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 16, SIZE_MAX - 4096,
                                  SIZE_MAX / 2, SIZE_MAX / 2 - 1_GiB, SIZE_MAX / 2 - 4_GiB}) {
    for (const std::size_t alignment : {std::size_t{1}, std::size_t{16}, std::size_t{4096}, 1_GiB})
      EXPECT_EQ(arena.allocate(bytes, alignment), nullptr) << bytes << " on " << alignment;
  }
  EXPECT_EQ(arena.allocate_array<double>(SIZE_MAX / 8 + 2).data(), nullptr);
  EXPECT_EQ(arena.statistics().used_bytes, used_bytes) << "a refusal changes nothing";
  EXPECT_NE(arena.allocate(64), nullptr);
  EXPECT_TRUE(arena.invariants_hold());
}

TEST(Arena, GivesOversizePiecesAChunkOfTheirSize) {
  Arena arena(4_KiB);
  auto* const piece = static_cast<std::byte*>(arena.allocate(10_MiB, 4096));
  ASSERT_NE(piece, nullptr);
  std::memset(piece, 1, 10_MiB);
  EXPECT_LT(arena.statistics().reserved_bytes, 10_MiB + 16_KiB);
  ASSERT_NE(arena.allocate(64), nullptr);
  EXPECT_TRUE(arena.invariants_hold());
}

TEST(Arena, IsExhaustedAtItsLimitAndUsableBelow) {
  Arena arena(4_KiB, 16_KiB);
  std::size_t pieces = 0;
  while (arena.allocate(256) != nullptr) ++pieces;
  EXPECT_GE(pieces, 16_KiB / 256 - 4);
  EXPECT_LE(arena.statistics().reserved_bytes, 16_KiB);
  EXPECT_EQ(arena.statistics().refused_count, 1U);
  arena.reset();
  EXPECT_NE(arena.allocate(256), nullptr);
  Arena without_room(4_KiB, 0);
  EXPECT_EQ(without_room.allocate(1), nullptr);
  EXPECT_TRUE(without_room.invariants_hold());
}

TEST(Arena, TakesAHugeFirstChunkForWhatItNeedsWhereThereIsNoRoom) {
  Arena arena(SIZE_MAX);
  EXPECT_NE(arena.allocate(64), nullptr);
  EXPECT_LT(arena.statistics().reserved_bytes, 1_KiB);
}

TEST(Arena, ResetsToTheSamePlacesWithoutNewMemory) {
  Arena arena(4_KiB);
  std::vector<void*> first_round(1000);
  for (int i = 0; i < 1000; ++i) first_round[i] = arena.allocate(i % 7 == 0 ? 9000 : 100);
  const std::size_t reserved_bytes = arena.statistics().reserved_bytes;
  arena.reset();
  EXPECT_EQ(arena.statistics().used_bytes, 0U);
  EXPECT_EQ(arena.statistics().reserved_bytes, reserved_bytes);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(arena.allocate(i % 7 == 0 ? 9000 : 100), first_round[i]) << i;
  EXPECT_EQ(arena.statistics().reserved_bytes, reserved_bytes);
  EXPECT_TRUE(arena.invariants_hold());
}

TEST(Arena, RewindsToAMarkAcrossChunks) {
  Arena arena(1_KiB);
  ASSERT_NE(arena.allocate(100), nullptr);
  const ArenaMark mark = arena.mark();
  const std::size_t used_bytes = arena.statistics().used_bytes;
  void* const next = arena.allocate(100);
  for (int i = 0; i < 1000; ++i) ASSERT_NE(arena.allocate(500), nullptr);
  EXPECT_GT(arena.statistics().chunk_count, 2U);
  arena.rewind(mark);
  EXPECT_EQ(arena.statistics().used_bytes, used_bytes);
  EXPECT_TRUE(arena.invariants_hold());
  EXPECT_EQ(arena.allocate(100), next);
  arena.rewind(mark);
  EXPECT_EQ(arena.allocate(100), next) << "a mark may be used again";
}

TEST(Arena, RewindsToAMarkOfTheEmptyArena) {
  Arena arena;
  const ArenaMark mark = arena.mark();
  ASSERT_NE(arena.allocate(100), nullptr);
  arena.rewind(mark);
  EXPECT_EQ(arena.statistics().used_bytes, 0U);
}

TEST(Arena, ScopesNest) {
  Arena arena;
  const ArenaScope outer(arena);
  ASSERT_NE(arena.allocate(100), nullptr);
  const std::size_t used_bytes = arena.statistics().used_bytes;
  {
    const ArenaScope inner(arena);
    ASSERT_NE(arena.allocate(1_MiB), nullptr);
  }
  EXPECT_EQ(arena.statistics().used_bytes, used_bytes);
}

TEST(Arena, KnowsWhatItHandedOut) {
  Arena arena(1_KiB);
  auto* const small = static_cast<std::byte*>(arena.allocate(100));
  auto* const large = static_cast<std::byte*>(arena.allocate(5000));
  EXPECT_TRUE(arena.owns(small) && arena.owns(large) && arena.owns(large + 4999));
  int elsewhere = 0;
  EXPECT_FALSE(arena.owns(&elsewhere));
  EXPECT_FALSE(arena.owns(nullptr));
  arena.reset();
  EXPECT_FALSE(arena.owns(small) || arena.owns(large));
}

TEST(Arena, MakesObjectsAndArrays) {
  struct Point {
    double x;
    double y;
  };
  Arena arena;
  const Point* const point = arena.make<Point>(Point{1.0, 2.0});
  ASSERT_NE(point, nullptr);
  EXPECT_EQ(point->y, 2.0);
  const std::span<float> values = arena.allocate_array<float>(225);
  ASSERT_EQ(values.size(), 225U);
  EXPECT_EQ(address_of(values.data()) - address_of(point), sizeof(Point));
  EXPECT_NE(arena.allocate_array<float>(0).data(), nullptr);
}

TEST(Arena, ReleasesItsMemoryAndBeginsAgain) {
  Arena arena;
  ASSERT_NE(arena.allocate(100), nullptr);
  arena.release();
  EXPECT_EQ(arena.statistics().reserved_bytes, 0U);
  EXPECT_TRUE(arena.invariants_hold());
  EXPECT_NE(arena.allocate(100), nullptr);
}

TEST(ArenaDeathTest, NamesAMarkOfAnotherArena) {
  Arena arena;
  Arena other;
  ASSERT_NE(other.allocate(1), nullptr);
  EXPECT_DEATH(arena.rewind(other.mark()), "^drey: arena: rewound to a mark of another arena");
}

TEST(ArenaDeathTest, NamesAMarkAfterARewindToAnEarlierOne) {
  Arena arena;
  ASSERT_NE(arena.allocate(16), nullptr);
  const ArenaMark early = arena.mark();
  ASSERT_NE(arena.allocate(16), nullptr);
  const ArenaMark late = arena.mark();
  arena.rewind(early);
  EXPECT_DEATH(arena.rewind(late), "no longer valid");
}

TEST(ArenaDeathTest, NamesAMarkFromBeforeAReset) {
  Arena arena(1_KiB);
  for (int i = 0; i < 10; ++i) ASSERT_NE(arena.allocate(900), nullptr);
  const ArenaMark mark = arena.mark();
  arena.reset();
  ASSERT_NE(arena.allocate(16), nullptr);
  EXPECT_DEATH(arena.rewind(mark), "no longer valid");
}

TEST(ArenaDeathTest, NamesAMarkFromBeforeARelease) {
  Arena arena;
  ASSERT_NE(arena.allocate(16), nullptr);
  const ArenaMark mark = arena.mark();
  arena.release();
  EXPECT_DEATH(arena.rewind(mark), "no longer valid");
}

struct ModelPiece {
  unsigned char* place;
  std::size_t bytes;
  unsigned char pattern;
};

void expect_intact(const ModelPiece& piece) {
  for (std::size_t i = 0; i < piece.bytes; ++i) ASSERT_EQ(piece.place[i], piece.pattern) << i;
}

void take_piece(Arena& arena, std::mt19937_64& random, std::vector<ModelPiece>& pieces) {
  const std::size_t bytes = below(random, 20) == 0 ? below(random, 20'000) : below(random, 300);
  const std::size_t alignment = std::size_t{1} << below(random, below(random, 8) == 0 ? 14 : 7);
  auto* const place = static_cast<unsigned char*>(arena.allocate(bytes, alignment));
  ASSERT_NE(place, nullptr);
  ASSERT_TRUE(is_aligned(place, alignment));
  const auto pattern = static_cast<unsigned char>(random());
  if (bytes != 0) std::memset(place, pattern, bytes);
  pieces.push_back({place, bytes, pattern});
}

TEST(Arena, BehavesLikeAStackOfPieces) {
  std::mt19937_64 random = seeded_random(225);
  Arena arena(2_KiB);
  std::vector<ModelPiece> pieces;
  std::vector<std::pair<ArenaMark, std::size_t>> marks;  // and the number of pieces then
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t choice = below(random, 100);
    if (choice < 80) {
      take_piece(arena, random, pieces);
    } else if (choice < 90) {
      marks.emplace_back(arena.mark(), pieces.size());
    } else if (choice < 98 && !marks.empty()) {
      marks.resize(below(random, marks.size()) + 1);
      for (std::size_t i = marks.back().second; i < pieces.size(); ++i) expect_intact(pieces[i]);
      arena.rewind(marks.back().first);
      pieces.resize(marks.back().second);
    } else if (choice == 99) {
      for (const ModelPiece& piece : pieces) expect_intact(piece);
      arena.reset();
      pieces.clear();
      marks.clear();
    }
    if (step % 100 == 0) {
      ASSERT_TRUE(arena.invariants_hold()) << step;
    }
    if (HasFatalFailure()) return;
  }
  for (const ModelPiece& piece : pieces) expect_intact(piece);
}
}  // namespace
}  // namespace drey
