// entry.hpp: the whole of the core as its users (api.cpp, override/) see it.
//
// Contract: noexcept; null and errno = ENOMEM when memory ran out, so that malloc() is a tail call;
// errno is kept by deallocate(). Any thread, any time: before constructors, in exit handlers, after
// fork. Requires, everywhere: size <= kSizeMax (surfaces refuse more), so that rounding up cannot
// wrap. Read next: fast_path.hpp, where allocate() and deallocate() end nearly every time.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/fast_path.hpp"
#include "core/zero.hpp"

#include <drey/alloc.h>

#include <cstddef>
#include <cstdint>

namespace drey::core {
/// Largest size any entry point grants: objects beyond PTRDIFF_MAX break pointer subtraction.
/// What is left above it covers every rounding up the core does.
inline constexpr std::size_t kSizeMax =
    static_cast<std::size_t>(PTRDIFF_MAX) - (std::size_t{1} << 24);

/// A block of at least `size` bytes (0 counts as 1), 16-aligned.
[[nodiscard, gnu::always_inline]] inline void* allocate(std::size_t size) noexcept {
  return take(size);
}

/// As allocate() where that is a hit; null for everything else, with errno left alone. For callers
/// with more to do on a miss than allocate(), which would cost them a stack frame on the hit.
[[nodiscard, gnu::always_inline]] inline void* allocate_hit(std::size_t size) noexcept {
  if constexpr (kSecure) return nullptr;
  return size <= kSmallSizeMax ? take_hit(small_class_of(size)) : nullptr;
}

/// As allocate_aligned() where that is a hit; null for everything else: no power of two, no size.
[[nodiscard, gnu::always_inline]] inline void* allocate_aligned_hit(std::size_t alignment,
                                                                    std::size_t size) noexcept {
  if constexpr (kSecure) return nullptr;
  if ((alignment & (alignment - 1)) != 0) [[unlikely]]
    return nullptr;
  // A sum that wraps, and an alignment of 0, round to 0: class 0, which never has a block.
  const std::size_t rounded = (size + alignment - 1) & ~(alignment - 1);
  return rounded <= kSmallSizeMax ? take_hit(small_class_of(rounded)) : nullptr;
}

/// As allocate(), every byte of the first `size` zero; memory fresh from the system is not written.
[[nodiscard]] void* allocate_zeroed(std::size_t size) noexcept;

/// As allocate_zeroed() where that is a hit; `miss(size)` for everything else, a size of 0 too. Both
/// are tail calls, so that the hit needs no stack frame.
template <class Miss>
[[nodiscard, gnu::always_inline]] inline void* allocate_zeroed_or(std::size_t size,
                                                                  Miss miss) noexcept {
  if (kSecure || size > kSmallSizeMax) [[unlikely]]
    return miss(size);
  const SizeClass size_class = small_class_of(size);
  void* const block = take_hit(size_class);
  if (block == nullptr) [[unlikely]]
    return miss(size);
  // The whole block, so that what malloc_usable_size() tells of is zero too.
  return zero_small(block, index_of(size_class) * kMinAlignmentBytes);
}

/// A block whose address is a multiple of `alignment`, a power of two of any size up to kSizeMax.
[[nodiscard]] void* allocate_aligned(std::size_t alignment, std::size_t size) noexcept;

/// Resizes in place where it can, else moves. Requires: pointer is a live block; size >= 1.
/// Fails: null; the old block is untouched.
[[nodiscard]] void* reallocate(void* pointer, std::size_t size) noexcept;

/// A block may stay where it is if the new size fits and at least half of it is used.
[[nodiscard]] inline bool fits_in_place(std::size_t usable, std::size_t size) noexcept {
  return size <= usable && (size >= usable / 2 || usable <= 4 * kMinAlignmentBytes);
}

/// As reallocate() where a short block stays as it is; null for everything else, null and a size of 0
/// too, and nothing has changed then.
[[nodiscard, gnu::always_inline]] inline void* reallocate_hit(void* pointer,
                                                              std::size_t size) noexcept {
  if constexpr (kSecure) return nullptr;
  const Slab* const slab = slab_map.find_unchecked(pointer);
  // 0 where there is no slab of several blocks.
  const std::size_t usable = slab->block_bytes;
  if (size == 0 || !fits_in_place(usable, size)) return nullptr;
  return slab->is_block_start(pointer) ? pointer : nullptr;
}

/// reallocate() that keeps a power of two as alignment. Fails: null; the old block is untouched.
[[nodiscard]] void* reallocate_aligned(void* pointer, std::size_t alignment,
                                       std::size_t size) noexcept;

/// Makes a block at least `size` bytes long where it is. Fails: false; nothing has changed.
[[nodiscard]] bool expand(void* pointer, std::size_t size) noexcept;

/// allocate_aligned(), every byte of the first `size` zero.
[[nodiscard]] void* allocate_aligned_zeroed(std::size_t alignment, std::size_t size) noexcept;

/// Gives a block back; null does nothing. A pointer that is no block goes to the foreign hook.
[[gnu::always_inline]] inline void deallocate(void* pointer) noexcept {
  give_back(pointer);
}

/// Secure builds: reports a live block that was not taken with this size. Others: nothing.
[[gnu::always_inline]] inline void check_size(const void* pointer, std::size_t size) noexcept {
  if constexpr (kSecure) report_wrong_size(pointer, size);
}

/// Usable bytes of a live block; 0 for null and for what is no block.
[[nodiscard]] std::size_t usable_bytes(const void* pointer) noexcept;

/// Usable bytes a block of `size` would have.
[[nodiscard]] std::size_t good_size(std::size_t size) noexcept;

/// True if pointer is the first byte of a block's place. Never reads the memory there.
[[nodiscard]] bool owns(const void* pointer) noexcept;

/// What deallocate() and reallocate() do with a pointer that is not ours. The default reports and
/// aborts; the override sets one that hands it to the C library it came from.
struct ForeignHooks {
  void (*free)(void* pointer) noexcept;
  void* (*reallocate)(void* pointer, std::size_t size) noexcept;
};
void set_foreign_hooks(const ForeignHooks& hooks) noexcept;

/// Reports misuse: one line to standard error naming `what` and the pointer, then abort, or
/// return where DREY_ON_ERROR=warn.
[[gnu::cold]] void report_misuse(const char* what, const void* pointer) noexcept;

/// Returns empty slabs of this thread and every idle slice to the system now.
void collect() noexcept;

void read_statistics(drey_stats_t& statistics) noexcept;
}  // namespace drey::core
