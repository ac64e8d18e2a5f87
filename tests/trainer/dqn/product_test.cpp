// product_test.cpp: the product against its definition, in every shape of tile, plain and
// transposed.
// SPDX-License-Identifier: MIT
#include "trainer/numeric/product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/random.hpp"

namespace drey::trainer {
namespace {
template <class Scalar>
AlignedArray<Scalar> random_values(std::size_t size, std::uint64_t seed) {
  Random random(seed, RandomPurpose::kTest);
  AlignedArray<Scalar> values(size);
  for (Scalar& value : values.span()) value = static_cast<Scalar>(random.between(-1, 1));
  return values;
}

/// Compares all elements, and looks that nothing outside of them was written.
template <class Scalar>
void expect_product(std::size_t rows, std::size_t columns, std::size_t depth, bool is_transposed) {
  const std::size_t left_stride = rows + 16;
  const std::size_t out_stride = rows + 32;
  const std::size_t right_stride = std::max(columns, depth) + 3;
  const AlignedArray<Scalar> left = random_values<Scalar>(left_stride * depth, 1);
  const AlignedArray<Scalar> right = random_values<Scalar>(right_stride * right_stride, 2);
  AlignedArray<Scalar> out(out_stride * columns);
  for (Scalar& value : out.span()) value = Scalar{99};
  const Strided<Scalar> view = is_transposed ? Strided<Scalar>{right.data(), right_stride, 1}
                                             : Strided<Scalar>{right.data(), 1, right_stride};
  multiply<Scalar>(rows, columns, depth, left.data(), left_stride, view, out.data(), out_stride);
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < out_stride; ++row) {
      double sum = 0;
      for (std::size_t d = 0; d < depth; ++d) {
        sum += static_cast<double>(left[d * left_stride + row % left_stride]) *
               static_cast<double>(view.values[d * view.row_stride + column * view.column_stride]);
      }
      const double expected = row < rows ? sum : 99.0;
      const double tolerance = 1e-6 * (1 + std::sqrt(static_cast<double>(depth)));
      ASSERT_NEAR(static_cast<double>(out[column * out_stride + row]), expected, tolerance)
          << rows << " x " << columns << " x " << depth << ", row " << row << ", column " << column;
    }
  }
}

TEST(Product, IsTheSumOverTheDepthForEveryTail) {
  for (const std::size_t rows : {16U, 32U, 48U, 64U, 80U, 128U, 144U}) {
    for (std::size_t columns = 1; columns <= 14; ++columns) {
      for (const std::size_t depth : {1U, 5U, 64U}) {
        for (const bool is_transposed : {false, true}) {
          expect_product<float>(rows, columns, depth, is_transposed);
          expect_product<double>(rows, columns, depth, is_transposed);
        }
      }
    }
  }
}

TEST(Product, DoesNotDependOnWhichTileAColumnFallsInto) {
  constexpr std::size_t kRows = 128;
  constexpr std::size_t kColumns = 13;
  constexpr std::size_t kDepth = 225;
  constexpr std::size_t kStride = 240;
  const AlignedArray<float> left = random_values<float>(kRows * kDepth, 3);
  const AlignedArray<float> right = random_values<float>(kStride * kColumns, 4);
  AlignedArray<float> together(kRows * kColumns);
  AlignedArray<float> alone(kRows);
  multiply<float>(kRows, kColumns, kDepth, left.data(), kRows, {right.data(), 1, kStride},
                  together.data(), kRows);
  for (std::size_t column = 0; column < kColumns; ++column) {
    multiply<float>(kRows, 1, kDepth, left.data(), kRows,
                    {right.data() + column * kStride, 1, kStride}, alone.data(), kRows);
    for (std::size_t row = 0; row < kRows; ++row) {
      ASSERT_EQ(alone[row], together[column * kRows + row]);
    }
  }
}
}  // namespace
}  // namespace drey::trainer
