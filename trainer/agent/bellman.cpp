// bellman.cpp: see bellman.hpp. In the step: no heap call.
// SPDX-License-Identifier: MIT
#include "trainer/agent/bellman.hpp"

#include <drey/base/assert.hpp>

#include <algorithm>
#include <cmath>

namespace drey::trainer {
Action greedy_action(const float* values, std::size_t action_count) {
  // Chosen, not jumped to: which action is best, no processor foretells.
  std::size_t best = 0;
  float top = values[0];
  for (std::size_t action = 1; action < action_count; ++action) {
    const bool is_higher = values[action] > top;
    best = is_higher ? action : best;
    top = is_higher ? values[action] : top;
  }
  return static_cast<Action>(best);
}

void bellman_targets(const BatchTerms& terms, std::size_t action_count,
                     Columns<const float> chooser, Columns<const float> valuer,
                     std::span<float> targets) {
  DREY_ASSERT(terms.rewards.size() == targets.size() && terms.discounts.size() == targets.size());
  for (std::size_t index = 0; index < targets.size(); ++index) {
    const Action best = greedy_action(chooser.values + index * chooser.stride, action_count);
    const float beyond = valuer.values[index * valuer.stride + best];
    const float discount = terms.discounts[index];
    // Nothing of an ended episode's beyond may come through, not even a NaN.
    targets[index] = terms.rewards[index] + (discount == 0.0f ? 0.0f : discount * beyond);
  }
}

LossReport compute_loss(Loss loss, const BatchTerms& terms, Columns<const float> values,
                        std::span<const float> targets, Columns<float> deltas,
                        std::span<float> errors) {
  DREY_ASSERT(terms.actions.size() == targets.size() && values.stride == deltas.stride);
  DREY_ASSERT(terms.weights.empty() || terms.weights.size() == targets.size());
  DREY_ASSERT(errors.size() == targets.size());
  const auto size = static_cast<float>(targets.size());
  std::fill_n(deltas.values, targets.size() * deltas.stride, 0.0f);
  LossReport report;
  for (std::size_t index = 0; index < targets.size(); ++index) {
    const std::size_t place = index * values.stride + terms.actions[index];
    const float weight = terms.weights.empty() ? 1.0f : terms.weights[index];
    const float error = values.values[place] - targets[index];
    const float size_of_error = std::fabs(error);
    errors[index] = error;
    if (loss == Loss::kMse) {
      deltas.values[place] = weight * (2.0f * error) / size;
      report.loss += static_cast<double>(weight * error * error);
    } else {
      deltas.values[place] = weight * std::clamp(error, -1.0f, 1.0f) / size;
      report.loss += static_cast<double>(
          weight * (size_of_error <= 1.0f ? 0.5f * error * error : size_of_error - 0.5f));
    }
    report.value += static_cast<double>(values.values[place]);
  }
  report.loss /= static_cast<double>(targets.size());
  report.value /= static_cast<double>(targets.size());
  return report;
}
}  // namespace drey::trainer
