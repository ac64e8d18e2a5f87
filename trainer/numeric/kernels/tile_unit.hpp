// tile_unit.hpp: Product of bfloat16 pairs on a unit of matrix tiles, as AMX is one, written over
// what such a unit does: configure, load, zero, multiply-add, store.
// A tile is 16 rows of 64 bytes: 16 x 16 sums, or 16 rows of 16 pairs. Two panels share each tile of
// the left operand. What is left of the depth after whole tiles has tiles of its own, cut to its
// size: nothing outside of the operands is read.
// Invariant: each element is summed in the order of the depth, from its start value on.
// Read next: amx.cpp; the model of a unit in tests.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/kernels/product_shape.hpp"

namespace drey::trainer::tiles {
inline constexpr std::size_t kTileRows = 16;
inline constexpr std::size_t kTilePairs = 16;  ///< of a row

/// Numbers of the eight tiles.
enum Tile : int {
  kSum0,
  kSum1,
  kLeft,
  kRight0,
  kRight1,
  kLeftRest,  ///< as kLeft, narrower
  kRightRest0,
  kRightRest1  ///< as kRight0 and kRight1, lower
};

/// The left operand's tile as a unit can load it: rows with their pairs side by side.
struct LeftTile {
  const BrainPair* values;
  std::size_t stride;  ///< pairs
};

/// `scratch` is used where neighbours along the depth are not neighbours in memory.
template <class Unit, class Out>
LeftTile left_tile(const Product<BrainPair, Out>& in, std::size_t row, std::size_t rows,
                   std::size_t k, std::size_t pairs, BrainPair* scratch) {
  const BrainPair* const from = in.left + row * in.left_row + k * in.left_step;
  if (in.left_step == 1) return {from, in.left_row};
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    for (std::size_t r = 0; r < rows; ++r) {
      scratch[r * kTilePairs + pair] = from[r * in.left_row + pair * in.left_step];
    }
  }
  return {scratch, kTilePairs};
}

/// One or two panels of `rows` rows, kTileRows at most. Requires: the unit configured for them.
template <class Unit, class Out, bool kTwo>
void multiply_block(const Product<BrainPair, Out>& in, std::size_t row, std::size_t rows,
                    std::size_t panel) {
  alignas(64) BrainPair scratch[kTileRows * kTilePairs];
  alignas(64) float sums[2][kTileRows * kPanelLanes];
  if (in.start == nullptr) {
    Unit::template zero<kSum0>();
    Unit::template zero<kSum1>();
  } else {  // a stride of nothing: every row begins with the same values
    Unit::template load<kSum0>(in.start + panel * kPanelLanes, 0);
    if (kTwo) Unit::template load<kSum1>(in.start + (panel + 1) * kPanelLanes, 0);
  }
  const BrainPair* const right = in.right + panel * in.right_panel;
  const std::size_t right_bytes = in.right_step * sizeof(BrainPair);
  std::size_t k = 0;
  for (; k + kTilePairs <= in.depth; k += kTilePairs) {
    const LeftTile left = left_tile<Unit>(in, row, rows, k, kTilePairs, scratch);
    Unit::template load<kLeft>(left.values, left.stride * sizeof(BrainPair));
    Unit::template load<kRight0>(right + k * in.right_step, right_bytes);
    Unit::template multiply_add<kSum0, kLeft, kRight0>();
    if (!kTwo) continue;
    Unit::template load<kRight1>(right + in.right_panel + k * in.right_step, right_bytes);
    Unit::template multiply_add<kSum1, kLeft, kRight1>();
  }
  if (k < in.depth) {
    const LeftTile left = left_tile<Unit>(in, row, rows, k, in.depth - k, scratch);
    Unit::template load<kLeftRest>(left.values, left.stride * sizeof(BrainPair));
    Unit::template load<kRightRest0>(right + k * in.right_step, right_bytes);
    Unit::template multiply_add<kSum0, kLeftRest, kRightRest0>();
    if (kTwo) {
      Unit::template load<kRightRest1>(right + in.right_panel + k * in.right_step, right_bytes);
      Unit::template multiply_add<kSum1, kLeftRest, kRightRest1>();
    }
  }
  Unit::template store<kSum0>(sums[0], kPanelLanes * sizeof(float));
  if (kTwo) Unit::template store<kSum1>(sums[1], kPanelLanes * sizeof(float));
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t p = 0; p < (kTwo ? 2 : 1); ++p) {
      const std::size_t place = (row + r) * in.out_row + (panel + p) * in.out_panel;
      Unit::finish(sums[p] + r * kPanelLanes, in.is_rectified,
                   in.mask == nullptr ? nullptr : in.mask + place, in.out + place);
    }
  }
}

template <class Unit, class Out>
void multiply_rows(const Product<BrainPair, Out>& in, std::size_t row, std::size_t rows) {
  std::size_t panel = 0;
  for (; panel + 2 <= in.panels; panel += 2) multiply_block<Unit, Out, true>(in, row, rows, panel);
  if (panel < in.panels) multiply_block<Unit, Out, false>(in, row, rows, panel);
}

template <class Unit, class Out>
void multiply(const Product<BrainPair, Out>& in) {
  const std::size_t rest = in.depth % kTilePairs;
  std::size_t row = 0;
  if (in.rows >= kTileRows) Unit::configure(kTileRows, rest);
  for (; row + kTileRows <= in.rows; row += kTileRows) {
    multiply_rows<Unit, Out>(in, row, kTileRows);
  }
  if (row < in.rows) {
    Unit::configure(in.rows - row, rest);
    multiply_rows<Unit, Out>(in, row, in.rows - row);
  }
  Unit::release();
}
}  // namespace drey::trainer::tiles
