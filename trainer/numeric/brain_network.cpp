// brain_network.cpp: see brain_network.hpp. In the step: no heap call.
// SPDX-License-Identifier: MIT
#include "trainer/numeric/brain_network.hpp"

#include <algorithm>

#include <drey/base/assert.hpp>

namespace drey::trainer {
namespace {
constexpr BrainPair kOnes = 0x3f803f80;  // 1, twice
constexpr std::size_t kLineHalves = 32;  // values of bfloat16 in a cache line

// Of a piece of weights: even, so that pairs do not span pieces; 4 KB of floats.
constexpr std::size_t kPieceInputs = 64;
static_assert(kPieceInputs % 2 == 0);

/// Values from column to column: whole lines, an odd number of them (see stride_of()).
std::size_t brain_stride(std::size_t width) {
  const std::size_t lines = (width + kLineHalves - 1) / kLineHalves;
  return (lines | 1) * kLineHalves;
}

std::size_t widest_layer(const NetworkShape& shape) {
  std::size_t widest = shape.inputs();
  for (const LayerShape& layer : shape.layers()) widest = std::max(widest, layer.outputs_padded);
  return widest;
}
}  // namespace

BrainWeights::BrainWeights(const NetworkShape& shape) {
  std::size_t size = 0;
  for (const LayerShape& layer : shape.layers()) {
    offsets_.push_back(size);
    for (std::size_t panel = 0; panel < layer.panel_count(); ++panel) {
      const std::size_t first = layer.weights_offset + panel * layer.panel_size();
      for (std::size_t input = 0; input < layer.inputs; input += kPieceInputs) {
        const std::size_t inputs = std::min(kPieceInputs, layer.inputs - input);
        pieces_.push_back(
            {first + input * kPanelLanes, inputs * kPanelLanes, size + input / 2 * kPanelLanes});
      }
      size += panel_size(layer.inputs);
    }
    pieces_.push_back({layer.bias_offset, layer.outputs_padded, kNoPairs});
  }
  values_ = AlignedArray<BrainPair>(size);
}

void BrainWeights::assign(const Kernels& kernels, const float* block) {
  for (const BlockPiece& piece : pieces_) assign(kernels, block, piece);
}

void BrainWeights::assign(const Kernels& kernels, const float* block, const BlockPiece& piece) {
  if (piece.pairs == kNoPairs) return;
  kernels.pair_rows(block + piece.first, piece.size / kPanelLanes, values_.data() + piece.pairs);
}

BrainColumns brain_columns(std::size_t width, std::size_t batch) {
  const std::size_t stride = brain_stride(width);
  return {AlignedArray<Brain>(stride * batch), width, stride};
}

BrainHidden::BrainHidden(const NetworkShape& shape, std::size_t batch_max) {
  for (const LayerShape& layer : shape.layers().first(shape.layers().size() - 1)) {
    layers_.push_back(brain_columns(layer.outputs_padded, batch_max));
  }
}

void forward(const Kernels& kernels, const NetworkShape& shape, const float* block,
             const BrainWeights& weights, const BrainColumns& inputs, std::size_t batch,
             BrainHidden& hidden, Columns<float> outputs) {
  const BrainPair* below = inputs.pairs(0);
  std::size_t below_stride = inputs.stride / 2;
  for (std::size_t index = 0; index < shape.layers().size(); ++index) {
    const LayerShape& layer = shape.layers()[index];
    const std::size_t depth = (layer.inputs + 1) / 2;
    const std::size_t panel_size = BrainWeights::panel_size(layer.inputs);
    const float* const bias = block + layer.bias_offset;
    if (index + 1 == shape.layers().size()) {
      kernels.multiply_pairs({batch, depth, layer.panel_count(), below, below_stride, 1,
                              weights.of_layer(index), panel_size, kPanelLanes, outputs.values,
                              outputs.stride, kPanelLanes, bias, nullptr, false});
    } else {
      BrainColumns& out = hidden.layer(index);
      kernels.multiply_pairs_to_brain(
          {batch, depth, layer.panel_count(), below, below_stride, 1, weights.of_layer(index),
           panel_size, kPanelLanes, out.column(0), out.stride, kPanelLanes, bias, nullptr, true});
      below = out.pairs(0);
      below_stride = out.stride / 2;
    }
  }
  if (shape.is_dueling()) join_streams(outputs, shape.outputs(), batch);
}

BrainBackward::BrainBackward(const NetworkShape& shape, std::size_t batch_size)
    : batch_(batch_size),
      output_stride_(stride_of(shape.layers().back().outputs_padded)),
      output_deltas_(output_stride_ * batch_size) {
  const std::size_t widest = stride_of(brain_stride(widest_layer(shape)));
  for (const LayerShape& layer : shape.layers()) {
    deltas_.push_back(brain_columns(layer.outputs_padded, batch_size));
  }
  below_ = AlignedArray<BrainPair>(widest * ((batch_size + 1) / 2));
  delta_ = AlignedArray<BrainPair>(widest * ((batch_size + 1) / 2));
  zeros_ = AlignedArray<Brain>(widest);
  std::size_t transposed = 0;
  for (const LayerShape& layer : shape.layers().subspan(1)) {
    transposed =
        std::max(transposed, layer.outputs_padded / 2 * stride_of(padded_to_lanes(layer.inputs)));
  }
  transposed_ = AlignedArray<BrainPair>(transposed);
}

std::size_t BrainBackward::interleave(const Kernels& kernels, BrainColumns& from,
                                      AlignedArray<BrainPair>& to) {
  // Pairs are twice as wide: an odd number of lines of halves would be an even one of pairs.
  const std::size_t stride = stride_of(from.stride);
  DREY_ASSERT(stride * ((batch_ + 1) / 2) <= to.size());
  for (std::size_t column = 0; column < batch_; column += 2) {
    const Brain* const second = column + 1 < batch_ ? from.column(column + 1) : zeros_.data();
    kernels.interleave(from.column(column), second, to.data() + column / 2 * stride,
                       padded_to_lanes(from.width));
  }
  return stride;
}

void BrainBackward::transpose(const Kernels& kernels, const LayerShape& layer, const float* block) {
  transposed_stride_ = stride_of(padded_to_lanes(layer.inputs));
  for (std::size_t panel = 0; panel < layer.panel_count(); ++panel) {
    kernels.transpose_rows(block + layer.weights_offset + panel * layer.panel_size(), layer.inputs,
                           transposed_.data() + panel * kPanelLanes / 2 * transposed_stride_,
                           transposed_stride_);
  }
}

void BrainBackward::multiply_gradient(const Kernels& kernels, const LayerShape& layer,
                                      std::size_t below_stride, std::size_t delta_stride,
                                      float* gradient) {
  const std::size_t depth = (batch_ + 1) / 2;
  kernels.multiply_pairs({layer.inputs, depth, layer.panel_count(), below_.data(), 1, below_stride,
                          delta_.data(), kPanelLanes, delta_stride, gradient + layer.weights_offset,
                          kPanelLanes, layer.panel_size(), nullptr, nullptr, false});
  // The bias is a weight whose input is always 1.
  kernels.multiply_pairs({1, depth, layer.panel_count(), &kOnes, 0, 0, delta_.data(), kPanelLanes,
                          delta_stride, gradient + layer.bias_offset, 0, kPanelLanes, nullptr,
                          nullptr, false});
}

void BrainBackward::run(const Kernels& kernels, const NetworkShape& shape, const float* block,
                        BrainColumns& inputs, BrainHidden& hidden, float* gradient) {
  if (shape.is_dueling()) split_streams(output_deltas(), shape.outputs(), batch_);
  const std::size_t last = shape.layers().size() - 1;
  for (std::size_t column = 0; column < batch_; ++column) {
    kernels.round(output_deltas_.data() + column * output_stride_, deltas_[last].column(column),
                  shape.layers()[last].outputs_padded);
  }
  for (std::size_t index = last + 1; index-- > 0;) {
    const LayerShape& layer = shape.layers()[index];
    BrainColumns& below = index == 0 ? inputs : hidden.layer(index - 1);
    const std::size_t below_stride = interleave(kernels, below, below_);
    const std::size_t delta_stride = interleave(kernels, deltas_[index], delta_);
    multiply_gradient(kernels, layer, below_stride, delta_stride, gradient);
    if (index == 0) return;  // nobody asks for the gradient by the observations
    transpose(kernels, layer, block);
    BrainColumns& out = deltas_[index - 1];
    kernels.multiply_pairs_to_brain(
        {batch_, (layer.outputs + 1) / 2, padded_to_lanes(layer.inputs) / kPanelLanes,
         deltas_[index].pairs(0), deltas_[index].stride / 2, 1, transposed_.data(), kPanelLanes,
         transposed_stride_, out.column(0), out.stride, kPanelLanes, nullptr, below.column(0),
         false});
  }
}
}  // namespace drey::trainer
