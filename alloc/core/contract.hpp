// contract.hpp: what C and POSIX ask of malloc and its family, on top of the core.
//
// One function for each duty, used by malloc() and by drey_malloc() alike, so that both keep the
// same contract: checked products first, then limits, then size 0; errno set on failure only.
// Invariants: the core is never asked for more than kSizeMax, nor for an alignment that is none,
// except through allocate(), whose limit is tested by the core, off its hit path.
// Read next: entry.hpp; the users are api.cpp and override/malloc.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/entry.hpp"

#include <drey/base/bits.hpp>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <unistd.h>

namespace drey::core::contract {
/// Sets errno and returns null: how every C entry point but posix_memalign fails.
[[nodiscard, gnu::cold, gnu::noinline]] inline void* fail(int error) noexcept {
  errno = error;
  return nullptr;
}

/// count * size, or SIZE_MAX where that overflows, which every limit here refuses.
[[nodiscard]] constexpr std::size_t saturating_product(std::size_t count,
                                                       std::size_t size) noexcept {
  std::size_t product = 0;
  return __builtin_mul_overflow(count, size, &product) ? SIZE_MAX : product;
}

/// True for the alignments aligned_alloc() and operator new grant: powers of two, however small,
/// up to the largest an object could have.
[[nodiscard]] constexpr bool is_alignment(std::size_t alignment) noexcept {
  return is_power_of_two(alignment) && alignment <= kSizeMax;
}

/// True for those posix_memalign() grants: of the above, the multiples of a pointer's size.
[[nodiscard]] constexpr bool is_posix_alignment(std::size_t alignment) noexcept {
  return is_alignment(alignment) && alignment % sizeof(void*) == 0;
}

/// What memalign() makes of an alignment: the next power of two, as the GNU C library does;
/// 0 where there is none, which is_alignment() refuses.
[[nodiscard]] constexpr std::size_t memalign_alignment(std::size_t alignment) noexcept {
  return alignment <= kSizeMax ? std::bit_ceil(alignment) : 0;
}

/// The kernel's page; a run-time quantity: one binary serves 4, 16 and 64 KiB kernels.
[[nodiscard]] inline std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(::getpagesize());
}

static_assert(saturating_product(0, SIZE_MAX) == 0, "a zero factor is not an overflow");
static_assert(saturating_product(SIZE_MAX / 2 + 1, 2) == SIZE_MAX);
static_assert(memalign_alignment(0) == 1 && memalign_alignment(24) == 32);
static_assert(!is_alignment(memalign_alignment(kSizeMax)), "2^63 aligns no object");

/// malloc. Cost: the core's and nothing more; its slow path has set errno where it fails.
[[nodiscard, gnu::always_inline]] inline void* allocate(std::size_t size) noexcept {
  return core::allocate(size);
}

/// calloc() of what is no hit; apart, so that hits need no stack frame.
[[nodiscard, gnu::noinline]] inline void* allocate_zeroed_slowly(std::size_t bytes) noexcept {
  void* const block = bytes <= kSizeMax ? core::allocate_zeroed(bytes) : nullptr;
  return block != nullptr ? block : fail(ENOMEM);
}

/// calloc.
[[nodiscard, gnu::always_inline]] inline void* allocate_zeroed(std::size_t count,
                                                               std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) [[unlikely]]
    return fail(ENOMEM);
  return core::allocate_zeroed_or(bytes, allocate_zeroed_slowly);
}

/// realloc() of what does not stay where it is; apart, as above.
[[nodiscard, gnu::noinline]] inline void* reallocate_slowly(void* pointer,
                                                            std::size_t size) noexcept {
  if (pointer == nullptr) return allocate(size);
  if (size == 0) {
    core::deallocate(pointer);
    return nullptr;
  }
  if (size > kSizeMax) [[unlikely]] {
    return fail(ENOMEM);
  }
  void* const block = core::reallocate(pointer, size);
  return block != nullptr ? block : fail(ENOMEM);
}

/// realloc. As the GNU C library: (null, n) is malloc(n), also for n = 0; (p, 0) frees p and
/// returns null, which is no failure, so errno is left alone.
[[nodiscard, gnu::always_inline]] inline void* reallocate(void* pointer,
                                                          std::size_t size) noexcept {
  void* const block = core::reallocate_hit(pointer, size);
  return block != nullptr ? block : reallocate_slowly(pointer, size);
}

