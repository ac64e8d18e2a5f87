// arena.cpp: what an arena does when its chunk is used up, rewound or watched.
// Read next: include/drey/pools/arena.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/arena.hpp>

#include <drey/alloc.hpp>
#include <drey/base/assert.hpp>
#include <drey/pools/memory_marks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

namespace drey {
namespace {
constexpr std::size_t kChunkBytesMin = 1_KiB;
constexpr std::size_t kAlignmentMax = 1_GiB;
// With the head and the padding for any alignment a sum of these stays below PTRDIFF_MAX.
constexpr std::size_t kPieceBytesMax = static_cast<std::size_t>(PTRDIFF_MAX) - 2 * kAlignmentMax;

/// Where a piece would begin in [from, end), or null where it does not fit.
[[nodiscard]] std::byte* fitted(std::byte* from, const std::byte* end, std::size_t bytes,
                                std::size_t alignment) noexcept {
  const std::size_t padding = (0 - address_of(from)) & (alignment - 1);
  const auto room = static_cast<std::size_t>(end - from);
  return padding <= room && bytes <= room - padding ? from + padding : nullptr;
}
}  // namespace

Arena::Arena(std::size_t chunk_bytes, std::size_t bytes_max) noexcept
    : next_chunk_bytes_(
          align_up(std::clamp(chunk_bytes, kChunkBytesMin, kPieceBytesMax), kCacheLineBytes)),
      bytes_max_(bytes_max),
      is_watched_(memory_is_watched()) {}

void* Arena::refuse() noexcept {
  ++refused_count_;
  return nullptr;
}

void* Arena::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > kPieceBytesMax || alignment > kAlignmentMax) return refuse();
  const std::size_t alignment_used = std::max(alignment, kMinAlignmentBytes);
  // Only a watched arena can still have room in the current chunk.
  if (current_ != nullptr) {
    if (void* const piece = carve(bytes, alignment_used); piece != nullptr) return piece;
  }
  if (!advance(bytes, alignment_used)) return refuse();
  return carve(bytes, alignment_used);
}

void* Arena::carve(std::size_t bytes, std::size_t alignment) noexcept {
  std::byte* const piece = fitted(cursor_, current_->end, bytes, alignment);
  if (piece == nullptr) return nullptr;
  cursor_ = piece + align_up(bytes, kMinAlignmentBytes);
  if (is_watched_) {
    limit_ = cursor_;
    mark_usable(piece, bytes);
  }
  return piece;
}

bool Arena::advance(std::size_t bytes, std::size_t alignment) noexcept {
  Chunk* chunk = take_spare(bytes, alignment);
  if (chunk == nullptr) chunk = make_chunk(bytes, alignment);
  if (chunk == nullptr) return false;
  begin_chunk(chunk);
  return true;
}

Arena::Chunk* Arena::take_spare(std::size_t bytes, std::size_t alignment) noexcept {
  Chunk** link = current_ == nullptr ? &first_ : &current_->next;
  for (; *link != nullptr; link = &(*link)->next) {
    Chunk* const chunk = *link;
    if (fitted(chunk->begin(), chunk->end, bytes, alignment) == nullptr) continue;
    *link = chunk->next;
    return chunk;
  }
  return nullptr;
}

Arena::Chunk* Arena::make_chunk(std::size_t bytes, std::size_t alignment) noexcept {
  // A chunk lies on a cache line; what a larger alignment may skip is added.
  const std::size_t padding = alignment > kCacheLineBytes ? alignment - kCacheLineBytes : 0;
  const std::size_t needed = align_up(sizeof(Chunk) + padding + bytes, kCacheLineBytes);
  const std::size_t left = bytes_max_ - reserved_bytes_;
  if (needed > left) return nullptr;
  std::size_t size = std::min(std::max(needed, next_chunk_bytes_), align_down(left, 16));
  void* memory = drey::allocate(size, kCacheLineBytes);
  if (memory == nullptr && size > needed) {  // short of memory: no more than what is asked for
    size = needed;
    memory = drey::allocate(size, kCacheLineBytes);
  }
  if (memory == nullptr) return nullptr;
  auto* const chunk = ::new (memory) Chunk{};
  chunk->end = static_cast<std::byte*>(memory) + size;
  next_chunk_bytes_ = std::max(next_chunk_bytes_, std::min(next_chunk_bytes_ * 2, kChunkBytesMax));
  reserved_bytes_ += size;
  ++chunk_count_;
  if (is_watched_)
    mark_unusable(chunk->begin(), static_cast<std::size_t>(chunk->end - chunk->begin()));
  return chunk;
}

