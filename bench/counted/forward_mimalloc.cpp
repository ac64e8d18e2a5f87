// forward_mimalloc.cpp: behind the counter stands mimalloc, under its own names.
// Read next: heap_forward.hpp.
// SPDX-License-Identifier: MIT
#include "counted/heap_forward.hpp"

#include <mimalloc.h>

namespace drey::bench {
void* forward_malloc(std::size_t size) noexcept {
  return mi_malloc(size);
}
void* forward_calloc(std::size_t count, std::size_t size) noexcept {
  return mi_calloc(count, size);
}
void* forward_realloc(void* block, std::size_t size) noexcept {
  return mi_realloc(block, size);
}
void* forward_aligned(std::size_t alignment, std::size_t size) noexcept {
  return mi_memalign(alignment, size);
}
void forward_free(void* block) noexcept {
  mi_free(block);
}
const void* forward_target() noexcept {
  return reinterpret_cast<const void*>(&mi_malloc);
}
}  // namespace drey::bench
