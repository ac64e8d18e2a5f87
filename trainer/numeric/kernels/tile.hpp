// tile.hpp: Product for any unit of vector arithmetic: a tile of the result is held in registers
// while the depth is walked once.
// Invariants: each element is summed over the depth in order, from its start value on, so a result
// depends neither on the tile an element falls into nor on the size of the batch; every function is
// a template over a type of one file's anonymous namespace, so that nothing compiled for one
// instruction set can be linked into code for another.
// Read next: avx512.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/kernels/product_shape.hpp"

namespace drey::trainer::tile {
template <class Unit, class Out, std::size_t kVectors>
[[gnu::always_inline]] inline void finish_row(const Product<typename Unit::Left, Out>& in,
                                              std::size_t row, std::size_t panel,
                                              typename Unit::Vector (&sums)[kVectors]) {
  constexpr std::size_t kPerPanel = kPanelLanes / Unit::kLanes;
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t place =
        row * in.out_row + (panel + v / kPerPanel) * in.out_panel + v % kPerPanel * Unit::kLanes;
    typename Unit::Vector value = sums[v];
    if (in.is_rectified) value = Unit::rectify(value);
    if (in.mask != nullptr) value = Unit::keep_where_positive(value, in.mask + place);
    Unit::store(in.out + place, value);
  }
}

/// kRows rows of kPanels panels.
template <class Unit, class Out, std::size_t kRows, std::size_t kPanels>
[[gnu::always_inline]] inline void multiply_tile(const Product<typename Unit::Left, Out>& in,
                                                 std::size_t row, std::size_t panel) {
  using Vector = typename Unit::Vector;
  using Left = typename Unit::Left;
  constexpr std::size_t kPerPanel = kPanelLanes / Unit::kLanes;
  constexpr std::size_t kVectors = kPanels * kPerPanel;
  constexpr std::size_t kBases = (kRows + 2) / 3;
  // Unrolled, so that the sums are registers from their start to their end, and never an array.
  Vector sums[kRows][kVectors];
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kVectors; ++v) {
    const Vector first = in.start == nullptr
                             ? Unit::zero()
                             : Unit::load_start(in.start + (panel + v / kPerPanel) * kPanelLanes +
                                                v % kPerPanel * Unit::kLanes);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) sums[r][v] = first;
  }
  // One pointer for three rows: what an address can express, so that registers are enough.
  const Left* bases[kBases];
  for (std::size_t b = 0; b < kBases; ++b) bases[b] = in.left + (row + 3 * b) * in.left_row;
  const Left* right = in.right + panel * in.right_panel;
  for (std::size_t k = 0; k < in.depth; ++k) {
    Vector rights[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      rights[v] = Unit::load(right + v / kPerPanel * in.right_panel + v % kPerPanel * Unit::kLanes);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector factor = Unit::broadcast(bases[r / 3] + r % 3 * in.left_row);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[r][v] = Unit::multiply_add(sums[r][v], factor, rights[v]);
      }
    }
    for (std::size_t b = 0; b < kBases; ++b) bases[b] += in.left_step;
    right += in.right_step;
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
    finish_row<Unit, Out, kVectors>(in, row + r, panel, sums[r]);
  }
}

/// kPanels panels, all rows.
template <class Unit, class Out, std::size_t kPanels>
void multiply_band(const Product<typename Unit::Left, Out>& in, std::size_t panel) {
  std::size_t row = 0;
  for (; row + Unit::kTileRows <= in.rows; row += Unit::kTileRows) {
    multiply_tile<Unit, Out, Unit::kTileRows, kPanels>(in, row, panel);
  }
  if (row + Unit::kHalfRows <= in.rows) {
    multiply_tile<Unit, Out, Unit::kHalfRows, kPanels>(in, row, panel);
    row += Unit::kHalfRows;
  }
  if (row + 4 <= in.rows) {
    multiply_tile<Unit, Out, 4, kPanels>(in, row, panel);
    row += 4;
  }
  for (; row < in.rows; ++row) multiply_tile<Unit, Out, 1, kPanels>(in, row, panel);
}

/// One row has but one sum for each vector: many panels at once hide the latency.
template <class Unit, class Out>
void multiply_row(const Product<typename Unit::Left, Out>& in) {
  constexpr std::size_t kWide = 4 * Unit::kTilePanels;
  std::size_t panel = 0;
  for (; panel + kWide <= in.panels; panel += kWide) {
    multiply_tile<Unit, Out, 1, kWide>(in, 0, panel);
  }
  for (; panel < in.panels; ++panel) multiply_tile<Unit, Out, 1, 1>(in, 0, panel);
}

template <class Unit, class Out>
void multiply(const Product<typename Unit::Left, Out>& in) {
  if (in.rows == 1) {
    multiply_row<Unit, Out>(in);
    return;
  }
  std::size_t panel = 0;
  for (; panel + Unit::kTilePanels <= in.panels; panel += Unit::kTilePanels) {
    multiply_band<Unit, Out, Unit::kTilePanels>(in, panel);
  }
  for (; panel < in.panels; ++panel) multiply_band<Unit, Out, 1>(in, panel);
}
}  // namespace drey::trainer::tile
