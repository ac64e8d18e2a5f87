// kernels.hpp: the loops of a gradient step, once for each instruction set, behind pointers.
// Each set has a file of its own, compiled with the flags of that set alone; nothing else of the
// program needs more than the compiler's default machine, so one binary runs everywhere.
// Included by those files, so: plain data, no inline function (see tile.hpp).
// Read next: isa.hpp, product_shape.hpp, tile.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/isa.hpp"
#include "trainer/numeric/kernels/product_shape.hpp"

namespace drey::trainer {
/// One step of Adam and of the target's blend over `size` parameters. Requires: blocks on cache
/// lines, all distinct; `size` a multiple of 16.
struct AdamSweep {
  float scale;       ///< of the gradient: below 1 where it is clipped
  float rate;        ///< learning rate over the first moment's correction
  float root_scale;  ///< 1 over the root of the second moment's correction
  float beta1;
  float beta2;
  float epsilon;
  float part;  ///< of the target's way
  float* parameters;
  const float* gradient;
  float* first_moment;
  float* second_moment;
  float* target;  ///< null: left alone
  std::size_t size;
};

struct Kernels {
  Isa isa;
  void (*multiply)(const Product<float, float>&);
  double (*square_sum)(const float* values, std::size_t size);
  void (*adam)(const AdamSweep&);
  // Of bfloat16, summed in float; null where the instruction set has none.
  void (*multiply_pairs)(const Product<BrainPair, float>&);
  void (*multiply_pairs_to_brain)(const Product<BrainPair, Brain>&);
  /// Rounds `size` floats to the nearest, ties to even; then zeros to a multiple of 32.
  void (*round)(const float* from, Brain* to, std::size_t size);
  /// to[i] = {first[i], second[i]}. Requires: size a multiple of 16.
  void (*interleave)(const Brain* first, const Brain* second, BrainPair* to, std::size_t size);
  /// Rounds rows of 16 floats, one behind the other, into rows of pairs of two rows each; the last
  /// one of an odd number is paired with zeros.
  void (*pair_rows)(const float* rows, std::size_t row_count, BrainPair* to);
  /// Rounds rows of 16 floats and turns them: to[pair * stride + row] = values 2 pair and 2 pair + 1
  /// of the row; zeros in place of rows up to a multiple of 16. Requires: room for these.
  void (*transpose_rows)(const float* rows, std::size_t row_count, BrainPair* to,
                         std::size_t stride);
};

// What the file of each set has of its own; for use: kernels_of().
extern const Kernels portable_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
extern const Kernels avx512_bf16_kernels;

/// The kernels of `isa`, complete: null only where bfloat16 is missing. Requires: is_supported(isa). Fails: never.
const Kernels& kernels_of(Isa isa);
}  // namespace drey::trainer