void Arena::begin_chunk(Chunk* chunk) noexcept {
  Chunk** const link = current_ == nullptr ? &first_ : &current_->next;
  chunk->next = *link;
  *link = chunk;
  chunk->depth = current_ == nullptr ? 1 : current_->depth + 1;
  chunk->used_before = 0;
  if (current_ != nullptr) {
    current_->left_at = cursor_;
    chunk->used_before =
        current_->used_before + static_cast<std::size_t>(current_->end - current_->begin());
  }
  current_ = chunk;
  cursor_ = chunk->begin();
  limit_ = is_watched_ ? cursor_ : chunk->end;
}

ArenaMark Arena::mark() const noexcept {
  ArenaMark mark;
  mark.arena_ = this;
  mark.chunk_ = current_;
  mark.cursor_ = cursor_;
  mark.depth_ = current_ == nullptr ? 0 : current_->depth;
  mark.generation_ = generation_;
  return mark;
}

bool Arena::is_valid(const ArenaMark& mark) const noexcept {
  // While the generation lasts, the mark's chunk is one of ours, so that it may be looked into.
  if (mark.arena_ != this || mark.generation_ != generation_) return false;
  if (mark.chunk_ == nullptr) return true;
  if (mark.chunk_->depth != mark.depth_) return false;
  return mark.cursor_ <= (mark.chunk_ == current_ ? cursor_ : mark.chunk_->left_at);
}

void Arena::rewind(const ArenaMark& mark) noexcept {
  if (!is_valid(mark)) [[unlikely]]
    fatal("arena: rewound to a mark of another arena, or to one that is no longer valid");
  if (mark.chunk_ == nullptr) return reset();
  if (mark.chunk_ != current_) spare_from(mark.chunk_->next);
  current_ = mark.chunk_;
  cursor_ = mark.cursor_;
  limit_ = is_watched_ ? cursor_ : current_->end;
  if (is_watched_) mark_unusable(cursor_, static_cast<std::size_t>(current_->end - cursor_));
}

void Arena::reset() noexcept {
  spare_from(first_);
  current_ = nullptr;
  cursor_ = nullptr;
  limit_ = nullptr;
}

void Arena::spare_from(Chunk* chunk) noexcept {
  for (; chunk != nullptr && chunk->depth != 0; chunk = chunk->next) {
    chunk->depth = 0;
    if (is_watched_)
      mark_unusable(chunk->begin(), static_cast<std::size_t>(chunk->end - chunk->begin()));
  }
}

void Arena::release() noexcept {
  for (Chunk* chunk = first_; chunk != nullptr;) {
    Chunk* const next = chunk->next;
    if (is_watched_)
      mark_usable(chunk->begin(), static_cast<std::size_t>(chunk->end - chunk->begin()));
    deallocate(chunk);
    chunk = next;
  }
  first_ = current_ = nullptr;
  cursor_ = limit_ = nullptr;
  reserved_bytes_ = chunk_count_ = 0;
  ++generation_;
}

bool Arena::owns(const void* pointer) const noexcept {
  for (Chunk* chunk = first_; chunk != nullptr && chunk->depth != 0; chunk = chunk->next) {
    const std::byte* const end = chunk == current_ ? cursor_ : chunk->left_at;
    const std::uintptr_t address = address_of(pointer);
    if (address >= address_of(chunk->begin()) && address < address_of(end)) return true;
  }
  return false;
}

ArenaStatistics Arena::statistics() const noexcept {
  std::size_t used_bytes = 0;
  if (current_ != nullptr)
    used_bytes = current_->used_before + static_cast<std::size_t>(cursor_ - current_->begin());
  return {used_bytes, reserved_bytes_, chunk_count_, refused_count_};
}

bool Arena::invariants_hold() const noexcept {
  std::size_t depth = 0;
  std::size_t count = 0;
  std::size_t bytes = 0;
  bool is_spare = current_ == nullptr;
  for (Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
    ++count;
    bytes += static_cast<std::size_t>(chunk->end - reinterpret_cast<std::byte*>(chunk));
    if (chunk->depth != (is_spare ? 0 : ++depth)) return false;
    if (!is_aligned(chunk->end, kMinAlignmentBytes)) return false;
    is_spare = is_spare || chunk == current_;
  }
  if (!is_spare || count != chunk_count_ || bytes != reserved_bytes_) return false;
  if (current_ == nullptr) return cursor_ == nullptr && limit_ == nullptr;
  return cursor_ >= current_->begin() && cursor_ <= current_->end &&
         limit_ == (is_watched_ ? cursor_ : current_->end) &&
         is_aligned(cursor_, kMinAlignmentBytes);
}
}  // namespace drey
