// std_allocator.hpp: drey as the allocator of a standard container.
//
// Contract: as the standard's Allocator requirements ask: std::bad_alloc where memory runs out,
// std::bad_array_new_length where a product overflows. Usable in constant expressions, where it is
// std::allocator. Compiled without exceptions, running out ends the process instead.
// Read next: memory_resource.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace drey {
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

/// A block for the C++ library: null never comes back.
[[nodiscard]] inline void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const block = alignment > alignof(std::max_align_t) ? drey_aligned_alloc(alignment, bytes)
                                                            : drey_malloc(bytes);
  if (block == nullptr) throw_bad_alloc();
  return block;
}
}  // namespace detail

/// What StdAllocator::allocate_at_least() gives: std::allocation_result where there is one.
#if defined(__cpp_lib_allocate_at_least)
template <typename Pointer>
using AllocationResult = std::allocation_result<Pointer>;
#else
template <typename Pointer>
struct AllocationResult {
  Pointer ptr;
  std::size_t count;
};
#endif

/// Standard allocator on drey: `std::vector<float, drey::StdAllocator<float>>`.
/// Stateless: all are equal; memory of one may be given back by another, in any thread.
template <typename T>
struct StdAllocator {
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_copy_assignment = std::false_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::false_type;
  using is_always_equal = std::true_type;

  constexpr StdAllocator() noexcept = default;
  template <typename U>
  constexpr StdAllocator(const StdAllocator<U>& /*other*/) noexcept {
  }  // NOLINT: rebinding is implicit

  /// Memory for `count` objects, aligned for T however much that is.
  [[nodiscard]] constexpr T* allocate(std::size_t count) {
    if (count > max_size()) detail::throw_bad_array_new_length();
    if (std::is_constant_evaluated()) return std::allocator<T>().allocate(count);
    return static_cast<T*>(detail::allocate_or_throw(count * sizeof(T), alignof(T)));
  }

  /// Memory for `count` objects or more, as many as fit the block anyway. Give back with
  /// deallocate(ptr, n), where n is either count.
  [[nodiscard]] constexpr AllocationResult<T*> allocate_at_least(std::size_t count) {
    T* const place = allocate(count);
    if (std::is_constant_evaluated()) return {place, count};
    const std::size_t fitting = drey_usable_size(place) / sizeof(T);
    return {place, fitting > count ? fitting : count};
  }

  constexpr void deallocate(T* pointer, std::size_t count) noexcept {
    if (std::is_constant_evaluated()) return std::allocator<T>().deallocate(pointer, count);
    drey_free(pointer);
  }

  /// Objects of the largest array that the language allows.
  [[nodiscard]] static constexpr std::size_t max_size() noexcept {
    return static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T);
  }

  template <typename U>
  constexpr bool operator==(const StdAllocator<U>& /*other*/) const noexcept {
    return true;
  }
};
}  // namespace drey
