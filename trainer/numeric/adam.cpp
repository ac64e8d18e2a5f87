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

float Adam::step(float* parameters, const float* gradient, float* target) {
  const std::size_t size = first_moment_.size();
  const float norm = norm_of(gradient, size);
  const float scale = norm > settings_.norm_max ? settings_.norm_max / norm : 1.0f;
  ++step_count_;
  // The bias corrections of Algorithm 1 in double: 1 - 0.999 loses half of float's digits.
  const auto time = static_cast<double>(step_count_);
  const double correction1 = 1.0 - std::pow(static_cast<double>(settings_.beta1), time);
  const double correction2 = 1.0 - std::pow(static_cast<double>(settings_.beta2), time);
  const auto rate = static_cast<float>(static_cast<double>(settings_.learning_rate) / correction1);
  const auto root_scale = static_cast<float>(1.0 / std::sqrt(correction2));

  const float beta1 = settings_.beta1;
  const float beta2 = settings_.beta2;
  const float epsilon = settings_.epsilon;
  const float tau = settings_.tau;
  float* const __restrict weights = on_cache_line(parameters);
  float* const __restrict targets = on_cache_line(target);
  float* const __restrict first = on_cache_line(first_moment_.data());
  float* const __restrict second = on_cache_line(second_moment_.data());
  const float* const __restrict slopes = on_cache_line(gradient);
  for (std::size_t index = 0; index < size; ++index) {
    const float slope = slopes[index] * scale;
    first[index] = beta1 * first[index] + (1.0f - beta1) * slope;
    second[index] = beta2 * second[index] + (1.0f - beta2) * slope * slope;
    const float root = std::sqrt(second[index]) * root_scale;
    const float weight = weights[index] - rate * first[index] / (root + epsilon);
    weights[index] = weight;
    targets[index] = (1.0f - tau) * targets[index] + tau * weight;
  }
  return norm;
}
}  // namespace drey::trainer
