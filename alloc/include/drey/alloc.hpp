// alloc.hpp: the allocator for C++: the functions of alloc.h as drey::, and a standard allocator.
//
// Contract as alloc.h: null on failure, noexcept, any thread, any time. StdAllocator throws
// std::bad_alloc from the user's own code, as the standard asks.
// Read next: alloc/core/fast_path.hpp in the sources.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc.h>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

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

namespace detail {
// Code compiled without exceptions may include this header too; there, running out ends the process.
#if defined(__cpp_exceptions)
[[noreturn]] inline void throw_bad_alloc() {
  throw std::bad_alloc();
}
[[noreturn]] inline void throw_bad_array_new_length() {
  throw std::bad_array_new_length();
}
#else
[[noreturn]] inline void throw_bad_alloc() {
  std::abort();
}
[[noreturn]] inline void throw_bad_array_new_length() {
  std::abort();
}
#endif
}  // namespace detail

/// Standard allocator on drey: `std::vector<float, drey::StdAllocator<float>>`.
/// Stateless: all are equal; memory of one may be given back by another, in any thread.
template <typename T>
struct StdAllocator {
  using value_type = T;

  StdAllocator() noexcept = default;
  template <typename U>
  StdAllocator(const StdAllocator<U>& /*other*/) noexcept {}  // NOLINT: rebinding is implicit

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
      detail::throw_bad_array_new_length();
    void* const block = alignof(T) > alignof(std::max_align_t)
                            ? drey_aligned_alloc(alignof(T), count * sizeof(T))
                            : drey_malloc(count * sizeof(T));
    if (block == nullptr) detail::throw_bad_alloc();
    return static_cast<T*>(block);
  }
  void deallocate(T* pointer, std::size_t /*count*/) noexcept { drey_free(pointer); }

  template <typename U>
  bool operator==(const StdAllocator<U>& /*other*/) const noexcept {
    return true;
  }
};
}  // namespace drey
