// gather_x86.cpp: rows copied with AVX2 and AVX-512, those to come prefetched meanwhile.
//
// A row is copied vector by vector; with each, one line of the row kRowsAhead later is asked for, so
// that the requests are spread over the copy instead of filling the line buffers at once. The last
// vector is masked: nothing is read behind a row's values, nothing written behind a batch's stride.
// Read next: gather_rows.hpp.
// SPDX-License-Identifier: MIT
#include "gather_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace drey {
#if defined(__x86_64__)
namespace {
constexpr std::size_t kRowsAhead = 4;
constexpr std::size_t kLineFloats = 16;

/// Address of the row that is to be prefetched while row `i` is copied; of row i at the end.
[[nodiscard, gnu::always_inline]] inline const float* row_ahead(std::span<const std::uint32_t> rows,
                                                                const MatrixRows& matrix,
                                                                std::size_t i) noexcept {
  const std::size_t ahead = i + kRowsAhead < rows.size() ? i + kRowsAhead : i;
  return matrix.data + rows[ahead] * matrix.stride;
}

/// Asks for the rows that no copy runs ahead of.
[[gnu::always_inline]] inline void prefetch_first(std::span<const std::uint32_t> rows,
                                                  const MatrixRows& matrix) noexcept {
  for (std::size_t i = 0; i < std::min(kRowsAhead, rows.size()); ++i) {
    const float* const row = matrix.data + rows[i] * matrix.stride;
    for (std::size_t at = 0; at < matrix.value_count; at += kLineFloats)
      _mm_prefetch(reinterpret_cast<const char*>(row + at), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(row + matrix.value_count - 1), _MM_HINT_T0);
  }
}

template <StoreForm kStore>
[[gnu::target("avx512f"), gnu::always_inline]] inline void store_16(float* target,
                                                                    __m512 value) noexcept {
  if constexpr (kStore == StoreForm::kStreamed) {
    _mm512_stream_ps(target, value);
  } else {
    _mm512_storeu_ps(target, value);
  }
}

template <StoreForm kStore>
[[gnu::target("avx512f")]] void copy_avx512(std::span<const std::uint32_t> rows,
                                            const MatrixRows& matrix,
                                            const BatchRows& batch) noexcept {
  const std::size_t whole = matrix.value_count & ~(kLineFloats - 1);
  const auto tail = static_cast<__mmask16>((1U << (matrix.value_count - whole)) - 1);
  // Of the vector with the tail, what the batch has room for; then whole vectors of zeros.
  const std::size_t lanes_left = std::min(batch.stride - whole, kLineFloats);
  const auto tail_lanes = static_cast<__mmask16>((1U << lanes_left) - 1);
  prefetch_first(rows, matrix);
  float* target = batch.data;
  for (std::size_t i = 0; i < rows.size(); ++i, target += batch.stride) {
    const float* const source = matrix.data + rows[i] * matrix.stride;
    const float* const ahead = row_ahead(rows, matrix, i);
    for (std::size_t at = 0; at < whole; at += kLineFloats) {
      _mm_prefetch(reinterpret_cast<const char*>(ahead + at), _MM_HINT_T0);
      store_16<kStore>(target + at, _mm512_loadu_ps(source + at));
    }
    _mm_prefetch(reinterpret_cast<const char*>(ahead + matrix.value_count - 1), _MM_HINT_T0);
    if (lanes_left == 0) continue;
    const __m512 last = _mm512_maskz_loadu_ps(tail, source + whole);
    if (lanes_left == kLineFloats) {
      store_16<kStore>(target + whole, last);
    } else {
      _mm512_mask_storeu_ps(target + whole, tail_lanes, last);
    }
    for (std::size_t at = whole + kLineFloats; at < batch.stride; at += kLineFloats) {
      const std::size_t lanes = std::min(batch.stride - at, kLineFloats);
      _mm512_mask_storeu_ps(target + at, static_cast<__mmask16>((1U << lanes) - 1),
                            _mm512_setzero_ps());
    }
  }
  if constexpr (kStore == StoreForm::kStreamed) _mm_sfence();
}

template <StoreForm kStore>
[[gnu::target("avx2"), gnu::always_inline]] inline void store_8(float* target,
                                                                __m256 value) noexcept {
  if constexpr (kStore == StoreForm::kStreamed) {
    _mm256_stream_ps(target, value);
  } else {
    _mm256_storeu_ps(target, value);
  }
}

/// A mask of the first `count` of eight lanes.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i first_lanes(std::size_t count) noexcept {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(std::min<std::size_t>(count, 8))),
                            lane);
}

template <StoreForm kStore>
[[gnu::target("avx2")]] void copy_avx2(std::span<const std::uint32_t> rows,
                                       const MatrixRows& matrix, const BatchRows& batch) noexcept {
  constexpr std::size_t kLanes = 8;
  const std::size_t whole = matrix.value_count & ~(kLineFloats - 1);
  prefetch_first(rows, matrix);
  float* target = batch.data;
  for (std::size_t i = 0; i < rows.size(); ++i, target += batch.stride) {
    const float* const source = matrix.data + rows[i] * matrix.stride;
    const float* const ahead = row_ahead(rows, matrix, i);
    for (std::size_t at = 0; at < whole; at += kLineFloats) {
      _mm_prefetch(reinterpret_cast<const char*>(ahead + at), _MM_HINT_T0);
      const __m256 low = _mm256_loadu_ps(source + at);
      const __m256 high = _mm256_loadu_ps(source + at + kLanes);
      store_8<kStore>(target + at, low);
      store_8<kStore>(target + at + kLanes, high);
    }
    _mm_prefetch(reinterpret_cast<const char*>(ahead + matrix.value_count - 1), _MM_HINT_T0);
    // Up to two vectors of values and zeros, then zeros to the stride.
    for (std::size_t at = whole; at < batch.stride; at += kLanes) {
      const std::size_t values = at < matrix.value_count ? matrix.value_count - at : 0;
      const __m256 last = _mm256_maskload_ps(source + at, first_lanes(values));
      if (batch.stride - at >= kLanes) {
        store_8<kStore>(target + at, last);
      } else {
        _mm256_maskstore_ps(target + at, first_lanes(batch.stride - at), last);
      }
    }
  }
  if constexpr (kStore == StoreForm::kStreamed) _mm_sfence();
}
}  // namespace

bool processor_has(CopyForm copy) noexcept {
  return copy == CopyForm::kAvx512 ? __builtin_cpu_supports("avx512f") != 0
                                   : __builtin_cpu_supports("avx2") != 0;
}

CopyRows copy_rows_of(CopyForm copy, StoreForm store) noexcept {
  if (copy == CopyForm::kAvx512)
    return store == StoreForm::kStreamed ? copy_avx512<StoreForm::kStreamed>
                                         : copy_avx512<StoreForm::kCached>;
  if (copy == CopyForm::kAvx2)
    return store == StoreForm::kStreamed ? copy_avx2<StoreForm::kStreamed>
                                         : copy_avx2<StoreForm::kCached>;
  return nullptr;
}
#else
bool processor_has(CopyForm /*copy*/) noexcept {
  return false;
}

CopyRows copy_rows_of(CopyForm /*copy*/, StoreForm /*store*/) noexcept {
  return nullptr;
}
#endif
}  // namespace drey
