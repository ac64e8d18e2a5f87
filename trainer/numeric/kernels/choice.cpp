// choice.cpp: kernels_of(): what the file of a set does not have is that of a smaller one.
// SPDX-License-Identifier: MIT
#include <drey/base/assert.hpp>

#include "trainer/numeric/kernels/kernels.hpp"

#if defined(__x86_64__)
#include "trainer/numeric/kernels/amx.hpp"
#endif

namespace drey::trainer {
namespace {
#if defined(__x86_64__)
/// Products of floats are AVX-512's in every larger set.
Kernels with_floats(Isa isa, const Kernels& brain) {
  Kernels kernels = brain;
  kernels.isa = isa;
  kernels.multiply = avx512_kernels.multiply;
  kernels.square_sum = avx512_kernels.square_sum;
  kernels.adam = avx512_kernels.adam;
  return kernels;
}

/// One row would leave 15 of a tile's 16 idle.
Kernels with_tiles() {
  Kernels kernels = with_floats(Isa::kAmx, avx512_bf16_kernels);
  kernels.multiply_pairs = [](const Product<BrainPair, float>& in) {
    in.rows == 1 ? avx512_bf16_kernels.multiply_pairs(in) : multiply_pairs_in_tiles(in);
  };
  kernels.multiply_pairs_to_brain = [](const Product<BrainPair, Brain>& in) {
    in.rows == 1 ? avx512_bf16_kernels.multiply_pairs_to_brain(in) : multiply_pairs_in_tiles(in);
  };
  return kernels;
}

const Kernels& of_x86(Isa isa) {
  static const Kernels with_brain = with_floats(Isa::kAvx512Bf16, avx512_bf16_kernels);
  static const Kernels with_amx = with_tiles();
  constexpr const Kernels* kPlain[] = {&portable_kernels, &avx2_kernels, &avx512_kernels};
  if (isa == Isa::kAmx) return with_amx;
  return isa == Isa::kAvx512Bf16 ? with_brain : *kPlain[static_cast<int>(isa)];
}
#else
const Kernels& of_x86(Isa) {
  return portable_kernels;
}
#endif
}  // namespace

const Kernels& kernels_of(Isa isa) {
  DREY_ASSERT(is_supported(isa));
  return of_x86(isa);
}
}  // namespace drey::trainer
