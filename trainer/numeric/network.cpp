// network.cpp: the layers of network.hpp: the large products by product.hpp, the rest by Eigen.
// Everything here is in the step: no heap call (Eigen packs its operands on the stack up to
// EIGEN_STACK_ALLOCATION_LIMIT bytes, which the build raises) and no thread but the caller's.
// Read next: network.hpp, product.hpp, agent/learner.cpp.
// SPDX-License-Identifier: MIT
#include "trainer/numeric/network.hpp"

#include <Eigen/Core>

#include <drey/base/assert.hpp>

#include "trainer/numeric/product.hpp"

namespace drey::trainer {
namespace {
template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
template <class Scalar>
using StridedMap = Eigen::Map<Matrix<Scalar>, Eigen::Aligned64, Eigen::OuterStride<>>;
template <class Scalar>
using ConstStridedMap = Eigen::Map<const Matrix<Scalar>, Eigen::Aligned64, Eigen::OuterStride<>>;
template <class Scalar>
using ConstMatrixMap = Eigen::Map<const Matrix<Scalar>, Eigen::Aligned64>;
template <class Scalar>
using MatrixMap = Eigen::Map<Matrix<Scalar>, Eigen::Aligned64>;

Eigen::Index index_of(std::size_t value) {
  return static_cast<Eigen::Index>(value);
}

template <class Scalar>
ConstStridedMap<Scalar> map_of(Columns<const Scalar> columns, std::size_t rows, std::size_t batch) {
  return {columns.values, index_of(rows), index_of(batch),
          Eigen::OuterStride<>(index_of(columns.stride))};
}

template <class Scalar>
StridedMap<Scalar> map_of(Columns<Scalar> columns, std::size_t rows, std::size_t batch) {
  return {columns.values, index_of(rows), index_of(batch),
          Eigen::OuterStride<>(index_of(columns.stride))};
}

template <class Scalar>
ConstMatrixMap<Scalar> weights_of(const LayerShape& layer, const Scalar* block) {
  return {block + layer.weights_offset, index_of(layer.outputs_padded), index_of(layer.inputs)};
}

template <class Scalar>
Columns<const Scalar> constant(Columns<Scalar> columns) {
  return {columns.values, columns.stride};
}

/// Columns of advantages and a value become columns of outputs; the value stays in its row.
template <class Scalar>
void join_streams(Columns<Scalar> columns, std::size_t outputs, std::size_t batch) {
  for (std::size_t column = 0; column < batch; ++column) {
    Scalar* const values = columns.values + column * columns.stride;
    Scalar sum = 0;
    for (std::size_t row = 0; row < outputs; ++row) sum += values[row];
    const Scalar base = values[outputs] - sum / static_cast<Scalar>(outputs);
    for (std::size_t row = 0; row < outputs; ++row) values[row] += base;
  }
}

/// The gradient by the outputs becomes the gradient by advantages and value: join_streams()
/// transposed.
template <class Scalar>
void split_streams(Columns<Scalar> columns, std::size_t outputs, std::size_t batch) {
  for (std::size_t column = 0; column < batch; ++column) {
    Scalar* const deltas = columns.values + column * columns.stride;
    Scalar sum = 0;
    for (std::size_t row = 0; row < outputs; ++row) sum += deltas[row];
    const Scalar mean = sum / static_cast<Scalar>(outputs);
    for (std::size_t row = 0; row < outputs; ++row) deltas[row] -= mean;
    deltas[outputs] = sum;
  }
}
}  // namespace

NetworkShape::NetworkShape(std::span<const std::size_t> widths, Head head)
    : outputs_(widths.back()) {
  DREY_ASSERT(widths.size() >= 2);
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const bool has_value_row = head == Head::kDueling && layer + 2 == widths.size();
    const std::size_t outputs = widths[layer + 1] + (has_value_row ? 1 : 0);
    const std::size_t padded = padded_to_lanes(outputs);
    const std::size_t bias_offset = block_size_ + padded * widths[layer];
    layers_.push_back({widths[layer], outputs, padded, block_size_, bias_offset});
    block_size_ = bias_offset + padded;
  }
}

