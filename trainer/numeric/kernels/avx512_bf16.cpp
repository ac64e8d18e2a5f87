// avx512_bf16.cpp: products of bfloat16 pairs, summed in float (vdpbf16ps): twice as many
// multiplications an instruction as avx512.cpp, half the bytes. Weights stay floats; what is rounded
// are copies. Compiled with -mavx512bf16 and its kin alone.
// Read next: tile.hpp, avx512.cpp.
// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "trainer/numeric/kernels/kernels.hpp"
#include "trainer/numeric/kernels/tile.hpp"

namespace drey::trainer {
namespace {
/// The same 512 bits under the type that the intrinsics want.
template <class To, class From>
[[gnu::always_inline]] inline To as(From from) {
  return __builtin_bit_cast(To, from);
}

struct Pairs {
  using Left = BrainPair;
  using Vector = __m512;
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kTileRows = 12;
  static constexpr std::size_t kHalfRows = 8;  // what is left is a tile of these, then of 4
  static constexpr std::size_t kTilePanels = 2;

  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector load(const BrainPair* from) { return as<__m512>(_mm512_load_si512(from)); }
  static Vector load_start(const float* from) { return _mm512_load_ps(from); }
  static Vector broadcast(const BrainPair* from) {
    return as<__m512>(_mm512_set1_epi32(static_cast<int>(*from)));
  }
  static Vector multiply_add(Vector sum, Vector factor, Vector values) {
    return _mm512_dpbf16_ps(sum, as<__m512bh>(factor), as<__m512bh>(values));
  }
  static Vector rectify(Vector value) { return _mm512_max_ps(value, _mm512_setzero_ps()); }
  static Vector keep_where_positive(Vector value, const float* mask) {
    const __mmask16 keep =
        _mm512_cmp_ps_mask(_mm512_load_ps(mask), _mm512_setzero_ps(), _CMP_GT_OQ);
    return _mm512_maskz_mov_ps(keep, value);
  }
  static Vector keep_where_positive(Vector value, const Brain* mask) {
    const __m256i halves = _mm256_load_si256(reinterpret_cast<const __m256i*>(mask));
    return _mm512_maskz_mov_ps(_mm256_cmpgt_epi16_mask(halves, _mm256_setzero_si256()), value);
  }
  static void store(float* to, Vector value) { _mm512_store_ps(to, value); }
  static void store(Brain* to, Vector value) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), as<__m256i>(_mm512_cvtneps_pbh(value)));
  }
};

void round_floats(const float* from, Brain* to, std::size_t size) {
  std::size_t index = 0;
  for (; index + 32 <= size; index += 32) {
    const __m512bh both =
        _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + index + 16), _mm512_loadu_ps(from + index));
    _mm512_storeu_si512(to + index, as<__m512i>(both));
  }
  if (index == size) return;
  const std::uint32_t rest = (1U << (size - index)) - 1U;
  const auto low = static_cast<__mmask16>(rest);
  const auto high = static_cast<__mmask16>(rest >> 16);
  const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high, from + index + 16),
                                            _mm512_maskz_loadu_ps(low, from + index));
  _mm512_storeu_si512(to + index, as<__m512i>(both));
}

/// Halves 0..15 and 16..31, one of each in turn.
__m512i one_of_each(__m512i halves) {
  const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(halves));
  const __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(halves, 1));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

void interleave_rows(const Brain* first, const Brain* second, BrainPair* to, std::size_t size) {
  for (std::size_t index = 0; index < size; index += 16) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first + index));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(second + index));
    const __m512i pairs = _mm512_or_si512(_mm512_cvtepu16_epi32(low),
                                          _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
    _mm512_storeu_si512(to + index, pairs);
  }
}

void pair_rows_of_floats(const float* rows, std::size_t row_count, BrainPair* to) {
  for (std::size_t row = 0; row < row_count; row += 2) {
    const __m512 first = _mm512_loadu_ps(rows + row * kPanelLanes);
    const __m512 second =
        row + 1 < row_count ? _mm512_loadu_ps(rows + (row + 1) * kPanelLanes) : _mm512_setzero_ps();
    const __m512bh both = _mm512_cvtne2ps_pbh(second, first);
    _mm512_storeu_si512(to + row / 2 * kPanelLanes, one_of_each(as<__m512i>(both)));
  }
}
}  // namespace

extern const Kernels avx512_bf16_kernels = {Isa::kAvx512Bf16,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            tile::multiply<Pairs, float>,
                                            tile::multiply<Pairs, Brain>,
                                            round_floats,
                                            interleave_rows,
                                            pair_rows_of_floats};
}  // namespace drey::trainer
