// product_kernel.hpp: out = left * right with what a layer does to a product: bias, ReLU, or the ReLU's
// mask on the way back. Tiles of 32 x 32 of the result a block, 32 deep; four results a thread.
// Operands may lie in panels of 16 rows, as a network's weights do (numeric/network.hpp), so blocks of
// weights are the same bytes on both sides. Shape: left (rows, depth), right (depth, columns).
// Invariant: each result is one sum over the depth in order. Read next: layer_kernels.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/device/kernel_body.hpp"

namespace drey::trainer {
/// Where the i-th of an axis lies: i / 16 panels and i % 16 lanes from the first, in values.
struct Axis {
  std::size_t panel;
  std::size_t lane;

  [[nodiscard]] constexpr std::size_t at(std::size_t index) const {
    return index / 16 * panel + index % 16 * lane;
  }
};

/// An axis without panels.
[[nodiscard]] constexpr Axis evenly(std::size_t stride) {
  return {16 * stride, stride};
}

template <class Value>
struct Operand {
  Value* values;
  Axis rows;
  Axis columns;

  [[nodiscard]] constexpr Value& at(std::size_t row, std::size_t column) const {
    return values[rows.at(row) + columns.at(column)];
  }
};

enum class Epilogue : std::uint32_t {
  kNone,
  kBias,      ///< + bias[row]
  kBiasRelu,  ///< the larger of that and 0
  kMask       ///< 0 where `mask` is not positive
};

struct ProductKernel {
  static constexpr const char* kName = "drey_product";
  static constexpr std::uint32_t kTile = 32;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr std::uint32_t kResults = kTile * kTile / kThreads;  ///< of a thread

  struct Arguments {
    std::uint32_t rows, columns, depth;
    Operand<const float> left, right;
    Operand<float> out;
    const float* bias;          ///< (rows,)
    Operand<const float> mask;  ///< (rows, columns)
    Epilogue epilogue;
    std::size_t left_size, right_size,
        out_size;  ///< values that each operand spans, for accesses()
  };
  struct Shared {
    float left[kTile][kTile + 1];  ///< one more: a column's values lie in different banks
    float right[kTile][kTile + 1];
  };
  struct Registers {
    float sums[kResults];
  };

  [[nodiscard]] static constexpr std::uint32_t blocks(const Arguments& arguments) {
    return blocks_for(arguments.rows, kTile) * blocks_for(arguments.columns, kTile);
  }
  /// A tile of both operands is fetched, then used, and so on; the last phase stores.
  [[nodiscard]] static constexpr std::uint32_t phase_count(const Arguments& arguments) {
    return 2 * blocks_for(arguments.depth, kTile) + 1;
  }

  static constexpr void run(const Arguments& arguments, Place place, Shared& shared,
                            Registers& registers, std::uint32_t phase) {
    if (phase + 1 == phase_count(arguments)) return store(arguments, place, registers);
    if (phase % 2 == 0) return fetch(arguments, place, shared, phase / 2 * kTile);
    multiply(place, shared, registers);
  }

  template <class Report>
  static void accesses(const Arguments& arguments, Report&& report) {
    report(arguments.left.values, arguments.left_size * sizeof(float), false);
    report(arguments.right.values, arguments.right_size * sizeof(float), false);
    report(arguments.out.values, arguments.out_size * sizeof(float), true);
    const bool has_bias =
        arguments.epilogue == Epilogue::kBias || arguments.epilogue == Epilogue::kBiasRelu;
    if (has_bias) report(arguments.bias, arguments.rows * sizeof(float), false);
    if (arguments.epilogue == Epilogue::kMask) {
      report(arguments.mask.values, arguments.out_size * sizeof(float), false);
    }
  }

 private:
  /// Of the block's tile, the first row and column.
  static constexpr std::uint32_t first_row(const Arguments& arguments, Place place) {
    return place.block % blocks_for(arguments.rows, kTile) * kTile;
  }
  static constexpr std::uint32_t first_column(const Arguments& arguments, Place place) {
    return place.block / blocks_for(arguments.rows, kTile) * kTile;
  }

  static constexpr void fetch(const Arguments& arguments, Place place, Shared& shared,
                              std::uint32_t first_depth) {
    const std::uint32_t row = first_row(arguments, place);
    const std::uint32_t column = first_column(arguments, place);
    for (std::uint32_t part = 0; part < kResults; ++part) {
      const std::uint32_t fast = place.thread % kTile;
      const std::uint32_t slow = place.thread / kTile + part * (kThreads / kTile);
      const bool is_left = row + fast < arguments.rows && first_depth + slow < arguments.depth;
      shared.left[slow][fast] = is_left ? arguments.left.at(row + fast, first_depth + slow) : 0.0f;
      const bool is_right =
          first_depth + fast < arguments.depth && column + slow < arguments.columns;
      shared.right[fast][slow] =
          is_right ? arguments.right.at(first_depth + fast, column + slow) : 0.0f;
    }
  }

  static constexpr void multiply(Place place, const Shared& shared, Registers& registers) {
    for (std::uint32_t depth = 0; depth < kTile; ++depth) {
      const float left = shared.left[depth][place.thread % kTile];
      for (std::uint32_t part = 0; part < kResults; ++part) {
        const std::uint32_t column = place.thread / kTile + part * (kThreads / kTile);
        registers.sums[part] += left * shared.right[depth][column];
      }
    }
  }

  static constexpr void store(const Arguments& arguments, Place place, const Registers& registers) {
    const std::uint32_t row = first_row(arguments, place) + place.thread % kTile;
    for (std::uint32_t part = 0; part < kResults; ++part) {
      const std::uint32_t column =
          first_column(arguments, place) + place.thread / kTile + part * (kThreads / kTile);
      if (row >= arguments.rows || column >= arguments.columns) continue;
      arguments.out.at(row, column) = finish(arguments, row, column, registers.sums[part]);
    }
  }

  static constexpr float finish(const Arguments& arguments, std::uint32_t row, std::uint32_t column,
                                float sum) {
    switch (arguments.epilogue) {
      case Epilogue::kNone:
        return sum;
      case Epilogue::kBias:
        return sum + arguments.bias[row];
      case Epilogue::kBiasRelu: {
        const float value = sum + arguments.bias[row];
        return value > 0.0f ? value : 0.0f;
      }
      case Epilogue::kMask:
        return arguments.mask.at(row, column) > 0.0f ? sum : 0.0f;
    }
    return sum;
  }
};
}  // namespace drey::trainer
