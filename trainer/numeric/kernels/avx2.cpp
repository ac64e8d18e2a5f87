// avx2.cpp: the kernels in vectors of 8 floats. Compiled with -mavx2 -mfma alone.
// 6 x 2 vectors of sums, two of weights and one factor fit into the 16 registers.
// Read next: tile.hpp.
// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "trainer/numeric/kernels/adam_loops.hpp"
#include "trainer/numeric/kernels/kernels.hpp"
#include "trainer/numeric/kernels/tile.hpp"

namespace drey::trainer {
namespace {
struct Floats {
  using Left = float;
  using Vector = __m256;
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kTileRows = 6;
  static constexpr std::size_t kHalfRows = 4;  // what is left is a tile of these, then of 4
  static constexpr std::size_t kTilePanels = 1;

  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector load(const float* from) { return _mm256_load_ps(from); }
  static Vector load_start(const float* from) { return _mm256_load_ps(from); }
  static Vector broadcast(const float* from) { return _mm256_broadcast_ss(from); }
  static Vector multiply_add(Vector sum, Vector factor, Vector values) {
    return _mm256_fmadd_ps(factor, values, sum);
  }
  static Vector rectify(Vector value) { return _mm256_max_ps(value, _mm256_setzero_ps()); }
  static Vector keep_where_positive(Vector value, const float* mask) {
    return _mm256_and_ps(value,
                         _mm256_cmp_ps(_mm256_load_ps(mask), _mm256_setzero_ps(), _CMP_GT_OQ));
  }
  static void store(float* to, Vector value) { _mm256_store_ps(to, value); }
};
}  // namespace

extern const Kernels avx2_kernels = {Isa::kAvx2,
                                     tile::multiply<Floats, float>,
                                     loops::square_sum<Floats>,
                                     loops::adam<Floats>,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr};
}  // namespace drey::trainer
