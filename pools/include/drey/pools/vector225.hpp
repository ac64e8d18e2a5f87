// vector225.hpp: the shape of one observation: 225 floats on whole cache lines, or packed.
//
// 225 floats are 900 bytes. Size classes with four steps per doubling round them up to 1024; the
// padded form has a stride of 960 bytes = 15 cache lines, which loses 6.3 % and starts every vector
// on a line. The 15 lanes behind the values are zero, always: nothing here gives write access to
// them, so kernels may read whole lines, and sums and dot products over kLaneCount lanes equal those
// over kValueCount values. The packed form is the values alone, for storage.
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
template <typename NumberType, std::size_t kCount>
class alignas(kCacheLineBytes) PaddedVector {
 public:
  using Number = NumberType;
  static_assert(std::is_arithmetic_v<Number> && kCount >= 1);

  static constexpr std::size_t kValueCount = kCount;
  static constexpr std::size_t kLaneCount =
      align_up(kCount * sizeof(Number), kCacheLineBytes) / sizeof(Number);

  /// All lanes zero.
  PaddedVector() noexcept : lanes_{} {}

  /// A copy of exactly kCount numbers: a span of any other length does not compile.
  explicit PaddedVector(std::span<const Number, kCount> source) noexcept : lanes_{} {
    std::copy(source.begin(), source.end(), lanes_);
  }

  /// Shape: (kCount,).
  [[nodiscard]] std::span<Number, kCount> values() noexcept {
    return std::span<Number, kCount>(lanes_, kCount);
  }
  [[nodiscard]] std::span<const Number, kCount> values() const noexcept {
    return std::span<const Number, kCount>(lanes_, kCount);
  }

  /// Values, then zeros, on whole cache lines. Shape: (kLaneCount,).
  [[nodiscard]] std::span<const Number, kLaneCount> lanes() const noexcept { return lanes_; }

 private:
  Number lanes_[kLaneCount];
};

/// `kCount` numbers and nothing else; bytes behind those of small numbers fill up four.
template <typename NumberType, std::size_t kCount>
class alignas(std::max(alignof(NumberType), std::size_t{4})) PackedVector {
 public:
  using Number = NumberType;
  static_assert(std::is_arithmetic_v<Number> && kCount >= 1);

  static constexpr std::size_t kValueCount = kCount;

  PackedVector() noexcept : values_{} {}
  explicit PackedVector(std::span<const Number, kCount> source) noexcept {
    std::copy(source.begin(), source.end(), values_);
  }

  /// Shape: (kCount,).
  [[nodiscard]] std::span<Number, kCount> values() noexcept { return values_; }
  [[nodiscard]] std::span<const Number, kCount> values() const noexcept { return values_; }

 private:
  Number values_[kCount];
};

/// One observation. Shape: (225,).
using Vector225 = PaddedVector<float, 225>;
using PackedVector225 = PackedVector<float, 225>;

static_assert(sizeof(Vector225) == 960 && alignof(Vector225) == 64);
static_assert(Vector225::kLaneCount == 240);
static_assert(sizeof(PackedVector225) == 900);
}  // namespace drey
