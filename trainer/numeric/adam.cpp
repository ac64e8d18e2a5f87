// adam.cpp: the loops of adam.hpp, written so that the compiler turns them into vector code.
// Invariant: the order of every sum is fixed by this text, so results do not depend on the
// machine's vector width beyond what one binary brings along. Read next: adam.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/numeric/adam.hpp"

#include <drey/base/assert.hpp>

#include <cmath>

namespace drey::trainer {
namespace {
constexpr std::size_t kSumLanes = 64;
constexpr std::size_t kBlockQuantum = 16;

float* on_cache_line(float* pointer) {
  return static_cast<float*>(__builtin_assume_aligned(pointer, kCacheLineBytes));
}

const float* on_cache_line(const float* pointer) {
  return static_cast<const float*>(__builtin_assume_aligned(pointer, kCacheLineBytes));
}

/// The factors of one step, the same for every parameter.
struct StepFactors {
  float scale;  ///< of the gradient: below 1 where it is clipped
  float rate;
  float root_scale;
  float beta1;
  float beta2;
  float epsilon;
  float part;  ///< of the target's way
};

struct StepBlocks {
  float* parameters;
  const float* gradient;
  float* first_moment;
  float* second_moment;
  float* target;
};

template <bool kBlends>
void sweep(const StepFactors& factors, const StepBlocks& blocks, std::size_t size) {
  const StepFactors by = factors;
  float* const __restrict weights = on_cache_line(blocks.parameters);
  float* const __restrict targets = on_cache_line(blocks.target);
  float* const __restrict first = on_cache_line(blocks.first_moment);
  float* const __restrict second = on_cache_line(blocks.second_moment);
  const float* const __restrict slopes = on_cache_line(blocks.gradient);
  for (std::size_t index = 0; index < size; ++index) {
    const float slope = slopes[index] * by.scale;
    first[index] = by.beta1 * first[index] + (1.0f - by.beta1) * slope;
    second[index] = by.beta2 * second[index] + (1.0f - by.beta2) * slope * slope;
    const float root = std::sqrt(second[index]) * by.root_scale;
    const float weight = weights[index] - by.rate * first[index] / (root + by.epsilon);
    weights[index] = weight;
    if constexpr (kBlends) targets[index] = (1.0f - by.part) * targets[index] + by.part * weight;
  }
}
}  // namespace

float norm_of(const float* values, std::size_t size) {
  DREY_ASSERT(size % kBlockQuantum == 0);
  alignas(kCacheLineBytes) float lanes[kSumLanes] = {};
  const float* const aligned = on_cache_line(values);
  std::size_t index = 0;
  for (; index + kSumLanes <= size; index += kSumLanes) {
    for (std::size_t lane = 0; lane < kSumLanes; ++lane) {
      lanes[lane] += aligned[index + lane] * aligned[index + lane];
    }
  }
  for (; index < size; ++index) lanes[index % kSumLanes] += aligned[index] * aligned[index];
  double sum = 0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  return static_cast<float>(std::sqrt(sum));
}

float Adam::step(float* parameters, const float* gradient, const TargetBlend& blend) {
  const std::size_t size = first_moment_.size();
  const float norm = norm_of(gradient, size);
  ++step_count_;
  // The bias corrections of Algorithm 1 in double: 1 - 0.999 loses half of float's digits.
  const auto time = static_cast<double>(step_count_);
  const double correction1 = 1.0 - std::pow(static_cast<double>(settings_.beta1), time);
  const double correction2 = 1.0 - std::pow(static_cast<double>(settings_.beta2), time);
  const StepFactors factors = {
      norm > settings_.norm_max ? settings_.norm_max / norm : 1.0f,
      static_cast<float>(static_cast<double>(settings_.learning_rate) / correction1),
      static_cast<float>(1.0 / std::sqrt(correction2)),
      settings_.beta1,
      settings_.beta2,
      settings_.epsilon,
      blend.part};
  const StepBlocks blocks = {parameters, gradient, first_moment_.data(), second_moment_.data(),
                             blend.target};
  if (blend.target != nullptr) {
    sweep<true>(factors, blocks, size);
  } else {
    sweep<false>(factors, blocks, size);
  }
  return norm;
}
}  // namespace drey::trainer
