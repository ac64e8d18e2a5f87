// product_kernels_test.cpp: the product of every instruction set against its definition in double.
// Method: shapes that leave every kind of rest; all endings (start values, ReLU, mask); operands both
// ways round; what lies around the result must stay as it was. Sets that this machine lacks are
// named; AMX's tiles are run on a model (tile_model.hpp) everywhere.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "support/seed.hpp"
#include "trainer/kernels/tile_model.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/kernels/kernels.hpp"
#include "trainer/numeric/random.hpp"

namespace drey::trainer {
namespace {
struct ShapeCase {
  std::size_t rows;
  std::size_t depth;
  std::size_t panels;
};
constexpr ShapeCase kShapes[] = {{1, 1, 1},   {1, 113, 8}, {2, 5, 3},    {7, 16, 2},  {12, 17, 1},
                                 {13, 33, 2}, {31, 64, 5}, {128, 20, 3}, {225, 9, 2}, {23, 225, 9}};

enum class Ending { kPlain, kStart, kRectified, kMasked };
constexpr Ending kEndings[] = {Ending::kPlain, Ending::kStart, Ending::kRectified, Ending::kMasked};

std::uint32_t pair_of(float first, float second) {
  return brain_of(first) | static_cast<std::uint32_t>(brain_of(second)) << 16;
}

void set(float& value, Random& random) {
  value = random.between(-1, 1);
}
void set(BrainPair& value, Random& random) {
  const float first = random.between(-1, 1);
  value = pair_of(first, random.between(-1, 1));
}
void set(Brain& value, Random& random) {
  value = brain_of(random.between(-1, 1));
}

double product_of(float left, float right) {
  return static_cast<double>(left) * static_cast<double>(right);
}
double product_of(BrainPair left, BrainPair right) {
  const auto low = [](BrainPair pair) { return float_of(static_cast<Brain>(pair)); };
  const auto high = [](BrainPair pair) { return float_of(static_cast<Brain>(pair >> 16)); };
  return product_of(low(left), low(right)) + product_of(high(left), high(right));
}
double number(float value) {
  return static_cast<double>(value);
}
double number(Brain value) {
  return static_cast<double>(float_of(value));
}

/// Operands of one shape, the result's place with a margin, and the product that names them.
template <class Left, class Out>
struct ProductCase {
  ProductCase(const ShapeCase& shape, Ending ending, bool is_transposed)
      : out_row(shape.panels * kPanelLanes + kPanelLanes),
        left((shape.rows + 3) * (shape.depth + 3)),
        right(shape.panels * (shape.depth + 1) * kPanelLanes),
        start(shape.panels * kPanelLanes),
        out(shape.rows * out_row),
        mask(shape.rows * out_row) {
    Random random(test::test_seed(1), RandomPurpose::kTest);
    for (Left& value : left.span()) set(value, random);
    for (Left& value : right.span()) set(value, random);
    for (float& value : start.span()) set(value, random);
    for (Out& value : out.span()) set(value, random);
    for (Out& value : mask.span()) set(value, random);
    before.assign(out.span().begin(), out.span().end());
    in = {shape.rows,
          shape.depth,
          shape.panels,
          left.data(),
          is_transposed ? 1 : shape.depth + 3,
          is_transposed ? shape.rows + 3 : 1,
          right.data(),
          (shape.depth + 1) * kPanelLanes,
          kPanelLanes,
          out.data(),
          out_row,
          kPanelLanes,
          ending == Ending::kPlain || ending == Ending::kMasked ? nullptr : start.data(),
          ending == Ending::kMasked ? mask.data() : nullptr,
          ending == Ending::kRectified};
  }

  double expected(std::size_t row, std::size_t column) const {
    const std::size_t panel = column / kPanelLanes;
    const std::size_t lane = column % kPanelLanes;
    double sum = in.start == nullptr ? 0.0 : static_cast<double>(in.start[column]);
    for (std::size_t k = 0; k < in.depth; ++k) {
      sum += product_of(in.left[row * in.left_row + k * in.left_step],
                        in.right[panel * in.right_panel + k * in.right_step + lane]);
    }
    if (in.is_rectified) sum = std::max(sum, 0.0);
    const bool is_masked = in.mask != nullptr && !(number(mask[row * out_row + column]) > 0);
    return is_masked ? 0.0 : sum;
  }

