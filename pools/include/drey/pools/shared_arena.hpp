// shared_arena.hpp: an arena that several threads allocate from at once, without a lock.
//
// A piece costs one fetch_add on the current chunk's offset. Who finds the chunk used up moves
// everybody on to the next one, or appends one by compare-exchange; nobody waits. Threads that take
// many pieces put a SharedArenaSlice in front: a block of the arena of their own, bumped without an
// atomic.
// Invariants, between resets: (1) a chunk's offset only grows, but for one beyond its end, which may
// be set back to the end; so no two pieces overlap; (2) chunks are only appended, so that one that
// was seen stays valid.
// Read next: arena.hpp; docs/CONCURRENCY.md has the atomics.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey {
namespace detail {
/// The head of a shared chunk; its pieces follow. Apart from the offset nothing changes but `next`.
struct alignas(kCacheLineBytes) SharedChunk {
  std::atomic<SharedChunk*> next{nullptr};
  std::size_t bytes = 0;      ///< room for pieces, a multiple of 16
  std::size_t hit_bytes = 0;  ///< largest piece of a hit: a quarter; 0 if memory is watched
  alignas(kCacheLineBytes) std::atomic<std::size_t> used{0};  ///< may end above `bytes`

  [[nodiscard]] std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(SharedChunk) == 2 * kCacheLineBytes);
}  // namespace detail

struct SharedArenaStatistics {
  std::size_t used_bytes;      ///< in pieces and their rounding
  std::size_t reserved_bytes;  ///< in chunks, their heads included
  std::size_t chunk_count;
};

/// Bump allocation for threads. No destructor of what lies in the pieces is run.
/// Threads: any for allocate(); reset(), release() and the end of it need every allocate() to have
/// returned and nobody to use a piece, and what told so to have ordered them.
class SharedArena {
 public:
  static constexpr std::size_t kChunkBytesDefault = 1_MiB;
  static constexpr std::size_t kUnlimited = SIZE_MAX;

  /// Takes no memory yet. Units: bytes a chunk (at least 1 KiB); bytes of all chunks together.
  explicit SharedArena(std::size_t chunk_bytes = kChunkBytesDefault,
                       std::size_t bytes_max = kUnlimited) noexcept;
  ~SharedArena() { release(); }
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  /// As Arena::allocate(). Cost: one fetch_add; a new chunk now and then. Nobody waits for another
  /// thread, so the last chunk within `bytes_max` is room only once who makes it has added it: until
  /// then others get null.
  [[nodiscard, gnu::always_inline]] void* allocate(
      std::size_t bytes, std::size_t alignment = kMinAlignmentBytes) noexcept {
    // Acquire, pairs with the release that made the chunk current: its head is seen.
    Chunk* const chunk = current_.load(std::memory_order_acquire);
    if (alignment <= kMinAlignmentBytes && is_power_of_two(alignment) && bytes != 0 &&
        bytes <= chunk->hit_bytes) [[likely]] {
      const std::size_t needed = align_up(bytes, kMinAlignmentBytes);
      // Relaxed: the number alone says whose the bytes are.
      const std::size_t offset = chunk->used.fetch_add(needed, std::memory_order_relaxed);
      if (offset <= chunk->bytes - needed) [[likely]]
        return chunk->begin() + offset;
    }
    return allocate_slow(bytes, alignment);
  }

  /// Gives everything back, keeps the memory. Cost: per chunk.
  void reset() noexcept;

  /// Gives everything back, and the memory to the allocator.
  void release() noexcept;

  /// Figures of about now while others allocate, else exact.
  [[nodiscard]] SharedArenaStatistics statistics() const noexcept;
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  using Chunk = detail::SharedChunk;

  [[nodiscard, gnu::noinline]] void* allocate_slow(std::size_t bytes,
                                                   std::size_t alignment) noexcept;
  [[nodiscard]] void* take_from(Chunk* chunk, std::size_t bytes, std::size_t alignment) noexcept;
  [[nodiscard]] Chunk* next_of(Chunk* chunk) noexcept;
  [[nodiscard]] void* allocate_alone(std::size_t bytes, std::size_t alignment) noexcept;
  [[nodiscard]] Chunk* make_chunk(std::size_t size) noexcept;
  void give_up(Chunk* chunk) noexcept;

  alignas(kCacheLineBytes) std::atomic<Chunk*> current_{&none_};
  alignas(kCacheLineBytes) std::atomic<std::size_t> reserved_bytes_{0};
  std::atomic<Chunk*> alone_{nullptr};        // chunks of one big piece each
  std::atomic<Chunk*> alone_spare_{nullptr};  // of them, the first that may be free since reset()
  const std::size_t chunk_bytes_;
  const std::size_t bytes_max_;
  const bool is_watched_;
  Chunk none_;  // before the first, without room: so there is always a current chunk
};

/// A thread's own part of a SharedArena: takes blocks of it and bumps within them.
/// Requires: the arena outlives it; after the arena's reset(), begin anew with drop().
/// Threads: one at a time. Pieces may be used by any, as the arena's own.
class SharedArenaSlice {
 public:
  static constexpr std::size_t kBlockBytesDefault = 16_KiB;

  explicit SharedArenaSlice(SharedArena& arena,
                            std::size_t block_bytes = kBlockBytesDefault) noexcept
      : arena_(arena),
        block_bytes_(align_up(std::clamp(block_bytes, kCacheLineBytes, std::size_t{1_GiB}),
                              kCacheLineBytes)) {}

  /// As Arena::allocate(). Pieces above a quarter of a block are taken from the arena one by one.
  [[nodiscard, gnu::always_inline]] void* allocate(
      std::size_t bytes, std::size_t alignment = kMinAlignmentBytes) noexcept {
    const auto room = static_cast<std::size_t>(limit_ - cursor_);
    if (alignment > kMinAlignmentBytes || !is_power_of_two(alignment) || bytes == 0 || bytes > room)
        [[unlikely]]
      return allocate_slow(bytes, alignment);
    std::byte* const piece = cursor_;
    cursor_ += align_up(bytes, kMinAlignmentBytes);
    return piece;
  }

  /// Forgets the block: what is left of it stays unused until the arena's reset().
  void drop() noexcept { cursor_ = limit_ = nullptr; }

 private:
  [[nodiscard, gnu::noinline]] void* allocate_slow(std::size_t bytes,
                                                   std::size_t alignment) noexcept;

  SharedArena& arena_;
  std::byte* cursor_ = nullptr;
  std::byte* limit_ = nullptr;
  const std::size_t block_bytes_;
};
}  // namespace drey
