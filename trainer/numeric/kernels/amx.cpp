// amx.cpp: products of bfloat16 pairs in AMX's tiles (tdpbf16ps). Compiled with -mamx-tile,
// -mamx-bf16 and those of avx512_bf16.cpp alone; run only where isa.cpp found the tiles and was given
// leave to use them. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1,
// chapter 18, and volume 2, LDTILECFG, TDPBF16PS.
// Read next: tile_unit.hpp.
// SPDX-License-Identifier: MIT
#include <immintrin.h>

#include "trainer/numeric/kernels/amx.hpp"
#include "trainer/numeric/kernels/tile_unit.hpp"

namespace drey::trainer {
namespace {
constexpr int kTileCount = 8;

struct AmxTiles {
  /// LDTILECFG's 64 bytes.
  struct alignas(64) Configuration {
    std::uint8_t palette;
    std::uint8_t start_row;
    std::uint8_t reserved[14];
    std::uint16_t row_bytes[16];
    std::uint8_t rows[16];
  };
  static_assert(sizeof(Configuration) == 64);

  static void configure(std::size_t rows, std::size_t rest) {
    Configuration to = {};
    to.palette = 1;
    const std::size_t left_rest = rest == 0 ? 1 : rest;  // no tile may be empty
    for (int tile = 0; tile < kTileCount; ++tile) {
      to.rows[tile] = static_cast<std::uint8_t>(rows);
      to.row_bytes[tile] = 64;
    }
    to.row_bytes[tiles::kLeftRest] = static_cast<std::uint16_t>(left_rest * sizeof(BrainPair));
    to.rows[tiles::kRight0] = tiles::kTilePairs;
    to.rows[tiles::kRight1] = tiles::kTilePairs;
    to.rows[tiles::kRightRest0] = static_cast<std::uint8_t>(left_rest);
    to.rows[tiles::kRightRest1] = static_cast<std::uint8_t>(left_rest);
    _tile_loadconfig(&to);
  }
  static void release() { _tile_release(); }

  // In GCC the intrinsics are macros that want a literal for a tile's number; so these are written
  // out, with the memory that they read or write unnamed, hence the clobber.
  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  static void load(const void* from, std::size_t stride_bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(from), "r"(stride_bytes), "i"(kTile)
                 : "memory");
  }
  template <int kTile>
  static void store(void* to, std::size_t stride_bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
                 :
                 : "r"(to), "r"(stride_bytes), "i"(kTile)
                 : "memory");
  }
  template <int kSum, int kLeft, int kRight>
  static void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
  }

  static __m512 rectified(const float* sums, bool is_rectified) {
    const __m512 value = _mm512_load_ps(sums);
    return is_rectified ? _mm512_max_ps(value, _mm512_setzero_ps()) : value;
  }
  static void finish(const float* sums, bool is_rectified, const float* mask, float* out) {
    __m512 value = rectified(sums, is_rectified);
    if (mask != nullptr) {
      value = _mm512_maskz_mov_ps(
          _mm512_cmp_ps_mask(_mm512_load_ps(mask), _mm512_setzero_ps(), _CMP_GT_OQ), value);
    }
    _mm512_store_ps(out, value);
  }
  static void finish(const float* sums, bool is_rectified, const Brain* mask, Brain* out) {
    __m512 value = rectified(sums, is_rectified);
    if (mask != nullptr) {
      const __m256i halves = _mm256_load_si256(reinterpret_cast<const __m256i*>(mask));
      value = _mm512_maskz_mov_ps(_mm256_cmpgt_epi16_mask(halves, _mm256_setzero_si256()), value);
    }
    _mm256_store_si256(reinterpret_cast<__m256i*>(out),
                       __builtin_bit_cast(__m256i, _mm512_cvtneps_pbh(value)));
  }
};
}  // namespace

void multiply_pairs_in_tiles(const Product<BrainPair, float>& in) {
  tiles::multiply<AmxTiles, float>(in);
}

void multiply_pairs_in_tiles(const Product<BrainPair, Brain>& in) {
  tiles::multiply<AmxTiles, Brain>(in);
}
}  // namespace drey::trainer
