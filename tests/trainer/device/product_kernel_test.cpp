// product_kernel_test.cpp: the product's tiles, panels and epilogues on the CPU, against plain loops in
// double. SPDX-License-Identifier: MIT
#include "trainer/device/product_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "trainer/numeric/random.hpp"

namespace drey::trainer {
namespace {
std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  Random random(seed, RandomPurpose::kTest);
  std::vector<float> values(count);
  for (float& value : values) value = random.between(-1.0f, 1.0f);
  return values;
}

struct Shape {
  std::uint32_t rows, columns, depth;
};

/// One product of random operands; the left one in panels, as weights are.
struct Case {
  explicit Case(const Shape& of)
      : shape(of),
        rows_padded((of.rows + 15) / 16 * 16),
        left(random_values(std::size_t{rows_padded} * of.depth, 1)),
        right(random_values(std::size_t{of.depth} * of.columns, 2)),
        bias(random_values(of.rows, 3)),
        mask(random_values(std::size_t{of.rows} * of.columns, 4)),
        out(std::size_t{of.rows} * of.columns, -7.0f) {}

  [[nodiscard]] ProductKernel::Arguments arguments(Epilogue epilogue) {
    const Axis panels = {std::size_t{16} * shape.depth, 1};
    return {.rows = shape.rows,
            .columns = shape.columns,
            .depth = shape.depth,
            .left = {left.data(), panels, evenly(16)},
            .right = {right.data(), evenly(1), evenly(shape.depth)},
            .out = {out.data(), evenly(1), evenly(shape.rows)},
            .bias = bias.data(),
            .mask = {mask.data(), evenly(1), evenly(shape.rows)},
            .epilogue = epilogue,
            .left_size = left.size(),
            .right_size = right.size(),
            .out_size = out.size()};
  }
  [[nodiscard]] double expected(Epilogue epilogue, std::uint32_t row, std::uint32_t column) const {
    double sum = 0;
    for (std::size_t at = 0; at < shape.depth; ++at) {
      const std::size_t place = row / 16 * 16 * std::size_t{shape.depth} + at * 16 + row % 16;
      sum += double{left[place]} * double{right[column * std::size_t{shape.depth} + at]};
    }
    if (epilogue == Epilogue::kNone) return sum;
    if (epilogue == Epilogue::kMask) {
      return mask[column * std::size_t{shape.rows} + row] > 0 ? sum : 0;
    }
    sum += double{bias[row]};
    return epilogue == Epilogue::kBiasRelu ? std::max(sum, 0.0) : sum;
  }

  Shape shape;
  std::uint32_t rows_padded;
  std::vector<float> left, right, bias, mask, out;
};

class ProductKernelShapes : public ::testing::TestWithParam<Shape> {};

TEST_P(ProductKernelShapes, AgreeWithPlainLoopsWhateverComesAfterTheSum) {
  for (const Epilogue epilogue :
       {Epilogue::kNone, Epilogue::kBias, Epilogue::kBiasRelu, Epilogue::kMask}) {
    Case product(GetParam());
    const ProductKernel::Arguments arguments = product.arguments(epilogue);
    run_on_host<ProductKernel>(arguments, ProductKernel::blocks(arguments));
    const double bound = 1e-6 * (4 + std::sqrt(static_cast<double>(GetParam().depth)) * 4);
    for (std::uint32_t column = 0; column < GetParam().columns; ++column) {
      for (std::uint32_t row = 0; row < GetParam().rows; ++row) {
        ASSERT_NEAR(double{product.out[column * std::size_t{GetParam().rows} + row]},
                    product.expected(epilogue, row, column), bound)
            << row << ", " << column << ", epilogue " << static_cast<int>(epilogue);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Odd, ProductKernelShapes,
                         ::testing::Values(Shape{1, 1, 1}, Shape{16, 1, 225}, Shape{3, 5, 7},
                                           Shape{33, 31, 65}, Shape{32, 32, 32},
                                           Shape{128, 128, 225}, Shape{64, 33, 128}));

TEST(ProductKernel, WritesNothingBesideItsResult) {
  Case product({17, 9, 40});
  product.out.resize(product.out.size() + 64, -7.0f);
  const ProductKernel::Arguments arguments = product.arguments(Epilogue::kBias);
  run_on_host<ProductKernel>(arguments, ProductKernel::blocks(arguments));
  for (std::size_t at = 17 * 9; at < product.out.size(); ++at) ASSERT_EQ(product.out[at], -7.0f);
}
}  // namespace
}  // namespace drey::trainer
