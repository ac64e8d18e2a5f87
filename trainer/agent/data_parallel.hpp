// data_parallel.hpp: one agent on several ranks, each of which takes its part of every batch.
// The ranks are replicas: the same seed, steps, replay and draws, so that no transition is ever sent. Of
// the slots drawn for a batch of B, rank r of R learns from [r B / R, (r + 1) B / R) and the gradients are
// averaged: the gradient of the whole batch, but for the order of the sum.
// Invariant: the weights of all ranks are equal bit for bit after each step (parallel/reduction.hpp).
// Read next: parallel/reduction.hpp, gradient_exchange.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/gradient_exchange.hpp"
#include "trainer/parallel/reduction.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace drey::trainer {
/// Threads: one at a time.
class DataParallel final : public GradientExchange {
 public:
  /// For gradients of `block_size` values. `communicator` outlives this. Fails: as `make` does.
  DataParallel(Communicator& communicator, std::size_t block_size, const MakeReduction& make)
      : reduction_(make(communicator, block_size + kReportValues)),
        values_(block_size + kReportValues) {}

  void average(std::span<float> gradient, LossReport& report) override;

  [[nodiscard]] std::size_t bytes() const {
    return reduction_->bytes() + values_.size() * sizeof(float);
  }

 private:
  static constexpr std::size_t kReportValues = 2;  // the loss and the value go along

  std::unique_ptr<Reduction> reduction_;
  AlignedArray<float> values_;
};
}  // namespace drey::trainer