/// reallocarray: an overflowing product fails before anything is freed.
[[nodiscard]] inline void* reallocate_array(void* pointer, std::size_t count,
                                            std::size_t size) noexcept {
  return reallocate(pointer, saturating_product(count, size));
}

/// aligned_alloc: a size need not be a multiple of the alignment.
[[nodiscard]] inline void* allocate_aligned(std::size_t alignment, std::size_t size) noexcept {
  if (void* const block = core::allocate_aligned_hit(alignment, size); block != nullptr) [[likely]]
    return block;
  if (!is_alignment(alignment)) [[unlikely]] {
    return fail(EINVAL);
  }
  if (size > kSizeMax) [[unlikely]] {
    return fail(ENOMEM);
  }
  void* const block = core::allocate_aligned(alignment, size);
  return block != nullptr ? block : fail(ENOMEM);
}

/// aligned_alloc and calloc in one.
[[nodiscard]] inline void* allocate_aligned_zeroed(std::size_t alignment, std::size_t count,
                                                   std::size_t size) noexcept {
  if (!is_alignment(alignment)) [[unlikely]] {
    return fail(EINVAL);
  }
  const std::size_t bytes = saturating_product(count, size);
  if (bytes > kSizeMax) [[unlikely]] {
    return fail(ENOMEM);
  }
  void* const block = core::allocate_aligned_zeroed(alignment, bytes);
  return block != nullptr ? block : fail(ENOMEM);
}

/// realloc to an alignment; null and size 0 as reallocate().
[[nodiscard]] inline void* reallocate_aligned(void* pointer, std::size_t alignment,
                                              std::size_t size) noexcept {
  if (!is_alignment(alignment)) [[unlikely]] {
    return fail(EINVAL);
  }
  if (pointer == nullptr) return allocate_aligned(alignment, size);
  if (size == 0) {
    core::deallocate(pointer);
    return nullptr;
  }
  if (size > kSizeMax) [[unlikely]] {
    return fail(ENOMEM);
  }
  void* const block = core::reallocate_aligned(pointer, alignment, size);
  return block != nullptr ? block : fail(ENOMEM);
}

/// A try to grow in place: false, and errno as it was, where there is no room; null has none.
[[nodiscard]] inline bool expand(void* pointer, std::size_t size) noexcept {
  if (pointer == nullptr) return false;
  const int saved_errno = errno;
  const bool done = core::expand(pointer, size);
  errno = saved_errno;
  return done;
}

/// memalign.
[[nodiscard]] inline void* allocate_memalign(std::size_t alignment, std::size_t size) noexcept {
  return allocate_aligned(memalign_alignment(alignment), size);
}

/// posix_memalign: 0, EINVAL or ENOMEM; *pointer and errno are left alone on failure.
[[nodiscard]] inline int allocate_posix(void** pointer, std::size_t alignment,
                                        std::size_t size) noexcept {
  if (!is_posix_alignment(alignment)) [[unlikely]] {
    return EINVAL;
  }
  if (void* const block = core::allocate_aligned_hit(alignment, size); block != nullptr)
      [[likely]] {
    *pointer = block;
    return 0;
  }
  if (size > kSizeMax) [[unlikely]] {
    return ENOMEM;
  }
  const int saved_errno = errno;
  void* const block = core::allocate_aligned(alignment, size);
  if (block == nullptr) [[unlikely]] {
    errno = saved_errno;
    return ENOMEM;
  }
  *pointer = block;
  return 0;
}

/// valloc: a block on a page border.
[[nodiscard]] inline void* allocate_on_page(std::size_t size) noexcept {
  return allocate_aligned(page_bytes(), size);
}

/// pvalloc: whole pages, at least one. The limit comes before the rounding, which could wrap.
[[nodiscard]] inline void* allocate_pages(std::size_t size) noexcept {
  if (size > kSizeMax) [[unlikely]] {
    return fail(ENOMEM);
  }
  const std::size_t page = page_bytes();
  return allocate_aligned(page, align_up(size == 0 ? 1 : size, page));
}
}  // namespace drey::core::contract
