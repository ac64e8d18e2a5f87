// foreign.hpp: what happens to pointers that are not drey's.
//
// A plugin opened with RTLD_DEEPBIND binds to the C library's own malloc, and its blocks then reach
// drey's free. Such a pointer goes back to the C library, found by dlsym(RTLD_NEXT); where that is
// out of the question (the C library never handed out memory, or a static link holds no second
// malloc) it is a program's error and reported as one. The core finds both out by its slab map: the
// memory around the pointer is never read.
// Read next: malloc.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::override {
/// Frees a block of the C library. Threads: any. errno is kept.
void foreign_free(void* pointer) noexcept;

/// Resizes a block of the C library within the C library.
/// Fails: null; the block is untouched, errno is the C library's.
[[nodiscard]] void* foreign_reallocate(void* pointer, std::size_t size) noexcept;

/// Usable bytes of a block of the C library; 0 for what is none.
[[nodiscard]] std::size_t foreign_usable_bytes(void* pointer) noexcept;
}  // namespace drey::override
