// vector225.hpp: the shape of one observation: 225 floats on whole cache lines.
//
// 225 floats are 900 bytes. Size classes with four steps per doubling round them up to 1024; here
// the stride is 960 bytes = 15 cache lines, which loses 6.3 % and starts every vector on a line.
// The 15 lanes behind the values are zero, so that kernels may run over whole lines: sums and dot
// products over kLaneCount lanes equal those over kValueCount values.
// Read next: vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

namespace drey {
/// `kCount` numbers, then zero lanes up to a whole number of cache lines.
template <typename Number, std::size_t kCount>
struct alignas(kCacheLineBytes) PaddedVector {
  static_assert(std::is_arithmetic_v<Number> && kCount >= 1);

  static constexpr std::size_t kValueCount = kCount;
  static constexpr std::size_t kLaneCount =
      align_up(kCount * sizeof(Number), kCacheLineBytes) / sizeof(Number);

  /// All lanes zero.
  PaddedVector() noexcept : lanes{} {}

  /// A copy of exactly kCount numbers: a span of any other length does not compile.
  explicit PaddedVector(std::span<const Number, kCount> source) noexcept : lanes{} {
    std::copy(source.begin(), source.end(), lanes);
  }

  /// Shape: (kCount,).
  [[nodiscard]] std::span<Number, kCount> values() noexcept {
    return std::span<Number, kCount>(lanes, kCount);
  }
  [[nodiscard]] std::span<const Number, kCount> values() const noexcept {
    return std::span<const Number, kCount>(lanes, kCount);
  }

  /// Sets the lanes behind the values to zero.
  void clear_tail() noexcept { std::fill(lanes + kCount, lanes + kLaneCount, Number{0}); }

  Number lanes[kLaneCount];  ///< values, then zeros
};

/// One observation. Shape: (225,).
using Vector225 = PaddedVector<float, 225>;

static_assert(sizeof(Vector225) == 960 && alignof(Vector225) == 64);
static_assert(Vector225::kLaneCount == 240);
}  // namespace drey
