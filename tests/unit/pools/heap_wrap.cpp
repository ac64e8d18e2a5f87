// heap_wrap.cpp: see heap_wrap.hpp. For one thread.
// SPDX-License-Identifier: MIT
#include "heap_wrap.hpp"

#include <cerrno>
#include <cstddef>

namespace {
int call_count = 0;
int calls_left = INT_MAX;

/// Counts a call that takes. Returns: whether it may go on.
bool may_take() noexcept {
  ++call_count;
  if (calls_left == INT_MAX) return true;
  if (calls_left == 0) {
    errno = ENOMEM;
    return false;
  }
  --calls_left;
  return true;
}
}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the linker's names.
extern "C" {
void* __real_drey_malloc(std::size_t size);
void* __real_drey_realloc(void* pointer, std::size_t size);
void* __real_drey_aligned_alloc(std::size_t alignment, std::size_t size);
void __real_drey_free(void* pointer);

void* __wrap_drey_malloc(std::size_t size) {
  return may_take() ? __real_drey_malloc(size) : nullptr;
}
void* __wrap_drey_realloc(void* pointer, std::size_t size) {
  return may_take() ? __real_drey_realloc(pointer, size) : nullptr;
}
void* __wrap_drey_aligned_alloc(std::size_t alignment, std::size_t size) {
  return may_take() ? __real_drey_aligned_alloc(alignment, size) : nullptr;
}
void __wrap_drey_free(void* pointer) {
  if (pointer != nullptr) ++call_count;
  __real_drey_free(pointer);
}
}
// NOLINTEND(readability-identifier-naming)

namespace drey::test {
int heap_calls() noexcept {
  return call_count;
}

HeapShortage::HeapShortage(int count) noexcept {
  calls_left = count;
}

HeapShortage::~HeapShortage() {
  calls_left = INT_MAX;
}
}  // namespace drey::test
