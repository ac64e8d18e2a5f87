// member.hpp: one learner and how it draws its batches: a lone agent's, or one of an ensemble.
// Invariant: what a member becomes depends on its settings, its number and the replay, and on no other
// member: so members may learn at the same time, in any order, on any thread.
// Read next: draw_strategy.hpp, batch_reader.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/batch_reader.hpp"
#include "trainer/agent/data_parallel.hpp"
#include "trainer/agent/draw_strategy.hpp"
#include "trainer/agent/learner.hpp"
#include "trainer/agent/memory_forms.hpp"
#include "trainer/agent/prioritised_sampler.hpp"
#include "trainer/agent/replay_store.hpp"
#include "trainer/numeric/random.hpp"
#include "trainer/parallel/communicator.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace drey::trainer {
struct MemberSettings {
  LearnerSettings learner;  ///< batch_size is that of all ranks together
  MakeLearner make_learner = make_cpu_learner;
  DrawStrategy strategy = DrawStrategy::kUniform;
  double alpha = 0.6;  ///< of the priorities
  std::size_t replay_capacity = 100000;
  BatchForm batches = BatchForm::kReused;
  PolyakForm polyak = PolyakForm::kFused;
  std::uint64_t seed = 1;
  /// Takes part in every batch of this one: see agent/data_parallel.hpp. Null: a batch is our own.
  Communicator* ranks = nullptr;
  MakeReduction make_reduction = make_mean_reduction;  ///< of their gradients
};

/// What a step depends on beside the replay.
struct LearningPlan {
  float learning_rate;
  float beta;  ///< how much importance weights make up for priorities
};

/// Threads: one at a time; several members may share a store to which nobody adds.
class Member {
 public:
  /// Requires: a batch size that ranks->size() divides. Fails: as make_learner does.
  explicit Member(const MemberSettings& settings);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// A transition was stored in `slot` of this member's replay.
  void stored(std::size_t slot) {
    if (priorities_) priorities_->stored(slot);
  }

  /// One gradient step. Requires: store.size() >= 1; its rows are in `table`. Cost: no heap call but
  /// in the wasteful forms.
  LossReport learn(const ReplayStore& store, const ObservationTable& table,
                   const LearningPlan& plan);

  [[nodiscard]] const MemberSettings& settings() const { return settings_; }
  [[nodiscard]] Learner& learner() { return *learner_; }
  [[nodiscard]] const Learner& learner() const { return *learner_; }
  /// Null but for a prioritised member.
  [[nodiscard]] PrioritisedSampler* priorities() { return priorities_ ? &*priorities_ : nullptr; }
  [[nodiscard]] Random& sampling() { return sampling_; }
  /// Of batches, priorities and exchange: what is not the learner's.
  [[nodiscard]] std::size_t bytes() const;

 private:
  void draw(const ReplayStore& store, const LearningPlan& plan);
  void follow_with_temporaries();
  void note_errors();

  MemberSettings settings_;
  std::unique_ptr<Learner> learner_;
  BatchReader reader_;
  Random sampling_;
  std::optional<PrioritisedSampler> priorities_;
  std::optional<DataParallel> exchange_;
  std::size_t part_first_ = 0;  ///< of the batch: where this rank's part begins
  AlignedArray<std::uint32_t> slots_;
  AlignedArray<float> weights_;
  AlignedArray<float> errors_;  ///< of the whole batch
};
}  // namespace drey::trainer
