// conformance.hpp: what all conformance tests share: the fixture, size lists, optional functions.
// The expectations come from C11 7.22.3, C23 7.24.3, POSIX.1-2024, [new.delete] of C++20 and, where
// these leave a choice that programs rely on, from glibc's documented behaviour; each test says
// which clause. A wrong expectation shows up on the system's allocator first.
// Read next: alignment_test.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/pattern.hpp"
#include "support/subject.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <malloc.h>

namespace drey::test {
inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = kKiB * kKiB;
inline constexpr std::size_t kObjectBytesMax = PTRDIFF_MAX;

/// Sizes of every kind: each 1..1088, around every eighth of an octave to 512 KiB, and some above.
std::vector<std::size_t> sizes_of_every_class();

/// A shorter list: a few of each kind, for tests that do a lot per size.
std::vector<std::size_t> some_sizes();

/// Sizes that no allocator can grant: PTRDIFF_MAX and all above in a sample, the last 5,000 whole.
std::vector<std::size_t> impossible_sizes();

/// Functions that a C library may lack; null where the process has none.
struct OptionalFunctions {
  void (*free_sized)(void*, std::size_t);
  void (*free_aligned_sized)(void*, std::size_t, std::size_t);
  void (*cfree)(void*);
  void* (*reallocarray)(void*, std::size_t, std::size_t);
};
const OptionalFunctions& optional_functions();

/// Frees what it holds when a test ends early.
class Block {
 public:
  explicit Block(void* pointer) noexcept : pointer_(escape(pointer)) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { std::free(pointer_); }
  [[nodiscard]] void* get() const noexcept { return pointer_; }
  /// The caller frees it, or has done so.
  void* release() noexcept {
    void* const pointer = pointer_;
    pointer_ = nullptr;
    return pointer;
  }
  void reset(void* pointer) noexcept { pointer_ = escape(pointer); }

 private:
  void* pointer_;
};

class ConformanceTest : public SubjectTest {};
}  // namespace drey::test
