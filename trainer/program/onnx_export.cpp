// onnx_export.cpp: see onnx_export.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/onnx_export.hpp"

#include <drey/base/assert.hpp>

namespace drey::trainer {
namespace {
/// `count` outputs of a layer, from `first` on.
OnnxLayer part_of(const LayerShape& layer, const float* block, std::size_t first,
                  std::size_t count) {
  OnnxLayer part{layer.inputs, count, {}, {}};
  part.weights.reserve(count * layer.inputs);
  for (std::size_t output = first; output < first + count; ++output) {
    for (std::size_t input = 0; input < layer.inputs; ++input)
      part.weights.push_back(block[layer.weight(output, input)]);
    part.bias.push_back(block[layer.bias_offset + output]);
  }
  return part;
}
}  // namespace

OnnxModel onnx_model(const Learner& learner, const NetworkInterface& names,
                     const std::string& weights_hash) {
  const NetworkShape& shape = learner.shape();
  DREY_ASSERT(names.inputs.size() == shape.inputs());
  DREY_ASSERT(names.actions.size() == shape.outputs());
  OnnxModel model;
  model.feature_names = names.inputs;
  model.action_names = names.actions;
  model.median = names.median;
  model.scale = names.scale;
  model.limit = names.limit;
  model.metadata = {{"weights_hash", weights_hash}};
  const float* const block = learner.network().data();
  for (const LayerShape& layer : shape.layers()) {
    const bool is_last = &layer == &shape.layers().back();
    model.layers.push_back(part_of(layer, block, 0, is_last ? shape.outputs() : layer.outputs));
  }
  if (shape.is_dueling()) model.value = part_of(shape.layers().back(), block, shape.outputs(), 1);
  return model;
}
}  // namespace drey::trainer
