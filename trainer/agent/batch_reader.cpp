// batch_reader.cpp: see batch_reader.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/batch_reader.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <drey/base/assert.hpp>

namespace drey::trainer {
namespace {
constexpr std::size_t kStepsMax = 255;  // what Transition::steps can hold

/// Where the learner wants the observations.
StateRoom room_of(Learner& learner) {
  const Columns<float> inputs = learner.inputs();
  const std::size_t batch = learner.settings().batch_size;
  return {inputs.values, inputs.values + batch * inputs.stride, inputs.stride};
}

void copy_rows(const std::vector<float>& rows, std::size_t width, float* to, std::size_t stride) {
  for (std::size_t row = 0; row * width < rows.size(); ++row) {
    std::copy_n(rows.data() + row * width, width, to + row * stride);
  }
}
}  // namespace

BatchReader::BatchReader(BatchForm form, std::size_t batch_size, float gamma)
    : form_(form),
      transitions_(batch_size),
      gamma_powers_(kStepsMax + 1),
      rewards_(batch_size),
      discounts_(batch_size),
      actions_(batch_size) {
  for (std::size_t steps = 0; steps <= kStepsMax; ++steps) {
    gamma_powers_[steps] =
        static_cast<float>(std::pow(static_cast<double>(gamma), static_cast<double>(steps)));
  }
}

void BatchReader::fill_terms(std::span<float> rewards, std::span<float> discounts,
                             std::span<Action> actions) const {
  for (std::size_t index = 0; index < transitions_.size(); ++index) {
    const Transition& transition = transitions_[index];
    rewards[index] = transition.reward;
    discounts[index] = transition.terminated ? 0.0f : gamma_powers_[transition.steps];
    actions[index] = transition.action;
  }
}

LossReport BatchReader::learn(Learner& learner, const ReplayStore& store,
                              const ObservationTable& table, std::span<const std::uint32_t> slots,
                              std::span<const float> weights) {
  DREY_ASSERT(learner.settings().batch_size == transitions_.size() &&
              slots.size() == transitions_.size());
  const std::span<const Transition> stored = store.buffer().stored();
  for (std::size_t index = 0; index < slots.size(); ++index) {
    DREY_ASSERT(slots[index] < stored.size());
    transitions_[index] = stored[slots[index]];
  }
  const Batch batch{store, table, {slots, transitions_.span()}, weights};
  return form_ == BatchForm::kFresh ? learn_fresh(learner, batch) : learn_reused(learner, batch);
}

/// Of what the learner's inputs hold.
LossReport BatchReader::step(Learner& learner, const BatchTerms& terms) const {
  if (exchange_ == nullptr) return learner.learn_assembled(terms);
  LossReport report = learner.compute_gradient(terms);
  exchange_->average(learner.gradient().span(), report);
  report.gradient_norm = static_cast<double>(learner.apply_gradient());
  return report;
}

LossReport BatchReader::learn_reused(Learner& learner, const Batch& batch) {
  if (batch.store.form() == ReplayForm::kIndex && !batch.table.converts() && exchange_ == nullptr) {
    return learner.learn(transitions_.span(), batch.weights, batch.table);
  }
  batch.store.gather(batch.draw, batch.table, room_of(learner));
  fill_terms(rewards_.span(), discounts_.span(), actions_.span());
  return step(learner, {rewards_.span(), discounts_.span(), batch.weights, actions_.span()});
}

LossReport BatchReader::learn_fresh(Learner& learner, const Batch& batch) const {
  const std::size_t size = batch.draw.slots.size();
  const std::size_t width = batch.table.width;
  std::vector<float> observations(size * width);
  std::vector<float> next_observations(size * width);
  std::vector<float> rewards(size);
  std::vector<float> discounts(size);
  std::vector<Action> actions(size);
  batch.store.gather(batch.draw, batch.table,
                     {observations.data(), next_observations.data(), width});
  fill_terms(rewards, discounts, actions);
  const StateRoom room = room_of(learner);
  copy_rows(observations, width, room.observations, room.stride);
  copy_rows(next_observations, width, room.next_observations, room.stride);
  return step(learner, {rewards, discounts, batch.weights, actions});
}

std::size_t BatchReader::bytes() const {
  return transitions_.size() * (sizeof(Transition) + sizeof(Action) + 2 * sizeof(float)) +
         gamma_powers_.size() * sizeof(float);
}
}  // namespace drey::trainer
