// heap_forward.hpp: the heap behind the counter; one forward_*.cpp per subject defines it.
//
// Invariants: no function here calls back into malloc and its kin as the program sees them, so a
// call is counted once; all are safe before main, as the loader and libc call them then.
// Read next: heap_calls.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::bench {
void* forward_malloc(std::size_t size) noexcept;
void* forward_calloc(std::size_t count, std::size_t size) noexcept;
void* forward_realloc(void* block, std::size_t size) noexcept;
/// Requires: alignment is a power of two.
void* forward_aligned(std::size_t alignment, std::size_t size) noexcept;
void forward_free(void* block) noexcept;

/// An address inside the subject that the calls really reach: drey::active_allocator asks there.
const void* forward_target() noexcept;
}  // namespace drey::bench
