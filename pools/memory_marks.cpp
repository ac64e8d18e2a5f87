// memory_marks.cpp: AddressSanitizer by weak symbols, Valgrind by its header where that is there.
// Read next: include/drey/pools/memory_marks.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/memory_marks.hpp>

#include <cstddef>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif

// The sanitizer's run-time library defines these; null where there is none.
// NOLINTBEGIN(readability-identifier-naming): its names.
extern "C" [[gnu::weak]] void __asan_poison_memory_region(const volatile void* pointer,
                                                          std::size_t bytes);
extern "C" [[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* pointer,
                                                            std::size_t bytes);
// NOLINTEND(readability-identifier-naming)

namespace drey {
namespace {
#if __has_include(<valgrind/memcheck.h>)
[[nodiscard]] bool runs_on_valgrind() noexcept {
  return RUNNING_ON_VALGRIND != 0;
}
void forbid(const void* pointer, std::size_t bytes) noexcept {
  static_cast<void>(VALGRIND_MAKE_MEM_NOACCESS(pointer, bytes));
}
void permit(const void* pointer, std::size_t bytes) noexcept {
  static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(pointer, bytes));
}
#else
[[nodiscard]] bool runs_on_valgrind() noexcept {
  return false;
}
void forbid(const void* /*pointer*/, std::size_t /*bytes*/) noexcept {}
void permit(const void* /*pointer*/, std::size_t /*bytes*/) noexcept {}
#endif

[[nodiscard]] bool has_address_sanitizer() noexcept {
  return __asan_poison_memory_region != nullptr && __asan_unpoison_memory_region != nullptr;
}
}  // namespace

bool memory_is_watched() noexcept {
  return has_address_sanitizer() || runs_on_valgrind();
}

void mark_unusable(const void* pointer, std::size_t bytes) noexcept {
  if (has_address_sanitizer()) __asan_poison_memory_region(pointer, bytes);
  forbid(pointer, bytes);
}

void mark_usable(const void* pointer, std::size_t bytes) noexcept {
  if (has_address_sanitizer()) __asan_unpoison_memory_region(pointer, bytes);
  permit(pointer, bytes);
}
}  // namespace drey
