// device_layers.hpp: a network's layers on a device: their values for some columns, and the products that
// take columns forward and gradients back. The order of calls is that of numeric/network.cpp.
// Invariant: rows of the padding are zero, as they were when the memory was taken.
// Read next: product_kernel.hpp, device_backend.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "trainer/device/layer_kernels.hpp"
#include "trainer/device/product_kernel.hpp"
#include "trainer/device/queue.hpp"
#include "trainer/numeric/network.hpp"

namespace drey::trainer {
/// One matrix a layer. Shape: (outputs_padded, columns_max) each.
template <class Q>
class DeviceLayers {
 public:
  DeviceLayers(Q& queue, const NetworkShape& shape, std::size_t columns_max) {
    for (const LayerShape& layer : shape.layers()) {
      arrays_.emplace_back(queue, layer.outputs_padded * columns_max);
      strides_.push_back(layer.outputs_padded);
    }
  }
  [[nodiscard]] Columns<float> of_layer(std::size_t layer) const {
    return {arrays_[layer].data(), strides_[layer]};
  }
  [[nodiscard]] Columns<float> outputs() const { return of_layer(arrays_.size() - 1); }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& array : arrays_) sum += array.bytes();
    return sum;
  }

 private:
  std::vector<DeviceArray<float, Q>> arrays_;
  std::vector<std::size_t> strides_;
};

/// A layer's weights as (outputs_padded, inputs), in the panels of numeric/network.hpp.
template <class Value>
[[nodiscard]] Operand<Value> weights_operand(const LayerShape& layer, Value* block) {
  return {block + layer.weights_offset, Axis{layer.panel_size(), 1}, evenly(kLaneCount)};
}
template <class Value>
[[nodiscard]] Operand<Value> transposed(const Operand<Value>& operand) {
  return {operand.values, operand.columns, operand.rows};
}
template <class Value>
[[nodiscard]] Operand<Value> columns_operand(Columns<Value> columns) {
  return {columns.values, evenly(1), evenly(columns.stride)};
}

/// forward() of numeric/network.hpp: `count` columns of `inputs` through the network of `block`.
template <class Q>
void put_forward(Q& queue, const NetworkShape& shape, const float* block,
                 Columns<const float> inputs, std::size_t count, const DeviceLayers<Q>& layers) {
  Columns<const float> below = inputs;
  for (std::size_t index = 0; index < shape.layers().size(); ++index) {
    const LayerShape& layer = shape.layers()[index];
    const Columns<float> out = layers.of_layer(index);
    const bool is_last = index + 1 == shape.layers().size();
    queue.template launch<ProductKernel>(
        {.rows = static_cast<std::uint32_t>(layer.outputs_padded),
         .columns = static_cast<std::uint32_t>(count),
         .depth = static_cast<std::uint32_t>(layer.inputs),
         .left = weights_operand(layer, block),
         .right = columns_operand(below),
         .out = columns_operand(out),
         .bias = block + layer.bias_offset,
         .mask = {},
         .epilogue = is_last ? Epilogue::kBias : Epilogue::kBiasRelu,
         .left_size = layer.inputs * layer.outputs_padded,
         .right_size = below.stride * count,
         .out_size = out.stride * count});
    below = {out.values, out.stride};
  }
  if (shape.is_dueling()) {
    queue.template launch<JoinKernel>({layers.outputs().values, layers.outputs().stride,
                                       static_cast<std::uint32_t>(shape.outputs()),
                                       static_cast<std::uint32_t>(count)});
  }
}

/// The gradient of one layer's weights and biases by its deltas.
template <class Q>
void put_layer_gradient(Q& queue, const LayerShape& layer, Columns<const float> below,
                        Columns<const float> delta, std::size_t batch, float* gradient) {
  queue.template launch<ProductKernel>({.rows = static_cast<std::uint32_t>(layer.outputs_padded),
                                        .columns = static_cast<std::uint32_t>(layer.inputs),
                                        .depth = static_cast<std::uint32_t>(batch),
                                        .left = columns_operand(delta),
                                        .right = transposed(columns_operand(below)),
                                        .out = weights_operand(layer, gradient),
                                        .bias = nullptr,
                                        .mask = {},
                                        .epilogue = Epilogue::kNone,
                                        .left_size = delta.stride * batch,
                                        .right_size = below.stride * batch,
                                        .out_size = layer.inputs * layer.outputs_padded});
  queue.template launch<RowSumsKernel>(
      {delta.values, delta.stride, static_cast<std::uint32_t>(layer.outputs_padded),
       static_cast<std::uint32_t>(batch), gradient + layer.bias_offset});
}

/// backward() of numeric/network.hpp. On entry the last layer of `deltas` holds the gradient by the
/// outputs, its other rows zero.
template <class Q>
void put_backward(Q& queue, const NetworkShape& shape, const float* block,
                  Columns<const float> inputs, std::size_t batch, const DeviceLayers<Q>& layers,
                  const DeviceLayers<Q>& deltas, float* gradient) {
  if (shape.is_dueling()) {
    queue.template launch<SplitKernel>({deltas.outputs().values, deltas.outputs().stride,
                                        static_cast<std::uint32_t>(shape.outputs()),
                                        static_cast<std::uint32_t>(batch)});
  }
  for (std::size_t index = shape.layers().size(); index-- > 0;) {
    const LayerShape& layer = shape.layers()[index];
    const Columns<float> own = deltas.of_layer(index);
    const Columns<const float> delta = {own.values, own.stride};
    if (index == 0) return put_layer_gradient(queue, layer, inputs, delta, batch, gradient);
    const Columns<float> activated = layers.of_layer(index - 1);
    const Columns<const float> below = {activated.values, activated.stride};
    put_layer_gradient(queue, layer, below, delta, batch, gradient);
    const Columns<float> out = deltas.of_layer(index - 1);
    queue.template launch<ProductKernel>({.rows = static_cast<std::uint32_t>(layer.inputs),
                                          .columns = static_cast<std::uint32_t>(batch),
                                          .depth = static_cast<std::uint32_t>(layer.outputs_padded),
                                          .left = transposed(weights_operand(layer, block)),
                                          .right = columns_operand(delta),
                                          .out = columns_operand(out),
                                          .bias = nullptr,
                                          .mask = columns_operand(below),
                                          .epilogue = Epilogue::kMask,
                                          .left_size = layer.inputs * layer.outputs_padded,
                                          .right_size = delta.stride * batch,
                                          .out_size = out.stride * batch});
  }
}
}  // namespace drey::trainer
