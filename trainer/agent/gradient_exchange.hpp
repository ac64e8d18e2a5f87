// gradient_exchange.hpp: where a learner on one of several ranks meets the others: between the backward
// pass and the optimiser.
// Read next: batch_reader.cpp, agent/data_parallel.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/bellman.hpp"

#include <span>

namespace drey::trainer {
class GradientExchange {
 public:
  GradientExchange() = default;
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;
  virtual ~GradientExchange() = default;

  /// Puts the mean over all ranks into `gradient`, and into loss and value of `report`.
  /// Cost: no heap call.
  virtual void average(std::span<float> gradient, LossReport& report) = 0;
};
}  // namespace drey::trainer
