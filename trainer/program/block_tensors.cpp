// block_tensors.cpp: see block_tensors.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/block_tensors.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "trainer/numeric/hash.hpp"

namespace drey::trainer {
namespace {
/// Weights of one layer, (outputs, inputs) row-major.
std::vector<float> weights_of(const LayerShape& layer, const float* block) {
  std::vector<float> weights;
  weights.reserve(layer.outputs * layer.inputs);
  for (std::size_t output = 0; output < layer.outputs; ++output) {
    for (std::size_t input = 0; input < layer.inputs; ++input) {
      weights.push_back(block[layer.weight(output, input)]);
    }
  }
  return weights;
}

std::span<const float> bias_of(const LayerShape& layer, const float* block) {
  return {block + layer.bias_offset, layer.outputs};
}

std::string layer_name(const std::string& block_name, std::size_t index) {
  return block_name + "." + std::to_string(index);
}
}  // namespace

void add_block(TensorWriter& writer, const std::string& name, const NetworkShape& shape,
               const AlignedArray<float>& block) {
  for (std::size_t index = 0; index < shape.layers().size(); ++index) {
    const LayerShape& layer = shape.layers()[index];
    const std::vector<float> weights = weights_of(layer, block.data());
    writer.add(layer_name(name, index) + ".weight", {layer.outputs, layer.inputs},
               std::span<const float>(weights));
    writer.add(layer_name(name, index) + ".bias", {layer.outputs}, bias_of(layer, block.data()));
  }
}

void read_block(const TensorReader& reader, const std::string& name, const NetworkShape& shape,
                AlignedArray<float>& block) {
  for (std::size_t index = 0; index < shape.layers().size(); ++index) {
    const LayerShape& layer = shape.layers()[index];
    std::vector<float> weights(layer.outputs * layer.inputs);
    const std::string prefix = layer_name(name, index);
    const std::span<float> bias(block.data() + layer.bias_offset, layer.outputs);
    reader.read(prefix + ".weight", {layer.outputs, layer.inputs}, std::span<float>(weights));
    reader.read(prefix + ".bias", {layer.outputs}, bias);
    const auto is_finite = [](float value) { return std::isfinite(value); };
    if (!std::all_of(weights.begin(), weights.end(), is_finite) ||
        !std::all_of(bias.begin(), bias.end(), is_finite)) {
      reader.refuse("finite numbers in " + prefix, "others");
    }
    for (std::size_t output = 0; output < layer.outputs; ++output) {
      for (std::size_t input = 0; input < layer.inputs; ++input) {
        block[layer.weight(output, input)] = weights[output * layer.inputs + input];
      }
    }
  }
}

std::string block_hash(const NetworkShape& shape, const AlignedArray<float>& block) {
  Fnv1a hash;
  for (const LayerShape& layer : shape.layers()) {
    const std::vector<float> weights = weights_of(layer, block.data());
    hash.add(std::as_bytes(std::span(weights)));
    hash.add(std::as_bytes(bias_of(layer, block.data())));
  }
  return hash.text();
}
}  // namespace drey::trainer
