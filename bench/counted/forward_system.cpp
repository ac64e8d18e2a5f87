// forward_system.cpp: behind the counter stands the C library's heap, under the names it keeps for
// programs that define malloc themselves.
// Read next: heap_forward.hpp.
// SPDX-License-Identifier: MIT
#include "counted/heap_forward.hpp"

extern "C" {
// NOLINTBEGIN: glibc's names
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
// NOLINTEND
}

namespace drey::bench {
void* forward_malloc(std::size_t size) noexcept {
  return __libc_malloc(size);
}
void* forward_calloc(std::size_t count, std::size_t size) noexcept {
  return __libc_calloc(count, size);
}
void* forward_realloc(void* block, std::size_t size) noexcept {
  return __libc_realloc(block, size);
}
void* forward_aligned(std::size_t alignment, std::size_t size) noexcept {
  return __libc_memalign(alignment, size);
}
void forward_free(void* block) noexcept {
  __libc_free(block);
}
const void* forward_target() noexcept {
  return reinterpret_cast<const void*>(&__libc_malloc);
}
}  // namespace drey::bench
