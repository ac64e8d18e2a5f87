// frame_arena.hpp: two arenas in turns, one a training step: what step n took lasts through n + 1.
//
// So a step may read what the one before it left (the last batch, the last activations), and nobody
// gives anything back by hand. Once both arenas have their chunks, no step calls the heap.
// Invariant: pieces of frames n and n - 1 are valid in frame n; those of n - 2 end as it begins.
// Read next: arena.hpp, arena_resource.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/arena.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace drey {
/// Bump allocation by frames. Threads: one at a time.
class FrameArena {
 public:
  /// Units: as Arena's, for each of the two. The first frame, number 0, has begun.
  explicit FrameArena(std::size_t chunk_bytes = Arena::kChunkBytesDefault,
                      std::size_t bytes_max = Arena::kUnlimited) noexcept
      : even_(chunk_bytes, bytes_max), odd_(chunk_bytes, bytes_max), current_(&even_) {}
  FrameArena(const FrameArena&) = delete;
  FrameArena& operator=(const FrameArena&) = delete;

  /// Begins the next frame: what was taken two frames ago is given back, its memory is used again.
  /// Cost: per chunk.
  void next_frame() noexcept {
    ++frame_;
    current_ = frame_ % 2 == 0 ? &even_ : &odd_;
    current_->reset();
  }

  [[nodiscard]] std::uint64_t frame() const noexcept { return frame_; }  ///< from 0

  /// As Arena::allocate(); valid until next_frame() has been called twice.
  [[nodiscard, gnu::always_inline]] void* allocate(
      std::size_t bytes, std::size_t alignment = kMinAlignmentBytes) noexcept {
    return current_->allocate(bytes, alignment);
  }

  /// As Arena::allocate_array().
  template <typename T>
  [[nodiscard]] std::span<T> allocate_array(std::size_t count) noexcept {
    return current_->allocate_array<T>(count);
  }

  /// As Arena::make().
  template <typename T, typename... Arguments>
  [[nodiscard]] T* make(Arguments&&... arguments) noexcept(
      std::is_nothrow_constructible_v<T, Arguments...>) {
    return current_->make<T>(std::forward<Arguments>(arguments)...);
  }

  /// The arena of this frame, for marks and scopes. What is taken from it is of this frame.
  [[nodiscard]] Arena& current() noexcept { return *current_; }

  /// Gives back both frames, and the memory to the allocator.
  void release() noexcept {
    even_.release();
    odd_.release();
  }

  /// Of this frame and the one before.
  [[nodiscard]] bool owns(const void* pointer) const noexcept {
    return even_.owns(pointer) || odd_.owns(pointer);
  }

  /// Of both arenas together.
  [[nodiscard]] ArenaStatistics statistics() const noexcept {
    const ArenaStatistics even = even_.statistics();
    const ArenaStatistics odd = odd_.statistics();
    return {even.used_bytes + odd.used_bytes, even.reserved_bytes + odd.reserved_bytes,
            even.chunk_count + odd.chunk_count, even.refused_count + odd.refused_count};
  }

 private:
  Arena even_;
  Arena odd_;
  Arena* current_;
  std::uint64_t frame_ = 0;
};
}  // namespace drey
