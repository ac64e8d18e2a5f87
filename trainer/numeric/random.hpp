// random.hpp: the one generator of the trainer: PCG-XSH-RR 64/32, one instance per purpose.
// Invariants: the same seed and purpose give the same numbers on every machine; the whole state is
// two words, which a checkpoint stores. No distribution of <random> is used: those differ by
// library. Source: O'Neill, "PCG: A Family of Simple Fast Space-Efficient ... Algorithms", 2014,
// section 6.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace drey::trainer {
/// What a stream of numbers is for; streams of one seed do not overlap.
enum class RandomPurpose : std::uint64_t {
  kWeights = 1,
  kExploration,
  kReplay,
  kEnvironment,
  kTest
};

struct RandomState {
  std::uint64_t position;
  std::uint64_t stream;
  bool operator==(const RandomState&) const = default;
};

class Random {
 public:
  Random(std::uint64_t seed, RandomPurpose purpose)
      : state_{0, (static_cast<std::uint64_t>(purpose) << 1) | 1} {
    next();
    state_.position += seed;
    next();
  }

  /// 32 uniform bits.
  std::uint32_t next() {
    const std::uint64_t old = state_.position;
    state_.position = old * 6364136223846793005u + state_.stream;
    const auto shifted = static_cast<std::uint32_t>(((old >> 18) ^ old) >> 27);
    const auto rotation = static_cast<std::uint32_t>(old >> 59);
    return (shifted >> rotation) | (shifted << ((32 - rotation) & 31));
  }

  /// Uniform in [0, bound), exactly: numbers that would favour some results are drawn again.
  /// Requires: bound >= 1. Source: Lemire, "Fast random integer generation in an interval", 2019.
  std::uint32_t below(std::uint32_t bound) {
    const std::uint32_t unfair = (0u - bound) % bound;
    std::uint64_t product = std::uint64_t{next()} * bound;
    while (static_cast<std::uint32_t>(product) < unfair) product = std::uint64_t{next()} * bound;
    return static_cast<std::uint32_t>(product >> 32);
  }

  /// Uniform in [0, 1), a multiple of 2^-24: exact in float.
  float unit() { return static_cast<float>(next() >> 8) * 0x1p-24f; }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double unit_double() {
    const std::uint64_t high = next() >> 5;
    const std::uint64_t low = next() >> 6;
    return static_cast<double>((high << 26) | low) * 0x1p-53;
  }

  /// Uniform in [low, high).
  float between(float low, float high) { return low + (high - low) * unit(); }

  [[nodiscard]] const RandomState& state() const { return state_; }
  void restore(const RandomState& state) { state_ = state; }

 private:
  RandomState state_;
};
}  // namespace drey::trainer
