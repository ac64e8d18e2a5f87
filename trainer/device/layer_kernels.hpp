// layer_kernels.hpp: what a step does beside its products: rows gathered by index, a dueling network's
// streams joined, biases' gradients summed.
// Invariants: every sum has a fixed order; the padding of what is written stays zero.
// Read next: loss_kernels.hpp. SPDX-License-Identifier: MIT
#pragma once

#include "trainer/device/kernel_body.hpp"

namespace drey::trainer {
/// column i of out = row rows[i] of the table. Shape: table (any, width), out (width, count). A block
/// a row.
struct GatherKernel {
  static constexpr const char* kName = "drey_gather";
  static constexpr std::uint32_t kThreads = 128;
  struct Arguments {
    const float* table;
    std::size_t table_stride, table_size;  ///< values
    const std::uint32_t* rows;
    std::uint32_t count, width;
    float* out;
    std::size_t out_stride;
  };
  using Shared = NoMemory;
  using Registers = NoMemory;

  [[nodiscard]] static constexpr std::uint32_t blocks(const Arguments& arguments) {
    return arguments.count;
  }
  [[nodiscard]] static constexpr std::uint32_t phase_count(const Arguments&) { return 1; }
  static constexpr void run(const Arguments& arguments, Place place, Shared&, Registers&,
                            std::uint32_t) {
    const float* const row = arguments.table + arguments.rows[place.block] * arguments.table_stride;
    float* const out = arguments.out + place.block * arguments.out_stride;
    for (std::uint32_t at = place.thread; at < arguments.width; at += kThreads) out[at] = row[at];
  }
  template <class Report>
  static void accesses(const Arguments& arguments, Report&& report) {
    report(arguments.table, arguments.table_size * sizeof(float), false);
    report(arguments.rows, arguments.count * sizeof(std::uint32_t), false);
    report(arguments.out, arguments.count * arguments.out_stride * sizeof(float), true);
  }
};

/// Columns of advantages and a value become columns of outputs, as join_streams() of
/// numeric/network.hpp. A thread a column.
struct JoinKernel {
  static constexpr const char* kName = "drey_join";
  static constexpr std::uint32_t kThreads = 128;
  struct Arguments {
    float* columns;
    std::size_t stride;
    std::uint32_t outputs, count;
  };
  using Shared = NoMemory;
  using Registers = NoMemory;

  [[nodiscard]] static constexpr std::uint32_t blocks(const Arguments& arguments) {
    return blocks_for(arguments.count, kThreads);
  }
  [[nodiscard]] static constexpr std::uint32_t phase_count(const Arguments&) { return 1; }
  static constexpr void run(const Arguments& arguments, Place place, Shared&, Registers&,
                            std::uint32_t) {
    const std::uint32_t index = place.block * kThreads + place.thread;
    if (index >= arguments.count) return;
    float* const column = arguments.columns + index * arguments.stride;
    float sum = 0;
    for (std::uint32_t output = 0; output < arguments.outputs; ++output) sum += column[output];
    const float shift = column[arguments.outputs] - sum / static_cast<float>(arguments.outputs);
    for (std::uint32_t output = 0; output < arguments.outputs; ++output) column[output] += shift;
  }
  template <class Report>
  static void accesses(const Arguments& arguments, Report&& report) {
    report(arguments.columns, arguments.count * arguments.stride * sizeof(float), true);
  }
};

/// The transpose of that: the gradient by outputs becomes the one by advantages and value.
struct SplitKernel {
  static constexpr const char* kName = "drey_split";
  static constexpr std::uint32_t kThreads = 128;
  using Arguments = JoinKernel::Arguments;
  using Shared = NoMemory;
  using Registers = NoMemory;

  [[nodiscard]] static constexpr std::uint32_t blocks(const Arguments& arguments) {
    return JoinKernel::blocks(arguments);
  }
  [[nodiscard]] static constexpr std::uint32_t phase_count(const Arguments&) { return 1; }
  static constexpr void run(const Arguments& arguments, Place place, Shared&, Registers&,
                            std::uint32_t) {
    const std::uint32_t index = place.block * kThreads + place.thread;
    if (index >= arguments.count) return;
    float* const column = arguments.columns + index * arguments.stride;
    float sum = 0;
    for (std::uint32_t output = 0; output < arguments.outputs; ++output) sum += column[output];
    const float mean = sum / static_cast<float>(arguments.outputs);
    for (std::uint32_t output = 0; output < arguments.outputs; ++output) column[output] -= mean;
    column[arguments.outputs] = sum;
  }
  template <class Report>
  static void accesses(const Arguments& arguments, Report&& report) {
    JoinKernel::accesses(arguments, report);
  }
};

/// sums[row] = the sum of a row over all columns: a bias's gradient. A thread a row.
struct RowSumsKernel {
  static constexpr const char* kName = "drey_row_sums";
  static constexpr std::uint32_t kThreads = 64;
  struct Arguments {
    const float* columns;
    std::size_t stride;
    std::uint32_t rows, count;
    float* sums;
  };
  using Shared = NoMemory;
  using Registers = NoMemory;

  [[nodiscard]] static constexpr std::uint32_t blocks(const Arguments& arguments) {
    return blocks_for(arguments.rows, kThreads);
  }
  [[nodiscard]] static constexpr std::uint32_t phase_count(const Arguments&) { return 1; }
  static constexpr void run(const Arguments& arguments, Place place, Shared&, Registers&,
                            std::uint32_t) {
    const std::uint32_t row = place.block * kThreads + place.thread;
    if (row >= arguments.rows) return;
    float sum = 0;
    for (std::uint32_t column = 0; column < arguments.count; ++column) {
      sum += arguments.columns[column * arguments.stride + row];
    }
    arguments.sums[row] = sum;
  }
  template <class Report>
  static void accesses(const Arguments& arguments, Report&& report) {
    report(arguments.columns, arguments.count * arguments.stride * sizeof(float), false);
    report(arguments.sums, arguments.rows * sizeof(float), true);
  }
};
}  // namespace drey::trainer
