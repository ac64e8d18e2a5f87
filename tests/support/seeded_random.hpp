// seeded_random.hpp: where a test's random numbers come from: a fixed seed, or DREY_TEST_SEED;
// printed, so that a failure can be run again.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace drey {
/// A generator seeded by DREY_TEST_SEED, or by `fallback`.
[[nodiscard]] inline std::mt19937_64 seeded_random(std::uint64_t fallback) {
  const char* const text = std::getenv("DREY_TEST_SEED");
  const std::uint64_t seed = text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
  std::printf("seed %llu (set DREY_TEST_SEED to repeat)\n", static_cast<unsigned long long>(seed));
  return std::mt19937_64(seed);
}

/// A number from 0 to `end` - 1, the same on every standard library. Requires: end > 0.
[[nodiscard]] inline std::size_t below(std::mt19937_64& random, std::size_t end) {
  return static_cast<std::size_t>(random() % end);
}
}  // namespace drey
