// brain_network.hpp: forward and backward with operands rounded to bfloat16 and sums in float.
// Weights, gradient and moments stay floats (the optimiser's); what is rounded are copies of the
// weights, the observations, the activations and the deltas. That halves the bytes and doubles the
// multiplications an instruction; each product is off by a part in 256 at most, with either sign.
// Invariants: no heap call after construction; lanes of padding are zero in every buffer.
// Read next: brain_network.cpp, kernels/product_shape.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/kernels/kernels.hpp"
#include "trainer/numeric/network.hpp"

namespace drey::trainer {
/// Bfloat16 columns: element (row, column) is values[column * stride + row].
struct BrainColumns {
  AlignedArray<Brain> values;
  std::size_t width = 0;
  std::size_t stride = 0;

  [[nodiscard]] Brain* column(std::size_t index) { return values.data() + index * stride; }
  [[nodiscard]] const BrainPair* pairs(std::size_t index) const {
    return reinterpret_cast<const BrainPair*>(values.data() + index * stride);
  }
};

/// A rounded copy of a block's weights, panel by panel in pairs of inputs.
class BrainWeights {
 public:
  explicit BrainWeights(const NetworkShape& shape);

  /// Takes over what `block` holds now.
  void assign(const Kernels& kernels, const NetworkShape& shape, const float* block);

  [[nodiscard]] const BrainPair* of_layer(std::size_t layer) const {
    return values_.data() + offsets_[layer];
  }
  /// Pairs of one panel of a layer of so many inputs.
  [[nodiscard]] static std::size_t panel_size(std::size_t inputs) {
    return (inputs + 1) / 2 * kPanelLanes;
  }

 private:
  std::vector<std::size_t> offsets_;
  AlignedArray<BrainPair> values_;
};

/// What one network's forward pass leaves behind: a matrix per hidden layer, and the outputs.
class BrainActivations {
 public:
  BrainActivations(const NetworkShape& shape, std::size_t batch_max);

  [[nodiscard]] BrainColumns& hidden(std::size_t layer) { return hidden_[layer]; }
  [[nodiscard]] Columns<float> outputs() { return {outputs_.data(), output_stride_}; }

 private:
  std::vector<BrainColumns> hidden_;
  std::size_t output_stride_;
  AlignedArray<float> outputs_;
};

/// Columns for observations of `width` values. Shape: (width, batch).
BrainColumns brain_columns(std::size_t width, std::size_t batch);

/// Columns `first` to `first` + `batch` of `inputs` through the network; results from column 0 on.
void forward(const Kernels& kernels, const NetworkShape& shape, const float* block,
             const BrainWeights& weights, const BrainColumns& inputs, std::size_t first,
             std::size_t batch, BrainActivations& activations);

/// The backward pass and its buffers.
class BrainBackward {
 public:
  BrainBackward(const NetworkShape& shape, std::size_t batch_size);

  /// As deltas.outputs() of network.hpp: to be filled before run().
  [[nodiscard]] Columns<float> output_deltas() { return {output_deltas_.data(), output_stride_}; }

  /// The gradient of the first batch_size columns, after forward() on them from column 0 on.
  void run(const Kernels& kernels, const NetworkShape& shape, const float* block,
           BrainColumns& inputs, BrainActivations& activations, float* gradient);

 private:
  /// Rows of pairs of two columns each: to(column pair, row). Returns: values from row to row.
  std::size_t interleave(const Kernels& kernels, BrainColumns& from, AlignedArray<BrainPair>& to);
  void transpose(const Kernels& kernels, const LayerShape& layer, const float* block);
  void multiply_gradient(const Kernels& kernels, const LayerShape& layer, std::size_t below_stride,
                         std::size_t delta_stride, float* gradient);

  std::size_t batch_;
  std::size_t output_stride_;
  AlignedArray<float> output_deltas_;
  std::vector<BrainColumns> deltas_;    ///< by layer
  AlignedArray<BrainPair> below_;       ///< a layer's inputs in pairs of the batch
  AlignedArray<BrainPair> delta_;       ///< its deltas in pairs of the batch
  AlignedArray<Brain> rounded_;         ///< a layer's weights
  AlignedArray<BrainPair> transposed_;  ///< the same in pairs of outputs, inputs side by side
  std::size_t transposed_stride_ = 0;
  AlignedArray<Brain> zeros_;  ///< the column that an odd batch lacks
};
}  // namespace drey::trainer
