// brain_network.hpp: forward and backward with operands rounded to bfloat16 and sums in float.
// Weights, gradient and moments stay floats (the optimiser's); what is rounded are copies of the
// weights, the observations, the activations and the deltas. That halves the bytes and doubles the
// multiplications an instruction; each product is off by a part in 256 at most, with either sign.
// Invariants: no heap call after construction; lanes of padding are zero in every buffer.
// Read next: brain_network.cpp, kernels/product_shape.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
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

/// Values of a block that lie side by side: biases, or inputs of one panel of weights.
struct BlockPiece {
  std::size_t first;
  std::size_t size;
  std::size_t pairs;  ///< where the rounded weights begin; kNoPairs: biases have none
};
inline constexpr std::size_t kNoPairs = ~std::size_t{0};

/// A rounded copy of a block's weights, panel by panel in pairs of inputs.
class BrainWeights {
 public:
  explicit BrainWeights(const NetworkShape& shape);

  /// Takes over what `block` holds now: all of it, or one of pieces().
  void assign(const Kernels& kernels, const float* block);
  void assign(const Kernels& kernels, const float* block, const BlockPiece& piece);

  /// All of the block, in its order. Each one's floats fit into the first-level cache five times.
  [[nodiscard]] std::span<const BlockPiece> pieces() const { return pieces_; }

  [[nodiscard]] const BrainPair* of_layer(std::size_t layer) const {
    return values_.data() + offsets_[layer];
  }
  /// Pairs of one panel of a layer of so many inputs.
  [[nodiscard]] static std::size_t panel_size(std::size_t inputs) {
    return (inputs + 1) / 2 * kPanelLanes;
  }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<BlockPiece> pieces_;
  AlignedArray<BrainPair> values_;
};

/// What a forward pass leaves behind of the layers between: a matrix for each.
class BrainHidden {
 public:
  BrainHidden(const NetworkShape& shape, std::size_t batch_max);

  [[nodiscard]] BrainColumns& layer(std::size_t index) { return layers_[index]; }

 private:
  std::vector<BrainColumns> layers_;
};

/// Columns for observations of `width` values. Shape: (width, batch).
BrainColumns brain_columns(std::size_t width, std::size_t batch);

/// The first `batch` columns of `inputs` through the network. Shape: outputs (padded, batch).
void forward(const Kernels& kernels, const NetworkShape& shape, const float* block,
             const BrainWeights& weights, const BrainColumns& inputs, std::size_t batch,
             BrainHidden& hidden, Columns<float> outputs);

/// The backward pass and its buffers.
class BrainBackward {
 public:
  BrainBackward(const NetworkShape& shape, std::size_t batch_size);

  /// As deltas.outputs() of network.hpp: to be filled before run().
  [[nodiscard]] Columns<float> output_deltas() { return {output_deltas_.data(), output_stride_}; }

  /// The gradient of batch_size columns, after forward() on them.
  void run(const Kernels& kernels, const NetworkShape& shape, const float* block,
           BrainColumns& inputs, BrainHidden& hidden, float* gradient);

 private:
  /// Rows of pairs of two columns each: to(column pair, row). Returns: values from row to row.
  std::size_t interleave(const Kernels& kernels, BrainColumns& from, AlignedArray<BrainPair>& to);
  void transpose(const Kernels& kernels, const LayerShape& layer, const float* block);
  void multiply_gradient(const Kernels& kernels, const LayerShape& layer, std::size_t below_stride,
                         std::size_t delta_stride, float* gradient);

  std::size_t batch_;
  std::size_t output_stride_;
  AlignedArray<float> output_deltas_;
  std::vector<BrainColumns> deltas_;  ///< by layer
  AlignedArray<BrainPair> below_;     ///< a layer's inputs in pairs of the batch
  AlignedArray<BrainPair> delta_;     ///< its deltas in pairs of the batch
  AlignedArray<BrainPair>
      transposed_;  ///< a layer's weights in pairs of outputs, inputs side by side
  std::size_t transposed_stride_ = 0;
  AlignedArray<Brain> zeros_;  ///< the column that an odd batch lacks
};
}  // namespace drey::trainer
