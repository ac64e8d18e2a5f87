// network.hpp: a fully connected network with ReLU between its layers, forward and backward.
// All weights of a network lie in one block, so that the optimiser is one loop and a second network
// of the same shape (target, moments, gradient) is just a second block.
// A dueling network's last layer has one output more: the values' streams share a product, and
// forward() joins them. Source: Wang et al., "Dueling Network Architectures for Deep Reinforcement
// Learning", 2016, equation 9.
// Invariants: every weight matrix, bias and activation column starts on a cache line: outputs are
// padded to a multiple of 16 lanes, and the lanes of the padding are zero in every block, always.
// Read next: network.cpp, adam.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/aligned_array.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace drey::trainer {
inline constexpr std::size_t kLaneCount = 16;  ///< values per cache line of floats

constexpr std::size_t padded_to_lanes(std::size_t width) {
  return (width + kLaneCount - 1) / kLaneCount * kLaneCount;
}

/// Where one layer's values lie in a block. The weights lie in panels of 16 outputs: a panel is
/// column-major (16, inputs), so that two of them fit into the first-level cache whole.
struct LayerShape {
  std::size_t inputs;
  std::size_t outputs;
  std::size_t outputs_padded;  ///< rows in memory
  std::size_t weights_offset;  ///< of element (0, 0), in values
  std::size_t bias_offset;

  [[nodiscard]] std::size_t panel_count() const { return outputs_padded / kLaneCount; }
  [[nodiscard]] std::size_t panel_size() const { return inputs * kLaneCount; }  ///< in values
  /// Offset of the weight from `input` to `output`.
  [[nodiscard]] std::size_t weight(std::size_t output, std::size_t input) const {
    return weights_offset + output / kLaneCount * panel_size() + input * kLaneCount +
           output % kLaneCount;
  }
};

enum class Head : std::uint8_t {
  kPlain,   ///< the last layer's outputs are the network's
  kDueling  ///< output a = value + advantage a - mean of the advantages
};

/// The layers of a network, first one first.
class NetworkShape {
 public:
  /// `widths`: inputs, hidden..., outputs. Requires: two or more, all > 0.
  explicit NetworkShape(std::span<const std::size_t> widths, Head head = Head::kPlain);

  /// The last one of a dueling network has outputs() rows of advantages, then one of the value.
  [[nodiscard]] std::span<const LayerShape> layers() const { return layers_; }
  [[nodiscard]] std::size_t inputs() const { return layers_.front().inputs; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  [[nodiscard]] bool is_dueling() const { return layers_.back().outputs != outputs_; }
  /// Values, padding included.
  [[nodiscard]] std::size_t block_size() const { return block_size_; }
  [[nodiscard]] std::size_t parameter_count() const;  ///< values, without padding

 private:
  std::vector<LayerShape> layers_;
  std::size_t outputs_ = 0;
  std::size_t block_size_ = 0;
};

/// Columns of values: element (row, column) is values[column * stride + row].
template <class Scalar>
struct Columns {
  Scalar* values;
  std::size_t stride;
};

/// Values from a column of a padded width to the next: an odd number of cache lines, so that a row
/// of columns is spread over all sets of the first-level cache.
constexpr std::size_t stride_of(std::size_t width_padded) {
  return width_padded / kLaneCount % 2 == 0 ? width_padded + kLaneCount : width_padded;
}

/// What forward() leaves for backward(): one matrix per layer. Shape: (outputs_padded, batch_max).
template <class Scalar>
class Activations {
 public:
  Activations(const NetworkShape& shape, std::size_t batch_max);

  [[nodiscard]] std::size_t batch_max() const { return batch_max_; }
  [[nodiscard]] std::size_t bytes() const { return values_.size() * sizeof(Scalar); }
  /// Output of a layer, after its ReLU where it has one.
  [[nodiscard]] Columns<Scalar> of_layer(std::size_t layer);
  /// Output of the network. Shape: (outputs_padded, batch); a dueling network's value is in the row
  /// after its outputs.
  [[nodiscard]] Columns<Scalar> outputs() { return of_layer(offsets_.size() - 1); }

 private:
  std::size_t batch_max_;
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t> strides_;
  AlignedArray<Scalar> values_;
};

/// Columns of advantages and a value become columns of outputs; the value stays in its row.
template <class Scalar>
void join_streams(Columns<Scalar> columns, std::size_t outputs, std::size_t batch);

/// The gradient by the outputs becomes the gradient by advantages and value: join_streams()
/// transposed.
template <class Scalar>
void split_streams(Columns<Scalar> columns, std::size_t outputs, std::size_t batch);

/// Runs `batch` columns of `inputs` through the network whose values are in `block`.
/// Shape: inputs (shape.inputs(), batch). Requires: batch <= activations.batch_max().
/// Cost: no heap call.
template <class Scalar>
void forward(const NetworkShape& shape, const Scalar* block, Columns<const Scalar> inputs,
             std::size_t batch, Activations<Scalar>& activations);

/// Gradient of a sum over the batch by every parameter, after forward() on the same inputs (which
/// may have had more columns; the first `batch` count).
/// On entry the last layer of `deltas` holds the gradient by the network's outputs, all other rows
/// zero; all layers are overwritten. `gradient` is overwritten. Cost: no heap call.
template <class Scalar>
void backward(const NetworkShape& shape, const Scalar* block, Columns<const Scalar> inputs,
              std::size_t batch, Activations<Scalar>& activations, Activations<Scalar>& deltas,
              Scalar* gradient);
}  // namespace drey::trainer
