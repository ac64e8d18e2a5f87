// harness.hpp: what the cases of drey-peer-cases share: a list of cases, a clock, chance, and the
// memory that the kernel says we hold.
//
// Invariants: a case measures in the process that runs it and is the only one it runs; what it
// takes passes through keep(), so that no pair is elided; nothing here calls malloc while a case is
// being timed.
// Read next: harness.cpp, pairs.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace drey::bench {
/// Name and value, in the order in which they are shown: {"cpu_ns", 3.2}.
using Figures = std::vector<std::pair<std::string, double>>;

/// One thing to measure.
struct Case {
  std::string group;                       ///< "pair", "memory", ...
  std::string name;                        ///< "pair/64"
  std::function<Figures(double)> measure;  ///< given the seconds it should take
  bool needs_threads = false;              ///< runs on all cores, else bound to one
  bool is_big = false;                     ///< needs gigabytes; only run when asked for
};
using CaseList = std::vector<Case>;

/// Hides from the compiler what becomes of a block.
inline void keep(void* block) noexcept {
  asm volatile("" : : "r"(block) : "memory");
}

/// Writes the first byte, as every program does with what it asked for.
inline void touch(void* block) noexcept {
  *static_cast<volatile char*>(block) = 1;
}

/// Marsaglia's xorshift64: the same numbers for every allocator.
/// Source: G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (14), 2003.
class Random {
 public:
  explicit Random(std::uint64_t seed = 0x9E3779B97F4A7C15) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

  /// In [0, count).
  std::size_t below(std::size_t count) noexcept {
    return static_cast<std::size_t>((next() >> 16) % count);
  }

 private:
  std::uint64_t state_;
};

/// Time and faults so far, of the whole process with all its threads.
struct Spent {
  double cpu_ns = 0;
  double wall_ns = 0;
  double faults = 0;
};
[[nodiscard]] Spent spent_so_far() noexcept;

/// Does `work(count)` with a count that makes it cost a part of `seconds`, three times over, and
/// says what the cheapest of the three cost: {"cpu_ns", "wall_ns", "faults"}, each an operation.
/// `operations`: how many one count stands for. The count is found by trying; that warms up, too.
/// Work that cannot be done within the time is done once or twice.
[[nodiscard]] Figures cost_of(double seconds, double operations,
                              const std::function<void(std::size_t)>& work);

/// Resident bytes now. Does not allocate.
[[nodiscard]] double resident_bytes() noexcept;
}  // namespace drey::bench
