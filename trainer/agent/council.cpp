// council.cpp: see council.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/council.hpp"

#include <algorithm>

namespace drey::trainer {
static_assert(kMembersMax <= UINT8_MAX, "votes are counted in bytes");

void Council::add_member(const Learner& learner, Columns<const float> observations,
                         std::size_t count) {
  const std::size_t action_count = learner.action_count();
  learner.values_of_many(observations, count, activations_);
  const Columns<float> outputs = activations_.outputs();
  for (std::size_t index = 0; index < count; ++index) {
    const float* const values = outputs.values + index * outputs.stride;
    float* const sums = sums_.data() + index * action_count;
    for (std::size_t action = 0; action < action_count; ++action) sums[action] += values[action];
    ++votes_[index * action_count + greedy_action(values, action_count)];
  }
}

Action Council::decide(std::size_t index, std::size_t action_count) const {
  const float* const sums = sums_.data() + index * action_count;
  if (agreement_ == Agreement::kMean) return greedy_action(sums, action_count);
  const std::uint8_t* const votes = votes_.data() + index * action_count;
  std::size_t best = 0;
  for (std::size_t action = 1; action < action_count; ++action) {
    const bool is_tie = votes[action] == votes[best];
    if (votes[action] > votes[best] || (is_tie && sums[action] > sums[best])) best = action;
  }
  return static_cast<Action>(best);
}

void Council::choose(const Ensemble& ensemble, Columns<const float> observations,
                     std::span<Action> actions) {
  const std::size_t action_count = ensemble.member(0).learner().action_count();
  std::fill_n(sums_.data(), actions.size() * action_count, 0.0f);
  std::fill_n(votes_.data(), actions.size() * action_count, std::uint8_t{0});
  for (std::size_t index = 0; index < ensemble.count(); ++index) {
    add_member(ensemble.member(index).learner(), observations, actions.size());
  }
  for (std::size_t index = 0; index < actions.size(); ++index)
    actions[index] = decide(index, action_count);
}
}  // namespace drey::trainer
