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
  const AlignedArray<float> left = random_values<float>(128 * 225, 3);
  const AlignedArray<float> right = random_values<float>(240 * 13, 4);
  AlignedArray<float> together(128 * 13);
  AlignedArray<float> alone(128);
  multiply<float>(128, 13, 225, left.data(), 128, {right.data(), 1, 240}, together.data(), 128);
  for (std::size_t column = 0; column < 13; ++column) {
    multiply<float>(128, 1, 225, left.data(), 128, {right.data() + column * 240, 1, 240},
                    alone.data(), 128);
    for (std::size_t row = 0; row < 128; ++row) {
      ASSERT_EQ(alone[row], together[column * 128 + row]);
    }
  }
}
}  // namespace
}  // namespace drey::trainer
