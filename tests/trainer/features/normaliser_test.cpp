// normaliser_test.cpp: robust scaling, fitted on the rows it is given and on no other.
// SPDX-License-Identifier: MIT
#include "trainer/features/normaliser.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <random>

#include "trainer/data/error.hpp"
#include "trainer/features/feature_series.hpp"

namespace drey::trainer {
namespace {
constexpr std::uint64_t kSeed = 8;

// Feature 0 normal (mean 5, deviation 2), 1 constant, 2 a rare pattern, 3 near 0 nine times of ten.
FeatureMatrix sample_matrix(std::size_t rows) {
  std::cout << "seed " << kSeed << "\n";
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> normal(5.0F, 2.0F);
  FeatureMatrix matrix(rows, kWarmupBars);
  for (std::size_t row = 0; row < rows; ++row) {
    matrix.row(row)[0] = normal(random);
    matrix.row(row)[1] = 3.0F;
    matrix.row(row)[2] = row % 50 == 0 ? 1.0F : 0.0F;
    matrix.row(row)[3] = row % 10 == 0 ? 1.0F : 1e-6F * static_cast<float>(row % 7);
  }
  return matrix;
}

TEST(Normaliser, FindsMedianAndDeviationOfANormalFeature) {
  const FeatureMatrix matrix = sample_matrix(20'000);
  Normaliser normaliser;
  normaliser.fit(matrix, 0, matrix.rows());
  EXPECT_NEAR(normaliser.median()[0], 5.0F, 0.05F);
  EXPECT_NEAR(normaliser.scale()[0], 2.0F, 0.06F);
}

TEST(Normaliser, OutliersDoNotMoveIt) {
  FeatureMatrix matrix = sample_matrix(20'000);
  for (std::size_t row = 0; row < matrix.rows(); row += 100) matrix.row(row)[0] = 1e30F;
  Normaliser normaliser;
  normaliser.fit(matrix, 0, matrix.rows());
  EXPECT_NEAR(normaliser.median()[0], 5.0F, 0.1F);
  EXPECT_NEAR(normaliser.scale()[0], 2.0F, 0.2F);
}

TEST(Normaliser, ConstantAndRareFeaturesHaveAUsableScale) {
  const FeatureMatrix matrix = sample_matrix(20'000);
  Normaliser normaliser;
  normaliser.fit(matrix, 0, matrix.rows());
  EXPECT_EQ(normaliser.median()[1], 3.0F);
  EXPECT_EQ(normaliser.scale()[1], 1.0F);
  EXPECT_EQ(normaliser.median()[2], 0.0F);
  EXPECT_NEAR(normaliser.scale()[2], std::sqrt(0.02F * 0.98F), 1e-3F);
  EXPECT_GT(normaliser.scale()[3], 0.1F) << "the wider quantiles see the one in ten";
}

TEST(Normaliser, HoldsValuesWithinTen) {
  FeatureMatrix matrix = sample_matrix(1'000);
  Normaliser normaliser;
  normaliser.fit(matrix, 0, matrix.rows());
  matrix.row(0)[0] = 1e30F;
  matrix.row(1)[0] = -1e30F;
  normaliser.apply(matrix);
  EXPECT_EQ(matrix.row(0)[0], 10.0F);
  EXPECT_EQ(matrix.row(1)[0], -10.0F);
  EXPECT_EQ(matrix.row(2)[1], 0.0F) << "the constant";
}

TEST(Normaliser, RowsOutsideTheRangeDoNotMatter) {
  FeatureMatrix matrix = sample_matrix(2'000);
  Normaliser before;
  before.fit(matrix, 100, 1'000);
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    if (row >= 100 && row < 1'000) continue;
    for (float& value : matrix.row(row)) value = 1e6F;
  }
  Normaliser after;
  after.fit(matrix, 100, 1'000);
  EXPECT_EQ(before.median(), after.median());
  EXPECT_EQ(before.scale(), after.scale());
}

TEST(Normaliser, OneRowAndTheMatrixGiveTheSameBits) {
  FeatureMatrix matrix = compute_features(synthetic_bars(900, kSeed));
  Normaliser normaliser;
  normaliser.fit(matrix, 0, 200);
  std::array<float, kFeatureDim> row{};
  std::copy(matrix.row(300).begin(), matrix.row(300).end(), row.begin());
  normaliser.apply(std::span<float, kFeatureDim>(row));
  normaliser.apply(matrix);
  for (std::size_t i = 0; i < kFeatureDim; ++i) ASSERT_EQ(row[i], matrix.row(300)[i]) << i;
}

TEST(Normaliser, RestoredFromItsValuesItIsTheSame) {
  const FeatureMatrix matrix = compute_features(synthetic_bars(900, kSeed));
  Normaliser normaliser;
  normaliser.fit(matrix, 0, matrix.rows());
  const Normaliser restored(normaliser.median(), normaliser.scale());
  EXPECT_EQ(restored.median(), normaliser.median());
  EXPECT_EQ(restored.scale(), normaliser.scale());
}

TEST(Normaliser, TooManyRowsAreSampledEvenly) {
  FeatureMatrix matrix(65'536, kWarmupBars);
  for (std::size_t row = 0; row < matrix.rows(); ++row)
    matrix.row(row)[0] = static_cast<float>(row);
  Normaliser normaliser;
  normaliser.fit(matrix, 0, matrix.rows());
  EXPECT_NEAR(normaliser.median()[0], 32'768.0F, 4.0F);
}

TEST(Normaliser, EmptyOrForeignRangeIsRefused) {
  const FeatureMatrix matrix = sample_matrix(10);
  Normaliser normaliser;
  try {
    normaliser.fit(matrix, 5, 5);
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "normaliser: expected rows to fit within 0 to 10, found 5 to 5");
  }
  EXPECT_THROW(normaliser.fit(matrix, 0, 11), DataError);
}

TEST(Normaliser, BrokenCheckpointIsRefusedByName) {
  Normaliser::Values median{};
  Normaliser::Values scale;
  scale.fill(1.0F);
  scale[2] = 0.0F;
  try {
    const Normaliser broken(median, scale);
    FAIL() << "no error";
  } catch (const CheckpointError& error) {
    EXPECT_STREQ(error.what(),
                 "normaliser: feature 'l_c1': expected a finite median and a scale above 0, found "
                 "0.000000 and 0.000000");
  }
  scale[2] = 1.0F;
  median[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(Normaliser(median, scale), CheckpointError);
}
}  // namespace
}  // namespace drey::trainer
