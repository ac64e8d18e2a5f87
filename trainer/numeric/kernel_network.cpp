// kernel_network.cpp: see kernel_network.hpp. In the step: no heap call.
// SPDX-License-Identifier: MIT
#include "trainer/numeric/kernel_network.hpp"

#include <algorithm>

#include <drey/base/assert.hpp>

namespace drey::trainer {
namespace {
constexpr float kOne = 1.0f;

/// Outputs become the depth: to(output, input), inputs side by side, `stride` from row to row.
void transpose(const LayerShape& layer, const float* block, std::size_t stride, float* to) {
  for (std::size_t panel = 0; panel < layer.panel_count(); ++panel) {
    const float* const rows = block + layer.weights_offset + panel * layer.panel_size();
    for (std::size_t lane = 0; lane < kPanelLanes; ++lane) {
      float* const row = to + (panel * kPanelLanes + lane) * stride;
      for (std::size_t input = 0; input < layer.inputs; ++input) {
        row[input] = rows[input * kPanelLanes + lane];
      }
    }
  }
}

void multiply_gradient(const Kernels& kernels, const LayerShape& layer, Columns<const float> below,
                       Columns<const float> delta, std::size_t batch, float* gradient) {
  kernels.multiply({layer.inputs, batch, layer.panel_count(), below.values, 1, below.stride,
                    delta.values, kPanelLanes, delta.stride, gradient + layer.weights_offset,
                    kPanelLanes, layer.panel_size(), nullptr, nullptr, false});
  // The bias is a weight whose input is always 1.
  kernels.multiply({1, batch, layer.panel_count(), &kOne, 0, 0, delta.values, kPanelLanes,
                    delta.stride, gradient + layer.bias_offset, 0, kPanelLanes, nullptr, nullptr,
                    false});
}
}  // namespace

std::size_t transposed_size(const NetworkShape& shape) {
  std::size_t size = 0;
  for (const LayerShape& layer : shape.layers().subspan(1)) {
    size = std::max(size, layer.outputs_padded * stride_of(padded_to_lanes(layer.inputs)));
  }
  return size;
}

void forward(const Kernels& kernels, const NetworkShape& shape, const float* block,
             Columns<const float> inputs, std::size_t batch, Activations<float>& activations) {
  DREY_ASSERT(batch > 0 && batch <= activations.batch_max());
  Columns<const float> below = inputs;
  for (std::size_t index = 0; index < shape.layers().size(); ++index) {
    const LayerShape& layer = shape.layers()[index];
    const Columns<float> out = activations.of_layer(index);
    const bool is_last = index + 1 == shape.layers().size();
    kernels.multiply({batch, layer.inputs, layer.panel_count(), below.values, below.stride, 1,
                      block + layer.weights_offset, layer.panel_size(), kPanelLanes, out.values,
                      out.stride, kPanelLanes, block + layer.bias_offset, nullptr, !is_last});
    below = {out.values, out.stride};
  }
  if (shape.is_dueling()) join_streams(activations.outputs(), shape.outputs(), batch);
}

void backward(const Kernels& kernels, const NetworkShape& shape, const float* block,
              Columns<const float> inputs, std::size_t batch, Activations<float>& activations,
              Activations<float>& deltas, AlignedArray<float>& transposed, float* gradient) {
  DREY_ASSERT(batch > 0 && batch <= deltas.batch_max());
  DREY_ASSERT(transposed.size() >= transposed_size(shape));
  if (shape.is_dueling()) split_streams(deltas.outputs(), shape.outputs(), batch);
  for (std::size_t index = shape.layers().size(); index-- > 0;) {
    const LayerShape& layer = shape.layers()[index];
    const Columns<float> own = deltas.of_layer(index);
    const Columns<const float> delta = {own.values, own.stride};
    if (index == 0) {  // nobody asks for the gradient by the observations
      multiply_gradient(kernels, layer, inputs, delta, batch, gradient);
      return;
    }
    const Columns<float> below = activations.of_layer(index - 1);
    multiply_gradient(kernels, layer, {below.values, below.stride}, delta, batch, gradient);
    const std::size_t stride = stride_of(padded_to_lanes(layer.inputs));
    transpose(layer, block, stride, transposed.data());
    const Columns<float> out = deltas.of_layer(index - 1);
    kernels.multiply({batch, layer.outputs, padded_to_lanes(layer.inputs) / kPanelLanes,
                      delta.values, delta.stride, 1, transposed.data(), kPanelLanes, stride,
                      out.values, out.stride, kPanelLanes, nullptr, below.values, false});
  }
}
}  // namespace drey::trainer
