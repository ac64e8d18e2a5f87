// learner.cpp: the learner of the CPU, compiled once. Read next: cpu_learner.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/cpu_learner.hpp"

#include <cmath>

namespace drey::trainer {
void draw_weights(const NetworkShape& shape, Random random, float* block) {
  for (const LayerShape& layer : shape.layers()) {
    const bool is_last = &layer == &shape.layers().back();
    // He's bound keeps the variance through a ReLU; the last layer has none and starts small, so
    // that the first targets are rewards rather than noise of the untrained network.
    const auto inputs = static_cast<float>(layer.inputs);
    const float bound = is_last ? 0.1f / std::sqrt(inputs) : std::sqrt(6.0f / inputs);
    for (std::size_t output = 0; output < layer.outputs; ++output) {
      for (std::size_t input = 0; input < layer.inputs; ++input) {
        block[layer.weight(output, input)] = random.between(-bound, bound);
      }
    }
  }
}

template class BasicLearner<CpuBackend>;

std::unique_ptr<Learner> make_cpu_learner(const LearnerSettings& settings, Random random) {
  return std::make_unique<CpuLearner>(settings, random);
}
}  // namespace drey::trainer
