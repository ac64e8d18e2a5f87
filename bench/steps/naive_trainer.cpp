// naive_trainer.cpp: see naive_trainer.hpp.
// SPDX-License-Identifier: MIT
#include "steps/naive_trainer.hpp"

#include <algorithm>
#include <cmath>

namespace drey::bench {
namespace {
/// Values of every layer, the observation first.
std::vector<Row> forward(const std::vector<NaiveLayer>& network, const Row& observation) {
  std::vector<Row> values = {observation};
  for (std::size_t layer = 0; layer < network.size(); ++layer) {
    Row next;
    for (std::size_t output = 0; output < network[layer].bias.size(); ++output) {
      float sum = network[layer].bias[output];
      for (std::size_t input = 0; input < values[layer].size(); ++input) {
        sum += network[layer].weights[output][input] * values[layer][input];
      }
      next.push_back(layer + 1 < network.size() ? std::max(sum, 0.0F) : sum);
    }
    values.push_back(next);
  }
  return values;
}

std::vector<NaiveLayer> zeros_like(const std::vector<NaiveLayer>& network) {
  std::vector<NaiveLayer> zeros = network;
  for (NaiveLayer& layer : zeros) {
    for (Row& row : layer.weights) std::fill(row.begin(), row.end(), 0.0F);
    std::fill(layer.bias.begin(), layer.bias.end(), 0.0F);
  }
  return zeros;
}

void backward(const std::vector<NaiveLayer>& network, const std::vector<Row>& values, Row delta,
              std::vector<NaiveLayer>& gradient) {
  for (std::size_t layer = network.size(); layer-- > 0;) {
    Row below(values[layer].size(), 0.0F);
    for (std::size_t output = 0; output < delta.size(); ++output) {
      gradient[layer].bias[output] += delta[output];
      for (std::size_t input = 0; input < below.size(); ++input) {
        gradient[layer].weights[output][input] += delta[output] * values[layer][input];
        if (values[layer][input] > 0) {
          below[input] += network[layer].weights[output][input] * delta[output];
        }
      }
    }
    delta = below;
  }
}

/// Calls use(value of one, of two, ...) for all parameters of networks of one shape.
template <class Use, class... Network>
void for_each_parameter(Use use, Network&... networks) {
  const std::size_t layers = std::min({networks.size()...});
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::size_t outputs = std::min({networks[layer].bias.size()...});
    for (std::size_t output = 0; output < outputs; ++output) {
      use(networks[layer].bias[output]...);
      const std::size_t inputs = std::min({networks[layer].weights[output].size()...});
      for (std::size_t input = 0; input < inputs; ++input) {
        use(networks[layer].weights[output][input]...);
      }
    }
  }
}
}  // namespace

NaiveTrainer::NaiveTrainer(std::vector<NaiveLayer> network, const NaiveSettings& settings)
    : settings_(settings),
      network_(std::move(network)),
      target_(network_),
      first_moment_(zeros_like(network_)),
      second_moment_(zeros_like(network_)) {}

double NaiveTrainer::learn(const std::vector<NaiveExperience>& batch) {
  std::vector<NaiveLayer> gradient = zeros_like(network_);
  const auto size = static_cast<float>(batch.size());
  double loss = 0;
  for (const NaiveExperience& experience : batch) {
    const std::vector<Row> values = forward(network_, experience.observation);
    const Row next = forward(target_, experience.next_observation).back();
    const Row chooser =
        settings_.double_dqn ? forward(network_, experience.next_observation).back() : next;
    const auto best = std::max_element(chooser.begin(), chooser.end()) - chooser.begin();
    const float beyond = next[static_cast<std::size_t>(best)];
    const float target =
        experience.reward + (experience.terminated ? 0.0F : settings_.gamma * beyond);
    const float error = values.back()[experience.action] - target;
    const float length = std::fabs(error);
    loss += static_cast<double>(length <= 1 ? 0.5F * error * error : length - 0.5F);
    Row delta(values.back().size(), 0.0F);
    delta[experience.action] = std::clamp(error, -1.0F, 1.0F) / size;
    backward(network_, values, delta, gradient);
  }
  update(gradient);
  return loss / static_cast<double>(batch.size());
}

void NaiveTrainer::update(const std::vector<NaiveLayer>& gradient) {
  double squares = 0;
  for_each_parameter([&](float slope) { squares += static_cast<double>(slope * slope); }, gradient);
  const auto norm = static_cast<float>(std::sqrt(squares));
  const float scale = norm > settings_.norm_max ? settings_.norm_max / norm : 1.0F;
  ++steps_;
  const float correction1 = 1.0F - std::pow(0.9F, static_cast<float>(steps_));
  const float correction2 = 1.0F - std::pow(0.999F, static_cast<float>(steps_));
  for_each_parameter(
      [&](float& weight, float& target, float& first, float& second, float slope) {
        slope *= scale;
        first = 0.9F * first + 0.1F * slope;
        second = 0.999F * second + 0.001F * slope * slope;
        weight -= settings_.learning_rate * (first / correction1) /
                  (std::sqrt(second / correction2) + 1e-8F);
        target = (1.0F - settings_.tau) * target + settings_.tau * weight;
      },
      network_, target_, first_moment_, second_moment_, gradient);
}
}  // namespace drey::bench
