// measure.hpp: what the micro cases share: the unit they report in, and reproducible chance.
//
// Every case reports `pair_seconds`, the time of one malloc with its free (one growth step, one
// insertion with its removal), so that cases of any shape stand in one table.
// Blocks pass through benchmark::DoNotOptimize and the files are compiled with -fno-builtin-malloc
// and its kin: no pair is elided.
// Read next: small_blocks.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace drey::bench {
/// Reports the time of one pair. `pairs_per_iteration` of them happened in each iteration.
inline void report_pairs(benchmark::State& state, double pairs_per_iteration) {
  const double pairs = static_cast<double>(state.iterations()) * pairs_per_iteration;
  state.counters["pair_seconds"] =
      benchmark::Counter(pairs, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// Marsaglia's xorshift64: a few cycles a number, the same numbers for every allocator.
/// Source: G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (14), 2003.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

  /// Uniform enough in [first, last] for choosing sizes.
  std::size_t between(std::size_t first, std::size_t last) noexcept {
    return first + static_cast<std::size_t>((next() >> 16) % (last - first + 1));
  }

 private:
  std::uint64_t state_;
};

inline constexpr std::uint64_t kSeed = 0x9E3779B97F4A7C15;

/// 0 ... count - 1 in a random order, the same each time.
inline std::vector<std::size_t> shuffled_indices(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  Random random(kSeed);
  for (std::size_t last = count; last-- > 1;) {
    std::swap(indices[last], indices[random.between(0, last)]);
  }
  return indices;
}

/// Writes the first byte, as every program does with what it asked for.
inline void touch_first_byte(void* block) noexcept {
  *static_cast<volatile char*>(block) = 1;
}
}  // namespace drey::bench
