// heap_calls.cpp: counts every call of the heap in a program: malloc and its kin are defined here
// and forwarded to the subject. operator new and delete (new_delete.cpp) and libc's strdup and the
// like reach malloc, so they count once each; free of null is a call too.
//
// Invariant: nothing here allocates; counting is one relaxed addition.
// Never linked into a binary whose time is measured.
// Read next: heap_forward.hpp.
// SPDX-License-Identifier: MIT
#include "counted/heap_forward.hpp"

#include <drey/base/bits.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace drey::bench {
namespace {
constexpr std::size_t kPageBytes = 4096;
std::atomic<unsigned long long> calls{0};

/// Relaxed: the count orders nothing; pairs with drey_heap_call_count.
void count_call() noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
}

void* aligned_or_error(std::size_t alignment, std::size_t size) noexcept {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return forward_aligned(alignment, size);
}
}  // namespace
}  // namespace drey::bench

extern "C" {
using namespace drey::bench;  // NOLINT: these are C's functions, written in drey's terms

/// Calls so far, by all threads. Relaxed: pairs with count_call.
unsigned long long drey_heap_call_count() noexcept {
  return calls.load(std::memory_order_relaxed);
}

/// See active_allocator.cpp.
const void* drey_counted_malloc() noexcept {
  return forward_target();
}

void* malloc(std::size_t size) noexcept {
  count_call();
  return forward_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  count_call();
  return forward_calloc(count, size);
}

void* realloc(void* block, std::size_t size) noexcept {
  count_call();
  return forward_realloc(block, size);
}

void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
  count_call();
  if (size != 0 && count > std::numeric_limits<std::size_t>::max() / size) {
    errno = ENOMEM;
    return nullptr;
  }
  return forward_realloc(block, count * size);
}

void free(void* block) noexcept {
  count_call();
  forward_free(block);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  count_call();
  return aligned_or_error(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  count_call();
  return aligned_or_error(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  count_call();
  if (!drey::is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int saved_errno = errno;
  void* const taken = forward_aligned(alignment, size);
  errno = saved_errno;
  if (taken == nullptr) return ENOMEM;
  *block = taken;
  return 0;
}

void* valloc(std::size_t size) noexcept {
  count_call();
  return forward_aligned(kPageBytes, size);
}

void* pvalloc(std::size_t size) noexcept {
  count_call();
  if (size > static_cast<std::size_t>(PTRDIFF_MAX)) {
    errno = ENOMEM;
    return nullptr;
  }
  return forward_aligned(kPageBytes, drey::align_up(size, kPageBytes));
}
}
