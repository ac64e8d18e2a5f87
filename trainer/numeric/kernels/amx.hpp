// amx.hpp: the products that kernels_of() takes for Isa::kAmx; all else is AVX-512's.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/kernels/product_shape.hpp"

namespace drey::trainer {
/// Requires: is_supported(Isa::kAmx).
void multiply_pairs_in_tiles(const Product<BrainPair, float>& in);
void multiply_pairs_in_tiles(const Product<BrainPair, Brain>& in);
}  // namespace drey::trainer
