// heap_wrap.hpp: every call of drey_malloc and its family in this program, counted, and refused where
// a test says so. The linker leads the calls here (--wrap), those of the library included.
// Read next: heap_wrap.cpp, heap_calls_test.cpp, shortage_test.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <climits>

namespace drey::test {
/// Calls so far: of those that take, and of drey_free with a block.
[[nodiscard]] int heap_calls() noexcept;

/// From now on `count` calls that take go well, all after them fail, until a HeapShortage ends.
class HeapShortage {
 public:
  explicit HeapShortage(int count) noexcept;
  ~HeapShortage();
  HeapShortage(const HeapShortage&) = delete;
  HeapShortage& operator=(const HeapShortage&) = delete;
};
}  // namespace drey::test
