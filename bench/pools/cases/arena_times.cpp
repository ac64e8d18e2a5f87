// arena_times.cpp: pieces of 64 bytes from an arena that is given back whole: 16,384 of them (1 MiB),
// then one reset; and what a reset costs when there are many chunks.
//
// monotonic_buffer_resource twice: over the system's malloc, to which release() returns its memory,
// and over a buffer that is large enough, which is as cheap as it can be.
// Read next: pool_cases.hpp.
// SPDX-License-Identifier: MIT
#include "pools/cases/pool_cases.hpp"

#include <drey/base/units.hpp>
#include <drey/pools/arena.hpp>
#include <drey/pools/frame_arena.hpp>
#include <drey/pools/shared_arena.hpp>

#include <array>
#include <cstdlib>
#include <memory_resource>

namespace drey::bench {
namespace {
constexpr std::size_t kPieceBytes = 64;
constexpr std::size_t kPieces = 16'384;
constexpr std::size_t kBigBytes = 300_KiB;
constexpr std::size_t kBigPieces = 64;

struct ArenaWay {
  void* take(std::size_t bytes) { return arena.allocate(bytes); }
  void reset() { arena.reset(); }
  Arena arena;
};

struct FrameArenaWay {
  void* take(std::size_t bytes) { return arena.allocate(bytes); }
  void reset() { arena.next_frame(); }
  FrameArena arena;
};

struct SharedArenaWay {
  void* take(std::size_t bytes) { return arena.allocate(bytes); }
  void reset() { arena.reset(); }
  SharedArena arena;
};

struct SliceWay {
  void* take(std::size_t bytes) { return slice.allocate(bytes); }
  void reset() {
    slice.drop();
    arena.reset();
  }
  SharedArena arena;
  SharedArenaSlice slice{arena};
};

struct MonotonicWay {
  void* take(std::size_t bytes) { return resource.allocate(bytes); }
  void reset() { resource.release(); }
  std::pmr::monotonic_buffer_resource resource{std::pmr::new_delete_resource()};
};

struct MonotonicBufferWay {
  static constexpr std::size_t kBufferBytes = 32_MiB;
  void* take(std::size_t bytes) { return resource.allocate(bytes); }
  void reset() { resource.release(); }
  void* buffer = std::malloc(kBufferBytes);
  std::pmr::monotonic_buffer_resource resource{buffer, kBufferBytes};
  MonotonicBufferWay() = default;
  ~MonotonicBufferWay() { std::free(buffer); }
  MonotonicBufferWay(const MonotonicBufferWay&) = delete;
  MonotonicBufferWay& operator=(const MonotonicBufferWay&) = delete;
};

/// The same with malloc and free of each piece.
struct MallocPiecesWay {
  void* take(std::size_t bytes) { return pieces[count++] = std::malloc(bytes); }
  void reset() {
    while (count != 0) std::free(pieces[--count]);
  }
  std::array<void*, kPieces> pieces{};
  std::size_t count = 0;
};

/// Rounds of `pieces` pieces and a reset; figures are per `operations` of a round.
template <class Way, std::size_t kBytes, std::size_t kCount>
Figures rounds(double seconds, double operations) {
  Way way;
  return cost_of(seconds, operations, [&way](std::size_t count) {
    for (std::size_t round = 0; round < count; ++round) {
      for (std::size_t piece = 0; piece < kCount; ++piece) keep(way.take(kBytes));
      way.reset();
    }
  });
}

template <class Way>
void add_way(PoolCaseList& cases, const char* name) {
  cases.push_back({"arena", "arena/allocate_64", name, [](double seconds) {
                     return rounds<Way, kPieceBytes, kPieces>(seconds, kPieces);
                   }});
  cases.push_back({"arena", "arena/reset_64_chunks", name,
                   [](double seconds) { return rounds<Way, kBigBytes, kBigPieces>(seconds, 1); }});
}
}  // namespace

void add_arena_times(PoolCaseList& cases) {
  add_way<ArenaWay>(cases, kDreyWay);
  add_way<FrameArenaWay>(cases, "drey_frame");
  add_way<SharedArenaWay>(cases, "drey_shared");
  add_way<SliceWay>(cases, "drey_slice");
  add_way<MonotonicWay>(cases, "pmr_monotonic");
  add_way<MonotonicBufferWay>(cases, "pmr_buffer");
  add_way<MallocPiecesWay>(cases, kMallocWay);
}
}  // namespace drey::bench
