// alloc.hpp: the allocator for C++: the functions of alloc.h as drey::, and a standard allocator.
//
// Contract as alloc.h: null on failure, noexcept, any thread, any time.
// Read next: alloc/std_allocator.hpp, alloc/heap.hpp, alloc/memory_resource.hpp, alloc/fixed.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc.h>
#include <drey/alloc/std_allocator.hpp>

#include <cstddef>

namespace drey {
using Stats = drey_stats_t;

/// Takes a block of at least `bytes`, 16-aligned. Fails: null, errno = ENOMEM.
[[nodiscard]] inline void* allocate(std::size_t bytes) noexcept {
  return drey_malloc(bytes);
}

/// As allocate(), aligned to a power of two. Fails: null; EINVAL if it is none.
[[nodiscard]] inline void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  return drey_aligned_alloc(alignment, bytes);
}

/// As allocate(), zeroed.
[[nodiscard]] inline void* allocate_zeroed(std::size_t bytes) noexcept {
  return drey_calloc(1, bytes);
}

/// Resizes a block of allocate(). Fails: null; the old block is untouched.
[[nodiscard]] inline void* reallocate(void* pointer, std::size_t bytes) noexcept {
  return drey_realloc(pointer, bytes);
}

/// Gives back a block of allocate(); null does nothing; keeps errno.
inline void deallocate(void* pointer) noexcept {
  drey_free(pointer);
}

[[nodiscard]] inline std::size_t usable_bytes(const void* pointer) noexcept {
  return drey_usable_size(pointer);
}

/// Counters of the whole process at about now.
[[nodiscard]] inline Stats statistics() noexcept {
  Stats stats;
  drey_stats_read(&stats);
  return stats;
}
}  // namespace drey
