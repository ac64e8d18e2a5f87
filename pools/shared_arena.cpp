// shared_arena.cpp: the way to the next chunk, big pieces, and the end of a round.
// Read next: include/drey/pools/shared_arena.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/shared_arena.hpp>

#include <drey/alloc.hpp>
#include <drey/pools/memory_marks.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace drey {
namespace {
constexpr std::size_t kChunkBytesMin = 1_KiB;
constexpr std::size_t kAlignmentMax = 1_GiB;
constexpr std::size_t kPieceBytesMax = static_cast<std::size_t>(PTRDIFF_MAX) - 2 * kAlignmentMax;

/// Bytes that hold a piece of `bytes` wherever in 16-aligned room they begin.
[[nodiscard]] std::size_t with_padding(std::size_t bytes, std::size_t alignment) noexcept {
  return align_up(bytes, kMinAlignmentBytes) + alignment - kMinAlignmentBytes;
}

[[nodiscard]] std::byte* aligned(std::byte* place, std::size_t alignment) noexcept {
  return place + ((0 - address_of(place)) & (alignment - 1));
}
}  // namespace

SharedArena::SharedArena(std::size_t chunk_bytes, std::size_t bytes_max) noexcept
    : chunk_bytes_(
          align_down(std::clamp(std::min(chunk_bytes, bytes_max), kChunkBytesMin, kPieceBytesMax),
                     kCacheLineBytes)),
      bytes_max_(bytes_max),
      is_watched_(memory_is_watched()) {}

void* SharedArena::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
  if (!is_power_of_two(alignment) || alignment > kAlignmentMax || bytes > kPieceBytesMax)
    return nullptr;
  const std::size_t wanted = bytes == 0 ? 1 : bytes;
  const std::size_t alignment_used = std::max(alignment, kMinAlignmentBytes);
  // What fills most of a chunk gets one of its own, so that little of the current one is wasted.
  if (with_padding(wanted, alignment_used) > (chunk_bytes_ - sizeof(Chunk)) / 4)
    return allocate_alone(wanted, alignment_used);
  for (;;) {
    // Acquire: as in allocate().
    Chunk* chunk = current_.load(std::memory_order_acquire);
    if (void* const piece = take_from(chunk, wanted, alignment_used); piece != nullptr)
      return piece;
    Chunk* const next = next_of(chunk);
    if (next == nullptr) return nullptr;
    // Release, pairs with the acquire in allocate(). A failure means that somebody else was first.
    current_.compare_exchange_strong(chunk, next, std::memory_order_release,
                                     std::memory_order_relaxed);
  }
}

void* SharedArena::take_from(Chunk* chunk, std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t needed = with_padding(bytes, alignment);
  std::size_t used = chunk->used.load(std::memory_order_relaxed);
  // Each hit that fails adds to the offset. Back to "full" before it could ever come round; relaxed,
  // as all of the offset.
  if (used > chunk->bytes)
    chunk->used.compare_exchange_strong(used, chunk->bytes, std::memory_order_relaxed,
                                        std::memory_order_relaxed);
  if (needed > chunk->bytes || used > chunk->bytes - needed) return nullptr;
  // Relaxed: as in allocate().
  const std::size_t offset = chunk->used.fetch_add(needed, std::memory_order_relaxed);
  if (offset > chunk->bytes - needed) return nullptr;
  std::byte* const piece = aligned(chunk->begin() + offset, alignment);
  if (is_watched_) mark_usable(piece, bytes);
  return piece;
}

SharedArena::Chunk* SharedArena::next_of(Chunk* chunk) noexcept {
  // Acquire, pairs with the release below: the chunk's head is seen.
  if (Chunk* const next = chunk->next.load(std::memory_order_acquire); next != nullptr) return next;
  Chunk* const made = make_chunk(chunk_bytes_);
  if (made == nullptr) return chunk->next.load(std::memory_order_acquire);
  Chunk* expected = nullptr;
  // Release: publishes the head. Acquire on failure: the other thread's chunk is used instead.
  if (chunk->next.compare_exchange_strong(expected, made, std::memory_order_release,
                                          std::memory_order_acquire))
    return made;
  give_up(made);
  return expected;
}

