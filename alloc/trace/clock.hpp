// clock.hpp: the stamp of an event: the processor's counter where it may be trusted, else the
// kernel's monotonic clock, at four times the price.
//
// Trusted means: it runs at one rate in every state of the processor (the "invariant" bit), so that
// two pairs of stamps give its rate. Stamps of two cores may disagree by some hundred nanoseconds:
// whoever reads a trace has a rule for that (docs/TRACE.md, "Order").
// Read next: recorder.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace drey::trace {
/// CLOCK_MONOTONIC by the C library's fast call. errno is kept.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

#if defined(__x86_64__)
[[nodiscard]] inline bool processor_counter_is_steady() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007;
  constexpr unsigned kInvariantBit = 1U << 8;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantBit) != 0;
}
[[nodiscard, gnu::always_inline]] inline std::uint64_t processor_counter() noexcept {
  return __rdtsc();
}
#elif defined(__aarch64__)
[[nodiscard]] inline bool processor_counter_is_steady() noexcept {
  return true;  // by the architecture
}
[[nodiscard, gnu::always_inline]] inline std::uint64_t processor_counter() noexcept {
  std::uint64_t value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
}
#else
[[nodiscard]] inline bool processor_counter_is_steady() noexcept {
  return false;
}
[[nodiscard]] inline std::uint64_t processor_counter() noexcept {
  return 0;
}
#endif
}  // namespace drey::trace
