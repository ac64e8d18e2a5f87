// seed.hpp: the seed and the budget of a randomised test, both settable from outside.
// DREY_TEST_SEED replays a run; DREY_TEST_SCALE (default 1) multiplies the number of operations.
// Invariant: a test draws every choice from the Random it made here, so that the printed seed is
// the whole story for one thread, and the set of choices for several.
// Read next: random_ops.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace drey::test {
/// splitmix64: small, fast, and the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }

  /// In [0, bound). Requires: bound > 0.
  std::size_t below(std::size_t bound) noexcept { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t state_;
};

/// DREY_TEST_SEED, or the default of this test; printed, so that a failure can be replayed.
inline std::uint64_t test_seed(std::uint64_t default_seed) {
  const char* const text = std::getenv("DREY_TEST_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 0) : default_seed;
  std::printf("DREY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

/// `operations` times DREY_TEST_SCALE; at least one.
inline std::size_t scaled(std::size_t operations) {
  const char* const text = std::getenv("DREY_TEST_SCALE");
  const double scale = text != nullptr ? std::strtod(text, nullptr) : 1.0;
  const double product = static_cast<double>(operations) * scale;
  return product < 1.0 ? 1 : static_cast<std::size_t>(product);
}
}  // namespace drey::test