void* SharedArena::allocate_alone(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t needed = with_padding(bytes, alignment);
  // Relaxed: what is reached from here was there at the last reset(), which ordered all of it.
  for (Chunk *chunk = alone_spare_.load(std::memory_order_relaxed), *next = nullptr;
       chunk != nullptr; chunk = next) {
    next = chunk->next.load(std::memory_order_relaxed);
    if (chunk->used.load(std::memory_order_relaxed) >= chunk->bytes) {
      // Used up: if it is the first, nobody need look at it again. Relaxed: only a hint.
      Chunk* expected = chunk;
      alone_spare_.compare_exchange_strong(expected, next, std::memory_order_relaxed,
                                           std::memory_order_relaxed);
      continue;
    }
    // One left over by reset() that is large enough, and not half empty then.
    if (chunk->bytes < needed || chunk->bytes / 2 > needed) continue;
    if (void* const piece = take_from(chunk, bytes, alignment); piece != nullptr) {
      // Relaxed: full for everybody from here on; the bytes were this thread's by the fetch_add.
      chunk->used.fetch_add(chunk->bytes, std::memory_order_relaxed);
      return piece;
    }
  }
  Chunk* const made = make_chunk(sizeof(Chunk) + needed);
  if (made == nullptr) return nullptr;
  made->used.store(made->bytes, std::memory_order_relaxed);  // nobody else has it yet
  // Relaxed: the head is only stored.
  Chunk* head = alone_.load(std::memory_order_relaxed);
  do {
    made->next.store(head, std::memory_order_relaxed);  // published by the exchange
    // Release, pairs with the acquire in statistics(). Relaxed on failure: as above.
  } while (!alone_.compare_exchange_weak(head, made, std::memory_order_release,
                                         std::memory_order_relaxed));
  std::byte* const piece = aligned(made->begin(), alignment);
  if (is_watched_) mark_usable(piece, bytes);
  return piece;
}

SharedArena::Chunk* SharedArena::make_chunk(std::size_t size) noexcept {
  const std::size_t rounded = align_up(size, kCacheLineBytes);
  // Relaxed: a sum that bounds itself; it orders nothing.
  std::size_t reserved = reserved_bytes_.load(std::memory_order_relaxed);
  do {
    if (rounded > bytes_max_ - reserved) return nullptr;
  } while (!reserved_bytes_.compare_exchange_weak(
      reserved, reserved + rounded, std::memory_order_relaxed, std::memory_order_relaxed));
  void* const memory = drey::allocate(rounded, kCacheLineBytes);
  if (memory == nullptr) {
    reserved_bytes_.fetch_sub(rounded, std::memory_order_relaxed);
    return nullptr;
  }
  auto* const chunk = ::new (memory) Chunk{};
  chunk->bytes = rounded - sizeof(Chunk);
  chunk->hit_bytes = is_watched_ ? 0 : align_down(chunk->bytes / 4, kMinAlignmentBytes);
  if (is_watched_) mark_unusable(chunk->begin(), chunk->bytes);
  return chunk;
}

void SharedArena::give_up(Chunk* chunk) noexcept {
  const std::size_t size = sizeof(Chunk) + chunk->bytes;
  if (is_watched_) mark_usable(chunk->begin(), chunk->bytes);
  deallocate(chunk);
  reserved_bytes_.fetch_sub(size, std::memory_order_relaxed);  // relaxed: as in make_chunk()
}

// From here on nobody else is there: relaxed throughout.

