// batch_reader.hpp: from slots of a replay to a gradient step: one reader for each learner.
// The arrays of a batch are taken once and filled again and again (kReused), or asked for anew in
// each step and then copied to where the learner wants them (kFresh): what a trainer does that makes
// tensors of vectors. Invariant: both give the same weights bit for bit; kReused makes no heap call.
// Read next: replay_store.hpp, learner.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/gradient_exchange.hpp"
#include "trainer/agent/learner.hpp"
#include "trainer/agent/memory_forms.hpp"
#include "trainer/agent/replay_store.hpp"
#include "trainer/numeric/aligned_array.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace drey::trainer {
/// Threads: one at a time; several readers may share a store to which nobody adds.
class BatchReader {
 public:
  /// Units: transitions of a gradient step; `gamma` is that of the learner.
  BatchReader(BatchForm form, std::size_t batch_size, float gamma);

  /// Null: the learner is alone. Else `exchange`, which outlives this, averages every gradient.
  void set_exchange(GradientExchange* exchange) { exchange_ = exchange; }

  /// One gradient step of `learner` on these slots; `weights` of their losses, or none: all 1.
  /// Requires: learner's batch size; slots below store.size(); the rows that `store` names are in
  /// `table`.
  LossReport learn(Learner& learner, const ReplayStore& store, const ObservationTable& table,
                   std::span<const std::uint32_t> slots, std::span<const float> weights);

  [[nodiscard]] std::size_t bytes() const;

 private:
  /// What is to be learned from.
  struct Batch {
    const ReplayStore& store;
    const ObservationTable& table;
    Draw draw;
    std::span<const float> weights;
  };

  LossReport learn_reused(Learner& learner, const Batch& batch);
  LossReport learn_fresh(Learner& learner, const Batch& batch) const;
  LossReport step(Learner& learner, const BatchTerms& terms) const;
  void fill_terms(std::span<float> rewards, std::span<float> discounts,
                  std::span<Action> actions) const;

  BatchForm form_;
  AlignedArray<Transition> transitions_;
  AlignedArray<float> gamma_powers_;
  AlignedArray<float> rewards_;
  AlignedArray<float> discounts_;
  AlignedArray<Action> actions_;
  GradientExchange* exchange_ = nullptr;
};
}  // namespace drey::trainer
