// heap_calls_drey.cpp: heap_calls.hpp by drey's own names, beside the process's malloc.
// Read next: heap_calls.hpp.
// SPDX-License-Identifier: MIT
#include "support/heap_calls.hpp"

#include <drey/alloc.h>

namespace drey::test::heap {
void* take(std::size_t bytes) {
  return drey_malloc(bytes);
}

void* take_zeroed(std::size_t bytes) {
  return drey_calloc(1, bytes);
}

void* take_aligned(std::size_t alignment, std::size_t bytes) {
  return drey_aligned_alloc(alignment, bytes);
}

void* resize(void* block, std::size_t bytes) {
  return drey_realloc(block, bytes);
}

void give_back(void* block) {
  drey_free(block);
}

std::size_t usable_bytes(void* block) {
  return drey_usable_size(block);
}

void trim() {
  drey_collect();
}
}  // namespace drey::test::heap
