// avx512.cpp: the kernels in vectors of 16 floats. Compiled with -mavx512f and its kin alone.
// 12 x 2 vectors of sums, two of weights and one factor fit into the 32 registers; 24 independent
// sums hide the latency of a fused multiply-add, and 2 panels of weights fit into the first-level
// cache.
// Read next: tile.hpp, avx512_bf16.cpp.
// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "trainer/numeric/kernels/adam_loops.hpp"
#include "trainer/numeric/kernels/kernels.hpp"
#include "trainer/numeric/kernels/tile.hpp"

namespace drey::trainer {
namespace {
struct Floats {
  using Left = float;
  using Vector = __m512;
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kTileRows = 12;
  static constexpr std::size_t kHalfRows = 8;  // what is left is a tile of these, then of 4
  static constexpr std::size_t kTilePanels = 2;

  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector load(const float* from) { return _mm512_load_ps(from); }
  static Vector load_start(const float* from) { return _mm512_load_ps(from); }
  static Vector broadcast(const float* from) { return _mm512_set1_ps(*from); }
  static Vector multiply_add(Vector sum, Vector factor, Vector values) {
    return _mm512_fmadd_ps(factor, values, sum);
  }
  static Vector rectify(Vector value) { return _mm512_max_ps(value, _mm512_setzero_ps()); }
  static Vector keep_where_positive(Vector value, const float* mask) {
    const __mmask16 keep =
        _mm512_cmp_ps_mask(_mm512_load_ps(mask), _mm512_setzero_ps(), _CMP_GT_OQ);
    return _mm512_maskz_mov_ps(keep, value);
  }
  static void store(float* to, Vector value) { _mm512_store_ps(to, value); }
};
}  // namespace

extern const Kernels avx512_kernels = {Isa::kAvx512,
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
