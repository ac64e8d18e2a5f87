// adam.cpp: the factors of a step; the loops are kernels/adam_loops.hpp, once for each instruction
// set. Read next: adam.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/numeric/adam.hpp"

#include <cmath>

#include <drey/base/assert.hpp>

#include "trainer/numeric/kernels/kernels.hpp"

namespace drey::trainer {
AdamFactors Adam::next_factors() const {
  // In double: 1 - 0.999 loses half of float's digits.
  const auto time = static_cast<double>(step_count_ + 1);
  const double correction1 = 1.0 - std::pow(static_cast<double>(settings_.beta1), time);
  const double correction2 = 1.0 - std::pow(static_cast<double>(settings_.beta2), time);
  return {static_cast<float>(static_cast<double>(settings_.learning_rate) / correction1),
          static_cast<float>(1.0 / std::sqrt(correction2))};
}

float Adam::step(float* parameters, const float* gradient, const TargetBlend& blend) {
  const float norm = begin_step(parameters, gradient, blend);
  sweep(0, first_moment_.size());
  return norm;
}

void Adam::sweep(std::size_t first, std::size_t size) const {
  DREY_ASSERT(first + size <= begun_.size);
  AdamSweep part = begun_;
  part.parameters += first;
  part.gradient += first;
  part.first_moment += first;
  part.second_moment += first;
  if (part.target != nullptr) part.target += first;
  part.size = size;
  kernels_->adam(part);
}

float Adam::begin_step(float* parameters, const float* gradient, const TargetBlend& blend) {
  const std::size_t size = first_moment_.size();
  const auto norm = static_cast<float>(std::sqrt(kernels_->square_sum(gradient, size)));
  const AdamFactors factors = next_factors();
  ++step_count_;
  AdamSweep& sweep = begun_;
  sweep.scale = norm > settings_.norm_max ? settings_.norm_max / norm : 1.0f;
  sweep.rate = factors.rate;
  sweep.root_scale = factors.root_scale;
  sweep.beta1 = settings_.beta1;
  sweep.beta2 = settings_.beta2;
  sweep.epsilon = settings_.epsilon;
  sweep.part = blend.part;
  sweep.parameters = parameters;
  sweep.gradient = gradient;
  sweep.first_moment = first_moment_.data();
  sweep.second_moment = second_moment_.data();
  sweep.target = blend.target;
  sweep.size = size;
  return norm;
}
}  // namespace drey::trainer
