// product.cpp: see product.hpp.
// A tile of `out` is held in registers while the depth is walked once: per step some vectors of
// `left` are loaded, and each of kTileColumns elements of `right` is multiplied into all of them.
// 4 x 6 vectors fill the 32 registers of AVX-512 and NEON, 2 x 6 the 16 of AVX and SSE; both hide
// the latency of a fused multiply-add (4 cycles, two at a time) behind at least 8 others.
// SPDX-License-Identifier: MIT
#include "trainer/numeric/product.hpp"

#include <cstring>

#include <drey/base/assert.hpp>

namespace drey::trainer {
namespace {
#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
constexpr std::size_t kTileVectors = 4;
#elif defined(__AVX__)
constexpr std::size_t kVectorBytes = 32;
constexpr std::size_t kTileVectors = 2;
#elif defined(__aarch64__)
constexpr std::size_t kVectorBytes = 16;
constexpr std::size_t kTileVectors = 4;
#else
constexpr std::size_t kVectorBytes = 16;
constexpr std::size_t kTileVectors = 2;
#endif
constexpr std::size_t kTileColumns = 6;

template <class Scalar>
struct VectorOf {
  using Type [[gnu::vector_size(kVectorBytes)]] = Scalar;
};
template <class Scalar>
using Vector = typename VectorOf<Scalar>::Type;

template <class Scalar>
constexpr std::size_t kVectorLanes = kVectorBytes / sizeof(Scalar);

// One vector at a time: copies of whole arrays would pin them to memory.
template <class Scalar>
[[gnu::always_inline]] inline Vector<Scalar> load(const Scalar* from) {
  Vector<Scalar> vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

template <class Scalar>
[[gnu::always_inline]] inline void store(Scalar* to, const Vector<Scalar>& vector) {
  std::memcpy(to, &vector, sizeof(vector));
}

/// The operands, seen from one tile: `left` and `out` begin at its first row.
template <class Scalar>
struct Operands {
  std::size_t depth;
  const Scalar* left;
  std::size_t left_stride;
  Strided<Scalar> right;
  Scalar* out;
  std::size_t out_stride;
};

/// kVectors vectors of rows times kColumns columns, from `column` on.
template <class Scalar, std::size_t kVectors, std::size_t kColumns>
[[gnu::always_inline]] inline void multiply_tile(const Operands<Scalar>& in, std::size_t column) {
  Vector<Scalar> sums[kColumns][kVectors] = {};
  const Scalar* const right = in.right.values + column * in.right.column_stride;
  for (std::size_t d = 0; d < in.depth; ++d) {
    Vector<Scalar> lefts[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      lefts[v] = load<Scalar>(in.left + d * in.left_stride + v * kVectorLanes<Scalar>);
    }
    for (std::size_t c = 0; c < kColumns; ++c) {
      const Scalar factor = right[d * in.right.row_stride + c * in.right.column_stride];
      for (std::size_t v = 0; v < kVectors; ++v) sums[c][v] += lefts[v] * factor;
    }
  }
  for (std::size_t c = 0; c < kColumns; ++c) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      store<Scalar>(in.out + (column + c) * in.out_stride + v * kVectorLanes<Scalar>, sums[c][v]);
    }
  }
}

/// kVectors vectors of rows, all columns.
template <class Scalar, std::size_t kVectors>
void multiply_band(const Operands<Scalar>& in, std::size_t columns) {
  std::size_t column = 0;
  for (; column + kTileColumns <= columns; column += kTileColumns) {
    multiply_tile<Scalar, kVectors, kTileColumns>(in, column);
  }
  for (; column + 2 <= columns; column += 2) multiply_tile<Scalar, kVectors, 2>(in, column);
  if (column < columns) multiply_tile<Scalar, kVectors, 1>(in, column);
}
}  // namespace

template <class Scalar>
void multiply(std::size_t rows, std::size_t columns, std::size_t depth, const Scalar* left,
              std::size_t left_stride, Strided<Scalar> right, Scalar* out, std::size_t out_stride) {
  constexpr std::size_t kLanes = kVectorLanes<Scalar>;
  static_assert(16 % kLanes == 0, "rows are a multiple of 16, so of a vector");
  DREY_ASSERT(rows % 16 == 0);
  std::size_t row = 0;
  for (; row + kTileVectors * kLanes <= rows; row += kTileVectors * kLanes) {
    multiply_band<Scalar, kTileVectors>(
        {depth, left + row, left_stride, right, out + row, out_stride}, columns);
  }
  for (; row < rows; row += kLanes) {
    multiply_band<Scalar, 1>({depth, left + row, left_stride, right, out + row, out_stride},
                             columns);
  }
}

template void multiply(std::size_t, std::size_t, std::size_t, const float*, std::size_t,
                       Strided<float>, float*, std::size_t);
template void multiply(std::size_t, std::size_t, std::size_t, const double*, std::size_t,
                       Strided<double>, double*, std::size_t);
}  // namespace drey::trainer
