// tile_model.hpp: a model of a unit of matrix tiles, as AMX's is described, for machines without.
// Reading a tile that was not configured, or beyond a tile's size, is a failed test.
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, TDPBF16PS.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>

#include "trainer/numeric/kernels/tile_unit.hpp"

namespace drey::trainer {
inline float float_of(Brain half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

/// To the nearest, ties to even. Requires: finite.
inline Brain brain_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<Brain>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

struct TileShape {
  std::size_t rows = 0;
  std::size_t bytes = 0;  ///< of a row
};

struct ModelTiles {
  using Row = std::array<std::uint32_t, 16>;

  static inline std::array<TileShape, 8> shapes;
  static inline std::array<std::array<Row, 16>, 8> values;

  static void configure(std::size_t rows, std::size_t rest) {
    shapes.fill(TileShape{rows, 64});
    values = {};
    shapes[tiles::kLeftRest].bytes = rest * 4;
    shapes[tiles::kRight0] = {16, 64};
    shapes[tiles::kRight1] = {16, 64};
    shapes[tiles::kRightRest0] = {rest, 64};
    shapes[tiles::kRightRest1] = {rest, 64};
  }
  static void release() { shapes.fill(TileShape{}); }

  template <int kTile>
  static void zero() {
    values[kTile] = {};
  }
  template <int kTile>
  static void load(const void* from, std::size_t stride_bytes) {
    ASSERT_GT(shapes[kTile].rows * shapes[kTile].bytes, 0U) << "tile " << kTile;
    values[kTile] = {};
    for (std::size_t row = 0; row < shapes[kTile].rows; ++row) {
      std::memcpy(values[kTile][row].data(), static_cast<const char*>(from) + row * stride_bytes,
                  shapes[kTile].bytes);
    }
  }
  template <int kTile>
  static void store(void* to, std::size_t stride_bytes) {
    for (std::size_t row = 0; row < shapes[kTile].rows; ++row) {
      std::memcpy(static_cast<char*>(to) + row * stride_bytes, values[kTile][row].data(),
                  shapes[kTile].bytes);
    }
  }
  template <int kSum, int kLeft, int kRight>
  static void multiply_add() {
    ASSERT_EQ(shapes[kLeft].bytes, shapes[kRight].rows * 4);
    ASSERT_EQ(shapes[kSum].rows, shapes[kLeft].rows);
    for (std::size_t m = 0; m < shapes[kLeft].rows; ++m) {
      for (std::size_t k = 0; k < shapes[kRight].rows; ++k) {
        for (std::size_t n = 0; n < 16; ++n) {
          const std::uint32_t left = values[kLeft][m][k];
          const std::uint32_t right = values[kRight][k][n];
          auto sum = std::bit_cast<float>(values[kSum][m][n]);
          sum += float_of(static_cast<Brain>(left)) * float_of(static_cast<Brain>(right));
          sum +=
              float_of(static_cast<Brain>(left >> 16)) * float_of(static_cast<Brain>(right >> 16));
          values[kSum][m][n] = std::bit_cast<std::uint32_t>(sum);
        }
      }
    }
  }

  static void finish(const float* sums, bool is_rectified, const float* mask, float* out) {
    for (std::size_t lane = 0; lane < kPanelLanes; ++lane) {
      float value = sums[lane];
      if (is_rectified && value < 0) value = 0;
      if (mask != nullptr && !(mask[lane] > 0)) value = 0;
      out[lane] = value;
    }
  }
  static void finish(const float* sums, bool is_rectified, const Brain* mask, Brain* out) {
    for (std::size_t lane = 0; lane < kPanelLanes; ++lane) {
      float value = sums[lane];
      if (is_rectified && value < 0) value = 0;
      if (mask != nullptr && !(float_of(mask[lane]) > 0)) value = 0;
      out[lane] = brain_of(value);
    }
  }
};
}  // namespace drey::trainer
