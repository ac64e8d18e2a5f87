// avx512_bf16.cpp: products of bfloat16 pairs, summed in float (vdpbf16ps): twice as many
// multiplications an instruction as avx512.cpp, half the bytes. Weights stay floats; what is rounded
// are copies. Compiled with -mavx512bf16 and its kin alone.
// Read next: tile.hpp, avx512.cpp.
// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include <array>

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

/// Where one of each of two vectors of halves come from, in turn, from `first` on.
constexpr std::array<std::uint16_t, 32> places_of_pairs(std::size_t first) {
  std::array<std::uint16_t, 32> places{};
  for (std::size_t pair = 0; pair < 16; ++pair) {
    places[2 * pair] = static_cast<std::uint16_t>(first + pair);
    places[2 * pair + 1] = static_cast<std::uint16_t>(32 + first + pair);
  }
  return places;
}

void interleave_rows(const Brain* first, const Brain* second, BrainPair* to, std::size_t size) {
  alignas(64) static constexpr auto kLower = places_of_pairs(0);
  alignas(64) static constexpr auto kUpper = places_of_pairs(16);
  const __m512i lower = _mm512_load_si512(kLower.data());
  const __m512i upper = _mm512_load_si512(kUpper.data());
  std::size_t index = 0;
  for (; index + 32 <= size; index += 32) {
    const __m512i low = _mm512_loadu_si512(first + index);
    const __m512i high = _mm512_loadu_si512(second + index);
    _mm512_storeu_si512(to + index, _mm512_permutex2var_epi16(low, lower, high));
    _mm512_storeu_si512(to + index + 16, _mm512_permutex2var_epi16(low, upper, high));
  }
  for (; index < size; index += 16) {
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

/// Of two vectors, 16 values in an order of quarters and of values within them.
constexpr std::array<std::uint32_t, 16> places_of_inputs(std::size_t first_pair) {
  std::array<std::uint32_t, 16> places{};
  for (std::size_t place = 0; place < 16; ++place) {
    const std::size_t pair = first_pair + place / 4;
    const std::size_t input = place % 4;
    places[place] = static_cast<std::uint32_t>(input / 2 * 16 + input % 2 * 8 + pair);
  }
  return places;
}

/// Vector v of `from` holds the 8 pairs of input 2 v, then those of 2 v + 1; vector p of `to` gets
/// pair p of all 16 inputs.
void transpose_block(const __m512i (&from)[8], __m512i (&to)[8]) {
  alignas(64) static constexpr auto kFirst = places_of_inputs(0);
  alignas(64) static constexpr auto kSecond = places_of_inputs(4);
  const __m512i places[2] = {_mm512_load_si512(kFirst.data()), _mm512_load_si512(kSecond.data())};
  for (std::size_t half = 0; half < 2; ++half) {  // pairs 0 to 3, 4 to 7
    __m512i fours[4];                             // quarter q: pair q of four inputs
    for (std::size_t v = 0; v < 4; ++v) {
      fours[v] = _mm512_permutex2var_epi32(from[2 * v], places[half], from[2 * v + 1]);
    }
    const __m512i even[2] = {_mm512_shuffle_i32x4(fours[0], fours[1], 0x88),  // pairs 0, 2
                             _mm512_shuffle_i32x4(fours[2], fours[3], 0x88)};
    const __m512i odd[2] = {_mm512_shuffle_i32x4(fours[0], fours[1], 0xdd),  // pairs 1, 3
                            _mm512_shuffle_i32x4(fours[2], fours[3], 0xdd)};
    to[4 * half] = _mm512_shuffle_i32x4(even[0], even[1], 0x88);
    to[4 * half + 1] = _mm512_shuffle_i32x4(odd[0], odd[1], 0x88);
    to[4 * half + 2] = _mm512_shuffle_i32x4(even[0], even[1], 0xdd);
    to[4 * half + 3] = _mm512_shuffle_i32x4(odd[0], odd[1], 0xdd);
  }
}

void transpose_rows_of_floats(const float* rows, std::size_t row_count, BrainPair* to,
                              std::size_t stride) {
  for (std::size_t row = 0; row < row_count; row += 16) {
    __m512i inputs[8];
    for (std::size_t v = 0; v < 8; ++v) {
      const auto values_of = [&](std::size_t input) {
        return input < row_count ? _mm512_loadu_ps(rows + input * kPanelLanes)
                                 : _mm512_setzero_ps();
      };
      inputs[v] =
          as<__m512i>(_mm512_cvtne2ps_pbh(values_of(row + 2 * v + 1), values_of(row + 2 * v)));
    }
    __m512i pairs[8];
    transpose_block(inputs, pairs);
    for (std::size_t pair = 0; pair < 8; ++pair) {
      _mm512_storeu_si512(to + pair * stride + row, pairs[pair]);
    }
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
                                            pair_rows_of_floats,
                                            transpose_rows_of_floats};
}  // namespace drey::trainer
