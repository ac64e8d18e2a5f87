// arena.hpp: memory that is taken piece by piece and given back all at once, or back to a mark.
//
// A piece is the next bytes of the current chunk: two loads, a comparison, a store. Chunks double in
// size and stay: after the first round of a loop nothing here calls the heap.
// Invariants: (1) cursor_ and limit_ are multiples of 16, so bytes that fit fit rounded up, too;
// (2) limit_ is the current chunk's end, or equal to cursor_ while sanitizers watch: then every
// piece takes the slow path, which marks it; (3) in the list, chunks up to the current one are in
// use, with depth 1, 2, 3 ..., and those behind it are spare, with depth 0.
// Read next: frame_arena.hpp, shared_arena.hpp, arena_resource.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace drey {
class Arena;

namespace detail {
/// The head of a chunk; its pieces follow. Sizes in bytes.
struct alignas(kCacheLineBytes) ArenaChunk {
  ArenaChunk* next;
  std::byte* end;           ///< of the pieces' room, a multiple of 16
  std::byte* left_at;       ///< the cursor when the next chunk became current
  std::size_t used_before;  ///< in the chunks before it
  std::size_t depth;        ///< its place among the chunks in use, from 1; 0: spare

  [[nodiscard]] std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(ArenaChunk) == kCacheLineBytes);
}  // namespace detail

/// A position in one arena. Valid until the arena is rewound to an earlier one, reset or released.
class ArenaMark {
 private:
  friend class Arena;
  const Arena* arena_ = nullptr;
  detail::ArenaChunk* chunk_ = nullptr;  // null: nothing had been taken
  std::byte* cursor_ = nullptr;
  std::size_t depth_ = 0;
  std::uint64_t generation_ = 0;
};

struct ArenaStatistics {
  std::size_t used_bytes;      ///< in pieces, their rounding and the ends of chunks left
  std::size_t reserved_bytes;  ///< in chunks, their heads included
  std::size_t chunk_count;
  std::uint64_t refused_count;  ///< allocations that gave null
};

/// Bump allocation. No destructor of what lies in the pieces is run.
/// Threads: one at a time; SharedArena is for several.
class Arena {
 public:
  static constexpr std::size_t kChunkBytesDefault = 64_KiB;
  static constexpr std::size_t kChunkBytesMax = 1_MiB;  ///< growth stops here; big pieces get more
  static constexpr std::size_t kUnlimited = SIZE_MAX;

  /// Takes no memory yet. Units: bytes of the first chunk (at least 1 KiB; heads count); bytes that
  /// all chunks together may have, above which allocate() gives null.
  explicit Arena(std::size_t chunk_bytes = kChunkBytesDefault,
                 std::size_t bytes_max = kUnlimited) noexcept;
  ~Arena() { release(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// The next `bytes`, on a multiple of `alignment`, at least of 16; 0 bytes give a place of their
  /// own, too. Contents are unspecified.
  /// Fails: null, nothing has changed, if the alignment is no power of two or above 1 GiB, at
  /// bytes_max, where memory runs out.
  /// Cost: seven instructions for a constant size while the chunk lasts.
  [[nodiscard, gnu::always_inline]] void* allocate(
      std::size_t bytes, std::size_t alignment = kMinAlignmentBytes) noexcept {
    if (!is_power_of_two(alignment)) return refuse();
    const std::size_t wanted = bytes == 0 ? 1 : bytes;
    const std::size_t room = static_cast<std::size_t>(limit_ - cursor_);
    const std::size_t padding =
        alignment <= kMinAlignmentBytes ? 0 : (0 - address_of(cursor_)) & (alignment - 1);
    if (padding > room || wanted > room - padding) [[unlikely]]
      return allocate_slow(wanted, alignment);
    std::byte* const piece = cursor_ + padding;
    cursor_ = piece + align_up(wanted, kMinAlignmentBytes);  // fits: invariant 1
    return piece;
  }

  /// Room for `count` objects. Shape: (count,). Fails: an empty span of null, also if the product
  /// overflows. Their lifetime begins by writing them: T is trivial enough for that.
  template <typename T>
  [[nodiscard]] std::span<T> allocate_array(std::size_t count) noexcept {
    static_assert(std::is_trivially_default_constructible_v<T> &&
                  std::is_trivially_destructible_v<T>);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, sizeof(T), &bytes)) bytes = SIZE_MAX;
    auto* const first = static_cast<T*>(allocate(bytes, alignof(T)));
    return {first, first == nullptr ? 0 : count};
  }

  /// One object. Fails: null. Its destructor would never run, so there must be none to run.
  template <typename T, typename... Arguments>
  [[nodiscard]] T* make(Arguments&&... arguments) noexcept(
      std::is_nothrow_constructible_v<T, Arguments...>) {
    static_assert(std::is_trivially_destructible_v<T>);
    void* const place = allocate(sizeof(T), alignof(T));
    return place == nullptr ? nullptr : ::new (place) T(std::forward<Arguments>(arguments)...);
  }

  /// Remembers the position. Cost: some loads.
  [[nodiscard]] ArenaMark mark() const noexcept;

  /// Gives back everything taken since `mark`; the chunks stay as spares.
  /// Fails: a mark of another arena, or one that is no longer valid, is reported, and the process
  /// aborts; not found: a rewound mark whose place has been taken again since.
  /// Cost: per chunk begun since the mark.
  void rewind(const ArenaMark& mark) noexcept;

  /// Gives everything back, keeps the memory. Cost: per chunk.
  void reset() noexcept;

  /// Gives everything back, and the memory to the allocator.
  void release() noexcept;

  /// True for an address in the room handed out by now. Cost: per chunk in use.
  [[nodiscard]] bool owns(const void* pointer) const noexcept;

  [[nodiscard]] ArenaStatistics statistics() const noexcept;
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  using Chunk = detail::ArenaChunk;

  [[nodiscard, gnu::noinline, gnu::cold]] void* refuse() noexcept;
  [[nodiscard, gnu::noinline]] void* allocate_slow(std::size_t bytes,
                                                   std::size_t alignment) noexcept;
  [[nodiscard]] void* carve(std::size_t bytes, std::size_t alignment) noexcept;
  [[nodiscard]] bool advance(std::size_t bytes, std::size_t alignment) noexcept;
  [[nodiscard]] Chunk* take_spare(std::size_t bytes, std::size_t alignment) noexcept;
  [[nodiscard]] Chunk* make_chunk(std::size_t bytes, std::size_t alignment) noexcept;
  void begin_chunk(Chunk* chunk) noexcept;
  void spare_from(Chunk* chunk) noexcept;
  [[nodiscard]] bool is_valid(const ArenaMark& mark) const noexcept;

  std::byte* cursor_ = nullptr;
  std::byte* limit_ = nullptr;
  Chunk* current_ = nullptr;  // null: none in use
  Chunk* first_ = nullptr;
  std::size_t next_chunk_bytes_;
  const std::size_t bytes_max_;
  std::size_t reserved_bytes_ = 0;
  std::size_t chunk_count_ = 0;
  std::uint64_t refused_count_ = 0;
  std::uint64_t generation_ = 0;  // of marks; release() ends one
  const bool is_watched_;
};

/// Rewinds an arena to where it was, when the scope ends. Scopes end in the reverse of their order.
class [[nodiscard]] ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) noexcept : arena_(arena), mark_(arena.mark()) {}
  ~ArenaScope() { arena_.rewind(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  const ArenaMark mark_;
};
}  // namespace drey