void SharedArena::reset() noexcept {
  for (Chunk* const list :
       {none_.next.load(std::memory_order_relaxed), alone_.load(std::memory_order_relaxed)}) {
    for (Chunk* chunk = list; chunk != nullptr;
         chunk = chunk->next.load(std::memory_order_relaxed)) {
      chunk->used.store(0, std::memory_order_relaxed);
      if (is_watched_) mark_unusable(chunk->begin(), chunk->bytes);
    }
  }
  alone_spare_.store(alone_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  Chunk* const first = none_.next.load(std::memory_order_relaxed);
  current_.store(first == nullptr ? &none_ : first, std::memory_order_relaxed);
}

void SharedArena::release() noexcept {
  for (Chunk* const list : {none_.next.exchange(nullptr, std::memory_order_relaxed),
                            alone_.exchange(nullptr, std::memory_order_relaxed)}) {
    for (Chunk* chunk = list; chunk != nullptr;) {
      Chunk* const next = chunk->next.load(std::memory_order_relaxed);
      give_up(chunk);
      chunk = next;
    }
  }
  alone_spare_.store(nullptr, std::memory_order_relaxed);
  current_.store(&none_, std::memory_order_relaxed);
}

SharedArenaStatistics SharedArena::statistics() const noexcept {
  SharedArenaStatistics statistics{0, reserved_bytes_.load(std::memory_order_relaxed), 0};
  // Acquire, pairs with the releases that append: the heads are seen.
  for (Chunk* const list :
       {none_.next.load(std::memory_order_acquire), alone_.load(std::memory_order_acquire)}) {
    for (Chunk* chunk = list; chunk != nullptr;
         chunk = chunk->next.load(std::memory_order_acquire)) {
      ++statistics.chunk_count;
      statistics.used_bytes += std::min(chunk->used.load(std::memory_order_relaxed), chunk->bytes);
    }
  }
  return statistics;
}

bool SharedArena::invariants_hold() const noexcept {
  std::size_t bytes = 0;
  bool current_is_listed = current_.load(std::memory_order_relaxed) == &none_;
  bool is_behind_current = current_is_listed;
  for (Chunk* chunk = none_.next.load(std::memory_order_relaxed); chunk != nullptr;
       chunk = chunk->next.load(std::memory_order_relaxed)) {
    if (is_behind_current && chunk->used.load(std::memory_order_relaxed) != 0) return false;
    if (chunk == current_.load(std::memory_order_relaxed))
      current_is_listed = is_behind_current = true;
    bytes += sizeof(Chunk) + chunk->bytes;
  }
  for (Chunk* chunk = alone_.load(std::memory_order_relaxed); chunk != nullptr;
       chunk = chunk->next.load(std::memory_order_relaxed)) {
    bytes += sizeof(Chunk) + chunk->bytes;
  }
  return current_is_listed && bytes == reserved_bytes_.load(std::memory_order_relaxed);
}

void* SharedArenaSlice::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
  const bool is_small =
      is_power_of_two(alignment) && alignment <= kCacheLineBytes && bytes <= block_bytes_ / 4;
  // Watched, the arena itself marks each piece.
  if (!is_small || memory_is_watched()) return arena_.allocate(bytes, alignment);
  const std::size_t wanted = align_up(bytes == 0 ? 1 : bytes, kMinAlignmentBytes);
  const std::size_t padding = (0 - address_of(cursor_)) & (alignment - 1) & ~std::size_t{15};
  if (padding + wanted > static_cast<std::size_t>(limit_ - cursor_)) {
    void* const block = arena_.allocate(block_bytes_, kCacheLineBytes);
    if (block == nullptr) return arena_.allocate(bytes, alignment);
    cursor_ = static_cast<std::byte*>(block);
    limit_ = cursor_ + block_bytes_;
    cursor_ += wanted;
    return block;
  }
  std::byte* const piece = cursor_ + padding;
  cursor_ = piece + wanted;
  return piece;
}
}  // namespace drey
