// relaxed.hpp: relaxed and acquire loads as operands of the instruction that needs them.
//
// GCC keeps every atomic load an instruction of its own. Where each instruction counts, an aligned
// load inside another one is just as atomic, and on x86-64 every load acquires; the compiler is
// kept in order by the clobber. ThreadSanitizer is shown the atomic form.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace drey {
/// The word, relaxed; its address stays an operand, where GCC would put it into a register.
template <typename T>
[[nodiscard, gnu::always_inline]] inline T* load_relaxed(const std::atomic<T*>& word) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  T* value;
  asm("movq %1, %0" : "=r"(value) : "m"(word));
  return value;
#else
  return word.load(std::memory_order_relaxed);
#endif
}

/// `base` + `word`, the word loaded relaxed. Pairs with whatever orders the word for the caller.
[[nodiscard, gnu::always_inline]] inline std::uintptr_t add_relaxed(
    std::uintptr_t base, const std::atomic<std::uintptr_t>& word) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  asm("addq %1, %0" : "+r"(base) : "m"(word));
  return base;
#else
  return base + word.load(std::memory_order_relaxed);
#endif
}

/// `value` & `word`, the word loaded with acquire. Pairs with the release store of the word.
[[nodiscard, gnu::always_inline]] inline std::uintptr_t and_acquire(
    std::uintptr_t value, const std::atomic<std::uintptr_t>& word) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  asm volatile("andq %1, %0" : "+r"(value) : "m"(word) : "memory");
  return value;
#else
  return value & word.load(std::memory_order_acquire);
#endif
}
}  // namespace drey
