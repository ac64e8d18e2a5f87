// adam_loops.hpp: Adam, the target's blend and the norm as plain loops, for the compiler to turn
// into the vectors of the file that includes them.
// Invariants: the order of every sum is fixed by this text; every function is a template over a
// type of one file's anonymous namespace (see tile.hpp).
// Read next: adam.hpp, kernels.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/kernels/kernels.hpp"

namespace drey::trainer::loops {
inline constexpr std::size_t kSumLanes = 64;

template <class Unit>
double square_sum(const float* values, std::size_t size) {
  alignas(64) float lanes[kSumLanes] = {};
  const auto* const aligned = static_cast<const float*>(__builtin_assume_aligned(values, 64));
  std::size_t index = 0;
  for (; index + kSumLanes <= size; index += kSumLanes) {
    for (std::size_t lane = 0; lane < kSumLanes; ++lane) {
      lanes[lane] += aligned[index + lane] * aligned[index + lane];
    }
  }
  for (; index < size; ++index) lanes[index % kSumLanes] += aligned[index] * aligned[index];
  double sum = 0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

template <class Unit, bool kBlends>
void sweep(const AdamSweep& of) {
  const AdamSweep by = of;
  auto* const __restrict weights = static_cast<float*>(__builtin_assume_aligned(by.parameters, 64));
  auto* const __restrict targets = static_cast<float*>(__builtin_assume_aligned(by.target, 64));
  auto* const __restrict first = static_cast<float*>(__builtin_assume_aligned(by.first_moment, 64));
  auto* const __restrict second =
      static_cast<float*>(__builtin_assume_aligned(by.second_moment, 64));
  const auto* const __restrict slopes =
      static_cast<const float*>(__builtin_assume_aligned(by.gradient, 64));
  for (std::size_t index = 0; index < by.size; ++index) {
    const float slope = slopes[index] * by.scale;
    first[index] = by.beta1 * first[index] + (1.0f - by.beta1) * slope;
    second[index] = by.beta2 * second[index] + (1.0f - by.beta2) * slope * slope;
    const float root = __builtin_sqrtf(second[index]) * by.root_scale;
    const float weight = weights[index] - by.rate * first[index] / (root + by.epsilon);
    weights[index] = weight;
    if constexpr (kBlends) targets[index] = (1.0f - by.part) * targets[index] + by.part * weight;
  }
}

template <class Unit>
void adam(const AdamSweep& of) {
  if (of.target != nullptr) {
    sweep<Unit, true>(of);
  } else {
    sweep<Unit, false>(of);
  }
}
}  // namespace drey::trainer::loops
