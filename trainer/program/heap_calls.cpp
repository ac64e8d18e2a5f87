// heap_calls.cpp: see heap_calls.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/heap_calls.hpp"

/// Defined in programs that count their heap calls (bench/counted/), null in others.
extern "C" [[gnu::weak]] unsigned long long drey_heap_call_count() noexcept;

namespace drey::trainer {
std::optional<std::uint64_t> heap_calls() noexcept {
  if (drey_heap_call_count == nullptr) return std::nullopt;
  return drey_heap_call_count();
}
}  // namespace drey::trainer
