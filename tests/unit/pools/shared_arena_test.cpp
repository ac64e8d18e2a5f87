// shared_arena_test.cpp: threads allocate from one arena at once; no two pieces overlap.
//
// Method: every piece is filled with its thread's pattern at once and checked at the end, and all
// pieces together are sorted and compared with their neighbours. Fixed numbers of operations.
// SPDX-License-Identifier: MIT
#include <drey/base/bits.hpp>
#include <drey/pools/shared_arena.hpp>

#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace drey {
namespace {
struct Piece {
  unsigned char* place;
  std::size_t bytes;
  unsigned char pattern;
};

/// Takes pieces by `allocate(bytes, alignment)` and fills them.
template <typename Allocate>
[[nodiscard]] std::vector<Piece> take_pieces(int count, unsigned char pattern, std::uint64_t seed,
                                             Allocate allocate) {
  std::mt19937_64 random(seed);
  std::vector<Piece> pieces;
  for (int i = 0; i < count; ++i) {
    const std::size_t bytes = below(random, 50) == 0 ? below(random, 9000) : below(random, 200);
    const std::size_t alignment = std::size_t{1} << below(random, 9);
    auto* const place = static_cast<unsigned char*>(allocate(bytes, alignment));
    EXPECT_NE(place, nullptr);
    if (place == nullptr) break;
    EXPECT_TRUE(is_aligned(place, alignment));
    if (bytes != 0) std::memset(place, pattern, bytes);
    pieces.push_back({place, bytes, pattern});
  }
  return pieces;
}

void expect_apart_and_intact(std::vector<Piece> pieces) {
  std::ranges::sort(pieces, {}, [](const Piece& piece) { return address_of(piece.place); });
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
    ASSERT_LE(pieces[i].place + std::max<std::size_t>(pieces[i].bytes, 1), pieces[i + 1].place);
  for (const Piece& piece : pieces) {
    ASSERT_EQ(std::count(piece.place, piece.place + piece.bytes, piece.pattern),
              static_cast<std::ptrdiff_t>(piece.bytes));
  }
}

/// Runs `work(thread)` in four threads and checks all they took.
template <typename Work>
void check_in_threads(Work work) {
  constexpr int kThreads = 4;
  std::vector<std::vector<Piece>> taken(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] { taken[thread] = work(thread); });
  for (std::thread& thread : threads) thread.join();
  std::vector<Piece> all;
  for (const std::vector<Piece>& pieces : taken)
    all.insert(all.end(), pieces.begin(), pieces.end());
  EXPECT_EQ(all.size(), kThreads * 5000U);
  expect_apart_and_intact(std::move(all));
}

TEST(SharedArena, GivesThreadsPiecesThatDoNotOverlap) {
  const std::uint64_t seed = seeded_random(7)();
  SharedArena arena(8_KiB);  // chunks end all the time
  for (int round = 0; round < 3; ++round) {
    check_in_threads([&](int thread) {
      return take_pieces(5000, static_cast<unsigned char>(thread + 1), seed + thread,
                         [&](std::size_t bytes, std::size_t alignment) {
                           return arena.allocate(bytes, alignment);
                         });
    });
    EXPECT_TRUE(arena.invariants_hold());
    arena.reset();
    EXPECT_TRUE(arena.invariants_hold());
    EXPECT_EQ(arena.statistics().used_bytes, 0U);
  }
}

TEST(SharedArenaSlice, GivesThreadsPiecesThatDoNotOverlap) {
  const std::uint64_t seed = seeded_random(8)();
  SharedArena arena(64_KiB);
  check_in_threads([&](int thread) {
    SharedArenaSlice slice(arena, 2_KiB);
    return take_pieces(
        5000, static_cast<unsigned char>(thread + 1), seed + thread,
        [&](std::size_t bytes, std::size_t alignment) { return slice.allocate(bytes, alignment); });
  });
  EXPECT_TRUE(arena.invariants_hold());
}

TEST(SharedArena, IsExhaustedForAllThreadsAtItsLimit) {
  SharedArena arena(4_KiB, 64_KiB);
  std::vector<std::size_t> counts(4);
  std::vector<std::thread> threads;
  threads.reserve(counts.size());
  for (std::size_t& count : counts) {
    threads.emplace_back([&] {
      while (arena.allocate(64) != nullptr) ++count;
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Not before: a thread may find no room for a chunk that another has reserved and is about to add.
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(arena.allocate(64), nullptr);
  std::size_t pieces = 0;
  for (const std::size_t count : counts) pieces += count;
  EXPECT_LE(pieces, 64_KiB / 64);
  EXPECT_GE(pieces, 15 * (4_KiB - 128) / 64) << "all chunks but one at most were handed out whole";
  EXPECT_LE(arena.statistics().reserved_bytes, 64_KiB);
  arena.reset();
  EXPECT_NE(arena.allocate(64), nullptr);
}

TEST(SharedArena, RefusesWhatCannotBe) {
  SharedArena arena;
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2, SIZE_MAX / 2 - 4_GiB}) {
    for (const std::size_t alignment : {std::size_t{1}, std::size_t{4096}, 1_GiB})
      EXPECT_EQ(arena.allocate(bytes, alignment), nullptr) << bytes << " on " << alignment;
  }
  for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, SIZE_MAX, 2_GiB}) {
    EXPECT_EQ(arena.allocate(16, alignment), nullptr) << alignment;
    EXPECT_EQ(SharedArenaSlice(arena).allocate(16, alignment), nullptr) << alignment;
  }
  SharedArena without_room(1_MiB, 0);
  EXPECT_EQ(without_room.allocate(1), nullptr);
  EXPECT_NE(arena.allocate(1), nullptr);
}

TEST(SharedArena, AlignsBeyondAPage) {
  SharedArena arena(64_KiB);
  for (std::size_t alignment = 1; alignment <= 1_MiB; alignment *= 2) {
    void* const piece = arena.allocate(100, alignment);
    ASSERT_NE(piece, nullptr);
    EXPECT_TRUE(is_aligned(piece, alignment)) << alignment;
    std::memset(piece, 1, 100);
  }
}

TEST(SharedArena, UsesItsMemoryAgainAfterAReset) {
  SharedArena arena(4_KiB);
  std::size_t reserved_bytes = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 500; ++i) ASSERT_NE(arena.allocate(i % 20 == 0 ? 3000 : 64), nullptr);
    if (round == 0) reserved_bytes = arena.statistics().reserved_bytes;
    EXPECT_EQ(arena.statistics().reserved_bytes, reserved_bytes) << round;
    arena.reset();
  }
  arena.release();
  EXPECT_EQ(arena.statistics().chunk_count, 0U);
  EXPECT_EQ(arena.statistics().reserved_bytes, 0U);
  EXPECT_NE(arena.allocate(64), nullptr);
}
}  // namespace
}  // namespace drey
