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
/// Some rows of a layer, which a file holds as one pair of arrays.
struct Part {
  std::string name;
  const LayerShape* layer;
  std::size_t first_output;
  std::size_t output_count;

  [[nodiscard]] TensorShape weight_shape() const { return {output_count, layer->inputs}; }
  [[nodiscard]] std::size_t weight(std::size_t output, std::size_t input) const {
    return layer->weight(first_output + output, input);
  }
  [[nodiscard]] std::size_t bias() const { return layer->bias_offset + first_output; }
};

/// All parts of a network, in the order of the file.
std::vector<Part> parts_of(const std::string& block_name, const NetworkShape& shape) {
  std::vector<Part> parts;
  for (std::size_t index = 0; index < shape.layers().size(); ++index) {
    const LayerShape& layer = shape.layers()[index];
    if (index + 1 == shape.layers().size() && shape.is_dueling()) {
      parts.push_back({block_name + ".advantage", &layer, 0, shape.outputs()});
      parts.push_back({block_name + ".value", &layer, shape.outputs(), 1});
    } else {
      parts.push_back({block_name + "." + std::to_string(index), &layer, 0, layer.outputs});
    }
  }
  return parts;
}

/// Weights of one part, (outputs, inputs) row-major.
std::vector<float> weights_of(const Part& part, const float* block) {
  std::vector<float> weights;
  weights.reserve(part.output_count * part.layer->inputs);
  for (std::size_t output = 0; output < part.output_count; ++output) {
    for (std::size_t input = 0; input < part.layer->inputs; ++input) {
      weights.push_back(block[part.weight(output, input)]);
    }
  }
  return weights;
}

std::span<const float> bias_of(const Part& part, const float* block) {
  return {block + part.bias(), part.output_count};
}
}  // namespace

void add_block(TensorWriter& writer, const std::string& name, const NetworkShape& shape,
               const AlignedArray<float>& block) {
  for (const Part& part : parts_of(name, shape)) {
    const std::vector<float> weights = weights_of(part, block.data());
    writer.add(part.name + ".weight", part.weight_shape(), std::span<const float>(weights));
    writer.add(part.name + ".bias", {part.output_count}, bias_of(part, block.data()));
  }
}

void read_block(const TensorReader& reader, const std::string& name, const NetworkShape& shape,
                AlignedArray<float>& block) {
  for (const Part& part : parts_of(name, shape)) {
    std::vector<float> weights(part.output_count * part.layer->inputs);
    const std::span<float> bias(block.data() + part.bias(), part.output_count);
    reader.read(part.name + ".weight", part.weight_shape(), std::span<float>(weights));
    reader.read(part.name + ".bias", {part.output_count}, bias);
    const auto is_finite = [](float value) { return std::isfinite(value); };
    if (!std::all_of(weights.begin(), weights.end(), is_finite) ||
        !std::all_of(bias.begin(), bias.end(), is_finite)) {
      reader.refuse("finite numbers in " + part.name, "others");
    }
    for (std::size_t output = 0; output < part.output_count; ++output) {
      for (std::size_t input = 0; input < part.layer->inputs; ++input) {
        block[part.weight(output, input)] = weights[output * part.layer->inputs + input];
      }
    }
  }
}

std::string block_hash(const NetworkShape& shape, const AlignedArray<float>& block) {
  Fnv1a hash;
  for (const Part& part : parts_of("", shape)) {
    const std::vector<float> weights = weights_of(part, block.data());
    hash.add(std::as_bytes(std::span(weights)));
    hash.add(std::as_bytes(bias_of(part, block.data())));
  }
  return hash.text();
}
}  // namespace drey::trainer
