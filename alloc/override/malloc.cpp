// malloc.cpp: the C library's malloc and its whole family, answered by drey.
//
// Invariants: (1) this object defines every public name of the C library's own malloc object, so
// that a static link never pulls that one in beside it; (2) every function works as the very first
// call of the process, before any constructor: no guarded statics, no atexit, no pthread_once;
// (3) a pointer that is not drey's never has the memory around it read: see foreign.hpp.
// The contract itself is in core/contract.hpp; each function here is one line on it.
// Read next: new_delete.cpp.
// SPDX-License-Identifier: MIT
#include "core/contract.hpp"
#include "core/entry.hpp"
#include "override/foreign.hpp"
#include "override/malloc_information.hpp"
#include "override/surface.hpp"

#include <drey/alloc.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <malloc.h>

namespace contract = drey::surface::contract;
namespace core = drey::surface::core;
namespace override = drey::override;

extern "C" {
// --- Blocks: C and POSIX ---

DREY_EXPORT void* malloc(size_t size) noexcept {
  return contract::allocate(size);
}

DREY_EXPORT void* calloc(size_t count, size_t size) noexcept {
  return contract::allocate_zeroed(count, size);
}

DREY_EXPORT void* realloc(void* pointer, size_t size) noexcept {
  return contract::reallocate(pointer, size);
}

DREY_EXPORT void* reallocarray(void* pointer, size_t count, size_t size) noexcept {
  return contract::reallocate_array(pointer, count, size);
}

DREY_EXPORT void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return contract::allocate_aligned(alignment, size);
}

DREY_EXPORT int posix_memalign(void** pointer, size_t alignment, size_t size) noexcept {
  return contract::allocate_posix(pointer, alignment, size);
}

DREY_EXPORT void free(void* pointer) noexcept {
  core::deallocate(pointer);
}

// The sizes are hints: a wrong one is a bug that other allocators forgive, so drey does too, but for
// secure builds.
DREY_EXPORT void free_sized(void* pointer, size_t size) noexcept {
  core::check_size(pointer, size);
  core::deallocate(pointer);
}

DREY_EXPORT void free_aligned_sized(void* pointer, size_t /*alignment*/, size_t size) noexcept {
  core::check_size(pointer, size);
  core::deallocate(pointer);
}

// --- Blocks: older names ---

DREY_EXPORT void* memalign(size_t alignment, size_t size) noexcept {
  return contract::allocate_memalign(alignment, size);
}

DREY_EXPORT void* valloc(size_t size) noexcept {
  return contract::allocate_on_page(size);
}

DREY_EXPORT void* pvalloc(size_t size) noexcept {
  return contract::allocate_pages(size);
}

DREY_EXPORT void cfree(void* pointer) noexcept {
  core::deallocate(pointer);
}

// --- Blocks: the C library's names for the same, which some programs call or wrap ---
// NOLINTBEGIN(readability-identifier-naming): the names are the C library's.

DREY_EXPORT void* __libc_malloc(size_t size) noexcept {
  return contract::allocate(size);
}

DREY_EXPORT void* __libc_calloc(size_t count, size_t size) noexcept {
  return contract::allocate_zeroed(count, size);
}

DREY_EXPORT void* __libc_realloc(void* pointer, size_t size) noexcept {
  return contract::reallocate(pointer, size);
}

DREY_EXPORT void* __libc_memalign(size_t alignment, size_t size) noexcept {
  return contract::allocate_memalign(alignment, size);
}

DREY_EXPORT void* __libc_valloc(size_t size) noexcept {
  return contract::allocate_on_page(size);
}

DREY_EXPORT void* __libc_pvalloc(size_t size) noexcept {
  return contract::allocate_pages(size);
}

DREY_EXPORT int __posix_memalign(void** pointer, size_t alignment, size_t size) noexcept {
  return contract::allocate_posix(pointer, alignment, size);
}

DREY_EXPORT void __libc_free(void* pointer) noexcept {
  core::deallocate(pointer);
}
// NOLINTEND(readability-identifier-naming)

// --- Questions and settings ---

DREY_EXPORT size_t malloc_usable_size(void* pointer) noexcept {
  const size_t bytes = core::usable_bytes(pointer);
  return bytes != 0 || pointer == nullptr ? bytes : override::foreign_usable_bytes(pointer);
}

DREY_EXPORT int malloc_trim(size_t /*pad*/) noexcept {
  return override::trim() ? 1 : 0;
}

DREY_EXPORT int mallopt(int /*parameter*/, int /*value*/) noexcept {
  // The parameters tune the C library's arenas. Programs that set them expect 1, "accepted".
  return 1;
}

DREY_EXPORT struct mallinfo2 mallinfo2(void) noexcept {
  return override::information();
}

DREY_EXPORT struct mallinfo mallinfo(void) noexcept {
  return override::information_in_ints();
}

DREY_EXPORT void malloc_stats(void) noexcept {
  drey_stats_print();
}

DREY_EXPORT int malloc_info(int options, FILE* stream) noexcept {
  return override::write_information(options, stream);
}
}  // extern "C"