std::size_t NetworkShape::parameter_count() const {
  std::size_t count = 0;
  for (const LayerShape& layer : layers_) count += layer.outputs * (layer.inputs + 1);
  return count;
}

template <class Scalar>
Activations<Scalar>::Activations(const NetworkShape& shape, std::size_t batch_max)
    : batch_max_(batch_max) {
  std::size_t size = 0;
  for (const LayerShape& layer : shape.layers()) {
    offsets_.push_back(size);
    strides_.push_back(layer.outputs_padded);
    size += layer.outputs_padded * batch_max;
  }
  values_ = AlignedArray<Scalar>(size);
}

template <class Scalar>
Columns<Scalar> Activations<Scalar>::of_layer(std::size_t layer) {
  return {values_.data() + offsets_[layer], strides_[layer]};
}

template <class Scalar>
void forward(const NetworkShape& shape, const Scalar* block, Columns<const Scalar> inputs,
             std::size_t batch, Activations<Scalar>& activations) {
  DREY_ASSERT(batch > 0 && batch <= activations.batch_max());
  Columns<const Scalar> below = inputs;
  for (std::size_t index = 0; index < shape.layers().size(); ++index) {
    const LayerShape& layer = shape.layers()[index];
    auto outputs = map_of(activations.of_layer(index), layer.outputs_padded, batch);
    const Eigen::Map<const Vector<Scalar>, Eigen::Aligned64> bias(block + layer.bias_offset,
                                                                  outputs.rows());
    multiply<Scalar>(layer.outputs_padded, batch, layer.inputs, block + layer.weights_offset,
                     layer.outputs_padded, {below.values, 1, below.stride}, outputs.data(),
                     layer.outputs_padded);
    if (index + 1 == shape.layers().size()) {
      outputs.colwise() += bias;
    } else {
      outputs = (outputs.colwise() + bias).cwiseMax(Scalar{0});
    }
    below = constant(activations.of_layer(index));
  }
  if (shape.is_dueling()) join_streams(activations.outputs(), shape.outputs(), batch);
}

template <class Scalar>
void backward(const NetworkShape& shape, const Scalar* block, Columns<const Scalar> inputs,
              std::size_t batch, Activations<Scalar>& activations, Activations<Scalar>& deltas,
              Scalar* gradient) {
  DREY_ASSERT(batch > 0 && batch <= deltas.batch_max());
  if (shape.is_dueling()) split_streams(deltas.outputs(), shape.outputs(), batch);
  for (std::size_t index = shape.layers().size(); index-- > 0;) {
    const LayerShape& layer = shape.layers()[index];
    const Columns<Scalar> own = deltas.of_layer(index);
    const auto delta = map_of(constant(own), layer.outputs_padded, batch);
    const Columns<const Scalar> inputs_below =
        index == 0 ? inputs : constant(activations.of_layer(index - 1));
    multiply<Scalar>(layer.outputs_padded, layer.inputs, batch, own.values, own.stride,
                     {inputs_below.values, inputs_below.stride, 1},  // transposed
                     gradient + layer.weights_offset, layer.outputs_padded);
    MatrixMap<Scalar>(gradient + layer.bias_offset, delta.rows(), 1) = delta.rowwise().sum();
    if (index == 0) return;  // nobody asks for the gradient by the observations
    auto delta_below = map_of(deltas.of_layer(index - 1), layer.inputs, batch);
    const auto below = map_of(inputs_below, layer.inputs, batch);
    delta_below.noalias() = weights_of(layer, block).transpose() * delta;
    delta_below = (below.array() > Scalar{0}).select(delta_below, Scalar{0});
  }
}

template class Activations<float>;
template class Activations<double>;
template void forward(const NetworkShape&, const float*, Columns<const float>, std::size_t,
                      Activations<float>&);
template void forward(const NetworkShape&, const double*, Columns<const double>, std::size_t,
                      Activations<double>&);
template void backward(const NetworkShape&, const float*, Columns<const float>, std::size_t,
                       Activations<float>&, Activations<float>&, float*);
template void backward(const NetworkShape&, const double*, Columns<const double>, std::size_t,
                       Activations<double>&, Activations<double>&, double*);
}  // namespace drey::trainer
