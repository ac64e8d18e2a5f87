// memory_annotations.hpp: tells AddressSanitizer and Valgrind which vectors may be touched.
//
// AddressSanitizer's functions are weak: the same library works in programs with and without it.
// Valgrind's requests are there if its headers were when drey was built (DREY_VALGRIND), and cost
// nothing outside of it but a few rotations.
// Read next: place_checks.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#if DREY_VALGRIND
#include <valgrind/memcheck.h>
#endif

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer's names.
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* begin, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* begin, std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}

namespace drey {
[[nodiscard]] inline bool runs_under_asan() noexcept {
  return &__asan_poison_memory_region != nullptr;
}

#if DREY_VALGRIND
[[nodiscard]] inline bool runs_under_valgrind() noexcept {
  return RUNNING_ON_VALGRIND != 0;
}
inline void tell_valgrind_of_pool(const void* pool) noexcept {
  VALGRIND_CREATE_MEMPOOL(pool, 0, 0);
}
inline void tell_valgrind_pool_ends(const void* pool) noexcept {
  VALGRIND_DESTROY_MEMPOOL(pool);
}
inline void tell_valgrind_taken(const void* pool, const void* vector, std::size_t bytes) noexcept {
  VALGRIND_MEMPOOL_ALLOC(pool, vector, bytes);
}
inline void tell_valgrind_free(const void* pool, const void* vector) noexcept {
  VALGRIND_MEMPOOL_FREE(pool, vector);
}
inline void open_for_valgrind(const void* begin, std::size_t bytes) noexcept {
  static_cast<void>(VALGRIND_MAKE_MEM_DEFINED(begin, bytes));
}
inline void close_for_valgrind(const void* begin, std::size_t bytes) noexcept {
  static_cast<void>(VALGRIND_MAKE_MEM_NOACCESS(begin, bytes));
}
#else
[[nodiscard]] inline bool runs_under_valgrind() noexcept {
  return false;
}
inline void tell_valgrind_of_pool(const void* /*pool*/) noexcept {}
inline void tell_valgrind_pool_ends(const void* /*pool*/) noexcept {}
inline void tell_valgrind_taken(const void* /*pool*/, const void* /*vector*/,
                                std::size_t /*bytes*/) noexcept {}
inline void tell_valgrind_free(const void* /*pool*/, const void* /*vector*/) noexcept {}
inline void open_for_valgrind(const void* /*begin*/, std::size_t /*bytes*/) noexcept {}
inline void close_for_valgrind(const void* /*begin*/, std::size_t /*bytes*/) noexcept {}
#endif

/// The pool's own checks may read and write it from here on.
inline void open_memory(const void* begin, std::size_t bytes) noexcept {
  if (runs_under_asan()) __asan_unpoison_memory_region(begin, bytes);
  open_for_valgrind(begin, bytes);
}

/// Nobody may.
inline void close_memory(const void* begin, std::size_t bytes) noexcept {
  if (runs_under_asan()) __asan_poison_memory_region(begin, bytes);
  close_for_valgrind(begin, bytes);
}
}  // namespace drey
