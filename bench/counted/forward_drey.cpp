// forward_drey.cpp: behind the counter stands drey, called under its own names (drey::alloc,
// without the override).
// Read next: heap_forward.hpp.
// SPDX-License-Identifier: MIT
#include "counted/heap_forward.hpp"

#include <drey/alloc.h>

extern "C" {
/// libc's would read a header that drey's blocks do not have.
std::size_t malloc_usable_size(void* block) noexcept {
  return drey_usable_size(block);
}
}

namespace drey::bench {
void* forward_malloc(std::size_t size) noexcept {
  return drey_malloc(size);
}
void* forward_calloc(std::size_t count, std::size_t size) noexcept {
  return drey_calloc(count, size);
}
void* forward_realloc(void* block, std::size_t size) noexcept {
  return drey_realloc(block, size);
}
void* forward_aligned(std::size_t alignment, std::size_t size) noexcept {
  return drey_aligned_alloc(alignment, size);
}
void forward_free(void* block) noexcept {
  drey_free(block);
}
const void* forward_target() noexcept {
  return reinterpret_cast<const void*>(&drey_malloc);
}
}  // namespace drey::bench
