// product_shape.hpp: the one product that all passes of a network are made of, as data.
// A panel is 16 columns of the right operand and of the result, side by side in memory. Forward:
// left is the batch, right the weights. Gradient by the weights: left is the batch transposed,
// right the deltas. Gradient by the inputs: left is the deltas, right the weights transposed.
// Included by files compiled for one instruction set each, so: plain data, no inline function.
// Read next: tile.hpp, kernels.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey::trainer {
inline constexpr std::size_t kPanelLanes = 16;

/// The upper halves of two floats (bfloat16), neighbours along the depth: the first one below.
using BrainPair = std::uint32_t;
using Brain = std::uint16_t;  ///< the upper half of a float: bfloat16

/// out(row, lane of panel) = start(lane of panel) + sum over k < depth of
///   left[row * left_row + k * left_step] * right[panel * right_panel + k * right_step + lane],
/// summed in the order of k; then zero where it is negative (`is_rectified`) or where `mask`, of the
/// layout of `out`, is not positive. Pairs count as one k; both halves are multiplied.
/// Requires: `right`, `start`, `out`, `mask` and their strides on multiples of 16 values.
template <class Left, class Out>
struct Product {
  std::size_t rows;
  std::size_t depth;
  std::size_t panels;
  const Left* left;
  std::size_t left_row;
  std::size_t left_step;
  const Left* right;
  std::size_t right_panel;
  std::size_t right_step;
  Out* out;
  std::size_t out_row;
  std::size_t out_panel;
  const float* start;  ///< 16 values a panel; null: zeros
  const Out* mask;     ///< null: none
  bool is_rectified;
};
}  // namespace drey::trainer
