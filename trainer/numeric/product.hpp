// product.hpp: the matrix product that nearly all of a training step is spent in.
// The matrices are small enough for the second-level cache, so nothing is packed or copied first,
// as general libraries must: half again as fast as Eigen here, and no memory is asked for.
// Invariant: each element is summed over the depth in order, so a result depends neither on the
// shape of the tiles nor on where the operands lie.
// Read next: product.cpp, network.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::trainer {
/// Element (row, column) is values[row * row_stride + column * column_stride]: a matrix or, with
/// strides exchanged, its transpose.
template <class Scalar>
struct Strided {
  const Scalar* values;
  std::size_t row_stride;
  std::size_t column_stride;
};

/// out(row, column) = sum over d < depth of left(row, d) * right(d, column), for all
/// row < `rows`, column < `columns`. `left` and `out` are column-major with these strides.
/// Requires: rows, left_stride and out_stride are multiples of 16; `out` overlaps no operand.
/// Cost: rows * columns * depth multiplications; no heap call.
template <class Scalar>
void multiply(std::size_t rows, std::size_t columns, std::size_t depth, const Scalar* left,
              std::size_t left_stride, Strided<Scalar> right, Scalar* out, std::size_t out_stride);
}  // namespace drey::trainer
