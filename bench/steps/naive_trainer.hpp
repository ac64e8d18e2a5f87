// naive_trainer.hpp: the same gradient step as trainer/agent, as one writes it the first time:
// straight loops, a vector for everything, made anew in each step. What drey's steps are measured
// against; it computes the same, which a test checks.
// DQN, plain or double: Huber loss, clip by norm, Adam, soft update of the target network.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace drey::bench {
using Row = std::vector<float>;

struct NaiveExperience {
  Row observation;
  Row next_observation;
  float reward;
  std::size_t action;
  bool terminated;
};

/// Weights by (output, input).
struct NaiveLayer {
  std::vector<Row> weights;
  Row bias;
};

struct NaiveSettings {
  float gamma = 0.99F;
  float tau = 0.001F;
  float learning_rate = 1e-4F;
  float norm_max = 10.0F;
  bool double_dqn = false;
};

class NaiveTrainer {
 public:
  /// The target network starts as a copy.
  NaiveTrainer(std::vector<NaiveLayer> network, const NaiveSettings& settings);

  /// One gradient step. Returns: the loss.
  double learn(const std::vector<NaiveExperience>& batch);

  [[nodiscard]] const std::vector<NaiveLayer>& network() const { return network_; }

 private:
  void update(const std::vector<NaiveLayer>& gradient);

  NaiveSettings settings_;
  std::vector<NaiveLayer> network_;
  std::vector<NaiveLayer> target_;
  std::vector<NaiveLayer> first_moment_;
  std::vector<NaiveLayer> second_moment_;
  int steps_ = 0;
};
}  // namespace drey::bench
