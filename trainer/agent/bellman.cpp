// bellman.cpp: see bellman.hpp. In the step: no heap call.
// SPDX-License-Identifier: MIT
#include "trainer/agent/bellman.hpp"

#include <drey/base/assert.hpp>

#include <algorithm>
#include <cmath>

namespace drey::trainer {
Action greedy_action(const float* values, std::size_t action_count) {
  std::size_t best = 0;
  for (std::size_t action = 1; action < action_count; ++action) {
    if (values[action] > values[best]) best = action;
  }
  return static_cast<Action>(best);
}

void bellman_targets(std::span<const Transition> batch, std::size_t action_count, float gamma,
                     Columns<const float> chooser, Columns<const float> valuer,
                     std::span<float> targets) {
  DREY_ASSERT(batch.size() == targets.size());
  for (std::size_t index = 0; index < batch.size(); ++index) {
    const Action best = greedy_action(chooser.values + index * chooser.stride, action_count);
    const float beyond = valuer.values[index * valuer.stride + best];
    targets[index] = batch[index].reward + (batch[index].terminated ? 0.0f : gamma * beyond);
  }
}

LossReport huber_loss(std::span<const Transition> batch, Columns<const float> values,
                      std::span<const float> targets, Columns<float> deltas) {
  DREY_ASSERT(batch.size() == targets.size() && values.stride == deltas.stride);
  const auto size = static_cast<float>(batch.size());
  std::fill_n(deltas.values, batch.size() * deltas.stride, 0.0f);
  LossReport report;
  for (std::size_t index = 0; index < batch.size(); ++index) {
    const std::size_t place = index * values.stride + batch[index].action;
    const float error = values.values[place] - targets[index];
    const float size_of_error = std::fabs(error);
    deltas.values[place] = std::clamp(error, -1.0f, 1.0f) / size;
    report.loss +=
        static_cast<double>(size_of_error <= 1.0f ? 0.5f * error * error : size_of_error - 0.5f);
    report.value += static_cast<double>(values.values[place]);
  }
  report.loss /= static_cast<double>(batch.size());
  report.value /= static_cast<double>(batch.size());
  return report;
}
}  // namespace drey::trainer
