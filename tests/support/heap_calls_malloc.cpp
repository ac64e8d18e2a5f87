// heap_calls_malloc.cpp: heap_calls.hpp by the process's malloc, whoever provides it.
// Read next: heap_calls.hpp.
// SPDX-License-Identifier: MIT
#include "support/heap_calls.hpp"

#include "support/pattern.hpp"

#include <cstdlib>

#include <malloc.h>

namespace drey::test::heap {
void* take(std::size_t bytes) {
  return escape(std::malloc(bytes));
}

void* take_zeroed(std::size_t bytes) {
  return escape(std::calloc(1, bytes));
}

void* take_aligned(std::size_t alignment, std::size_t bytes) {
  return escape(std::aligned_alloc(alignment, bytes));
}

void* resize(void* block, std::size_t bytes) {
  return escape(std::realloc(block, bytes));
}

void give_back(void* block) {
  std::free(block);
}

std::size_t usable_bytes(void* block) {
  return malloc_usable_size(block);
}

void trim() {
  malloc_trim(0);
}
}  // namespace drey::test::heap