  void compare(double relative, double absolute) const {
    for (std::size_t row = 0; row < in.rows; ++row) {
      for (std::size_t column = 0; column < out_row; ++column) {
        const double found = number(out[row * out_row + column]);
        if (column >= in.panels * kPanelLanes) {
          ASSERT_EQ(found, number(before[row * out_row + column])) << "beyond the result";
          continue;
        }
        const double wanted = expected(row, column);
        ASSERT_NEAR(found, wanted, absolute + relative * std::fabs(wanted))
            << in.rows << " rows, depth " << in.depth << ", row " << row << ", column " << column;
      }
    }
  }

  std::size_t out_row;
  AlignedArray<Left> left;
  AlignedArray<Left> right;
  AlignedArray<float> start;
  AlignedArray<Out> out;
  AlignedArray<Out> mask;
  std::vector<Out> before;
  Product<Left, Out> in{};
};

template <class Left, class Out, class Multiply>
void expect_products(Multiply multiply, double relative) {
  for (const ShapeCase& shape : kShapes) {
    for (const Ending ending : kEndings) {
      for (const bool is_transposed : {false, true}) {
        ProductCase<Left, Out> product(shape, ending, is_transposed);
        multiply(product.in);
        product.compare(relative, 1e-6 * (2 + std::sqrt(static_cast<double>(shape.depth))));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

class EveryIsa : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!is_supported(GetParam())) {
      GTEST_SKIP() << "this machine has no " << name_of(GetParam());
    }
  }
};
class EveryBrainIsa : public EveryIsa {};
constexpr double kHalfUlpOfBrain = 1.0 / 256;

TEST_P(EveryIsa, ProductOfFloatsIsTheSumOverTheDepth) {
  expect_products<float, float>(kernels_of(GetParam()).multiply, 0);
}

TEST_P(EveryBrainIsa, ProductOfPairsIsTheSumOverTheDepth) {
  const Kernels& kernels = kernels_of(GetParam());
  expect_products<BrainPair, float>(kernels.multiply_pairs, 0);
  expect_products<BrainPair, Brain>(kernels.multiply_pairs_to_brain, kHalfUlpOfBrain);
}

TEST_P(EveryIsa, ARowIsTheSameBitsAloneAndAmongOthers) {
  const Kernels& kernels = kernels_of(GetParam());
  ProductCase<float, float> many({31, 225, 9}, Ending::kStart, false);
  kernels.multiply(many.in);
  const std::vector<float> together(many.out.span().begin(), many.out.span().end());
  for (std::size_t row = 0; row < 31; ++row) {
    Product<float, float> alone = many.in;
    alone.rows = 1;
    alone.left += row * alone.left_row;
    alone.out += row * alone.out_row;
    kernels.multiply(alone);
  }
  for (std::size_t place = 0; place < together.size(); ++place) {
    ASSERT_EQ(many.out[place], together[place]) << place;
  }
}

TEST_P(EveryBrainIsa, RoundsAndPairsAsTheFormatSays) {
  const Kernels& kernels = kernels_of(GetParam());
  Random random(test::test_seed(2), RandomPurpose::kTest);
  AlignedArray<float> values(112);
  for (float& value : values.span()) value = random.between(-100, 100);
  values[0] = 1.00390625F;  // halfway: to even
  values[1] = 1.01171875F;
  for (const std::size_t size : {1U, 16U, 31U, 33U, 96U}) {
    AlignedArray<Brain> rounded(128);
    for (Brain& half : rounded.span()) half = 7;
    kernels.round(values.data(), rounded.data(), size);
    for (std::size_t index = 0; index < (size + 31) / 32 * 32; ++index) {
      ASSERT_EQ(rounded[index], index < size ? brain_of(values[index]) : 0) << index;
    }
  }
  AlignedArray<BrainPair> pairs(64);
  kernels.pair_rows(values.data(), 7, pairs.data());
  for (std::size_t index = 0; index < 64; ++index) {
    const std::size_t first = index / 16 * 32 + index % 16;
    ASSERT_EQ(pairs[index], pair_of(values[first], index < 48 ? values[first + 16] : 0.0F));
  }
  AlignedArray<Brain> halves(96);
  for (Brain& half : halves.span()) set(half, random);
  for (const std::size_t size : {16U, 32U, 48U}) {
    kernels.interleave(halves.data(), halves.data() + 48, pairs.data(), size);
    for (std::size_t index = 0; index < size; ++index) {
      ASSERT_EQ(pairs[index], halves[index] | static_cast<BrainPair>(halves[index + 48]) << 16);
    }
  }
}

TEST_P(EveryBrainIsa, TurnsRowsIntoPairsAndFillsUpWithZeros) {
  const Kernels& kernels = kernels_of(GetParam());
  Random random(test::test_seed(3), RandomPurpose::kTest);
  AlignedArray<float> values(40 * 16);
  for (float& value : values.span()) value = random.between(-100, 100);
  constexpr std::size_t kStride = 48;
  for (const std::size_t row_count : {1U, 16U, 31U, 40U}) {
    AlignedArray<BrainPair> turned(8 * kStride);
    for (BrainPair& pair : turned.span()) pair = 7;
    kernels.transpose_rows(values.data(), row_count, turned.data(), kStride);
    for (std::size_t place = 0; place < turned.size(); ++place) {
      const std::size_t row = place % kStride;
      const float* const from = values.data() + row * 16 + place / kStride * 2;
      const BrainPair filled = row < (row_count + 15) / 16 * 16 ? 0 : 7;
      ASSERT_EQ(turned[place], row < row_count ? pair_of(from[0], from[1]) : filled) << place;
    }
  }
}

TEST_P(EveryIsa, AdamGivesTheBitsOfThePortableLoops) {
  constexpr std::size_t kSize = 13 * kPanelLanes;
  Random random(test::test_seed(3), RandomPurpose::kTest);
  std::vector<AlignedArray<float>> results;
  std::vector<double> squares;
  for (const Isa isa : {Isa::kPortable, GetParam()}) {
    Random same = random;
    std::vector<AlignedArray<float>> blocks;
    for (int block = 0; block < 5; ++block) {
      AlignedArray<float>& values = blocks.emplace_back(kSize);
      for (float& value : values.span()) value = same.between(block == 3 ? 0.0F : -1.0F, 1);
    }
    squares.push_back(kernels_of(isa).square_sum(blocks[1].data(), kSize));
    kernels_of(isa).adam({0.5F, 1e-3F, 1.25F, 0.9F, 0.999F, 1e-8F, 0.01F, blocks[0].data(),
                          blocks[1].data(), blocks[2].data(), blocks[3].data(), blocks[4].data(),
                          kSize});
    for (AlignedArray<float>& block : blocks) results.push_back(std::move(block));
  }
  EXPECT_EQ(squares[0], squares[1]);
  for (std::size_t block = 0; block < 5; ++block) {
    for (std::size_t place = 0; place < kSize; ++place) {
      ASSERT_EQ(results[block][place], results[block + 5][place]) << block << ", " << place;
    }
  }
}

std::string name_of_parameter(const testing::TestParamInfo<Isa>& parameter) {
  return name_of(parameter.param);
}
INSTANTIATE_TEST_SUITE_P(Kernels, EveryIsa,
                         testing::Values(Isa::kPortable, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16,
                                         Isa::kAmx),
                         name_of_parameter);
INSTANTIATE_TEST_SUITE_P(Kernels, EveryBrainIsa, testing::Values(Isa::kAvx512Bf16, Isa::kAmx),
                         name_of_parameter);

TEST(TileModel, ProductOfPairsIsTheSumOverTheDepth) {
  expect_products<BrainPair, float>(tiles::multiply<ModelTiles, float>, 0);
  expect_products<BrainPair, Brain>(tiles::multiply<ModelTiles, Brain>, kHalfUlpOfBrain);
}
}  // namespace
}  // namespace drey::trainer
