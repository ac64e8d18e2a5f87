// adam_test.cpp: the fused loop against the algorithm written down plainly in long double.
// SPDX-License-Identifier: MIT
#include "trainer/numeric/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "trainer/numeric/random.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kSize = std::size_t{16} * 13;  // not a multiple of the 64 lanes of the norm

AlignedArray<float> random_block(std::uint64_t seed, float bound) {
  Random random(seed, RandomPurpose::kTest);
  AlignedArray<float> block(kSize);
  for (float& value : block.span()) value = random.between(-bound, bound);
  return block;
}

/// Kingma & Ba, Algorithm 1, as it stands.
struct PlainAdam {
  std::vector<long double> first = std::vector<long double>(kSize, 0.0L);
  std::vector<long double> second = std::vector<long double>(kSize, 0.0L);
  int time = 0;

  void step(std::vector<long double>& weights, const AlignedArray<float>& gradient,
            const AdamSettings& settings) {
    ++time;
    long double squares = 0;
    for (const float slope : gradient.span()) {
      squares += static_cast<long double>(slope) * static_cast<long double>(slope);
    }
    const long double norm = std::sqrt(squares);
    const long double norm_max = static_cast<long double>(settings.norm_max);
    const long double scale = norm > norm_max ? norm_max / norm : 1.0L;
    const long double beta1 = static_cast<long double>(settings.beta1);
    const long double beta2 = static_cast<long double>(settings.beta2);
    for (std::size_t index = 0; index < kSize; ++index) {
      const long double slope = static_cast<long double>(gradient[index]) * scale;
      first[index] = beta1 * first[index] + (1 - beta1) * slope;
      second[index] = beta2 * second[index] + (1 - beta2) * slope * slope;
      const long double mean = first[index] / (1 - std::pow(beta1, time));
      const long double variance = second[index] / (1 - std::pow(beta2, time));
      weights[index] -= static_cast<long double>(settings.learning_rate) * mean /
                        (std::sqrt(variance) + static_cast<long double>(settings.epsilon));
    }
  }
};

void compare_with_plain(float gradient_bound) {
  const AdamSettings settings;
  AlignedArray<float> weights = random_block(1, 1.0F);
  std::vector<long double> plain(weights.span().begin(), weights.span().end());
  Adam adam(settings, kSize);
  PlainAdam reference;
  for (std::uint64_t step = 0; step < 300; ++step) {
    const AlignedArray<float> gradient = random_block(100 + step, gradient_bound);
    adam.step(weights.data(), gradient.data(), {});
    reference.step(plain, gradient, settings);
  }
  for (std::size_t index = 0; index < kSize; ++index) {
    EXPECT_NEAR(static_cast<double>(weights[index]), static_cast<double>(plain[index]), 3e-6);
  }
}

TEST(Adam, FollowsTheAlgorithmWhereNothingIsClipped) {
  compare_with_plain(0.1F);
}

TEST(Adam, FollowsTheAlgorithmWhereEveryGradientIsClipped) {
  compare_with_plain(50.0F);
}

TEST(Adam, FirstStepMovesByTheLearningRateAgainstTheSign) {
  AdamSettings settings;
  settings.learning_rate = 0.01F;
  AlignedArray<float> weights(kSize);
  AlignedArray<float> gradient(kSize);
  gradient[0] = 0.5F;
  gradient[1] = -3.0F;
  Adam adam(settings, kSize);
  adam.step(weights.data(), gradient.data(), {});
  EXPECT_NEAR(weights[0], -0.01F, 1e-7F);
  EXPECT_NEAR(weights[1], 0.01F, 1e-7F);
  EXPECT_EQ(weights[2], 0.0F);
}

void step_with_tau(float tau, AlignedArray<float>& weights, AlignedArray<float>& target) {
  Adam adam(AdamSettings(), kSize);
  const AlignedArray<float> gradient = random_block(3, 1.0F);
  adam.step(weights.data(), gradient.data(), {target.data(), tau});
}

TEST(Adam, MovesTheWeightsAlikeWithAndWithoutATarget) {
  AlignedArray<float> followed = random_block(1, 1.0F);
  AlignedArray<float> alone = random_block(1, 1.0F);
  AlignedArray<float> target = random_block(2, 1.0F);
  step_with_tau(0.25F, followed, target);
  Adam adam(AdamSettings(), kSize);
  adam.step(alone.data(), random_block(3, 1.0F).data(), {});
  for (std::size_t index = 0; index < kSize; ++index) EXPECT_EQ(alone[index], followed[index]);
}

TEST(Adam, InPiecesGivesTheBitsOfTheWhole) {
  AlignedArray<float> whole = random_block(1, 1.0F);
  AlignedArray<float> pieces = random_block(1, 1.0F);
  AlignedArray<float> whole_target = random_block(2, 1.0F);
  AlignedArray<float> pieces_target = random_block(2, 1.0F);
  Adam one(AdamSettings{}, kSize);
  Adam other(AdamSettings{}, kSize);
  for (std::uint64_t step = 0; step < 3; ++step) {
    const AlignedArray<float> gradient = random_block(100 + step, 50.0F);
    const float norm = one.step(whole.data(), gradient.data(), {whole_target.data(), 0.25F});
    EXPECT_EQ(norm,
              other.begin_step(pieces.data(), gradient.data(), {pieces_target.data(), 0.25F}));
    other.sweep(64, kSize - 64);
    other.sweep(0, 64);
  }
  for (std::size_t place = 0; place < kSize; ++place) {
    ASSERT_EQ(whole[place], pieces[place]) << place;
    ASSERT_EQ(whole_target[place], pieces_target[place]) << place;
  }
}

TEST(Adam, TakesANewLearningRateAtTheNextStep) {
  AlignedArray<float> weights(kSize);
  AlignedArray<float> gradient(kSize);
  gradient[0] = 1.0F;
  Adam adam(AdamSettings(), kSize);
  adam.set_learning_rate(0.5F);
  adam.step(weights.data(), gradient.data(), {});
  EXPECT_NEAR(weights[0], -0.5F, 1e-6F);
}

TEST(SoftUpdate, TauZeroKeepsTheTargetBitForBit) {
  AlignedArray<float> weights = random_block(1, 1.0F);
  AlignedArray<float> target = random_block(2, 1.0F);
  const AlignedArray<float> before = random_block(2, 1.0F);
  step_with_tau(0.0F, weights, target);
  for (std::size_t index = 0; index < kSize; ++index) EXPECT_EQ(target[index], before[index]);
}

TEST(SoftUpdate, TauOneCopiesTheNewWeightsBitForBit) {
  AlignedArray<float> weights = random_block(1, 1.0F);
  AlignedArray<float> target = random_block(2, 1.0F);
  step_with_tau(1.0F, weights, target);
  for (std::size_t index = 0; index < kSize; ++index) EXPECT_EQ(target[index], weights[index]);
}

TEST(SoftUpdate, GoesTauOfTheWay) {
  AlignedArray<float> weights = random_block(1, 1.0F);
  AlignedArray<float> target = random_block(2, 1.0F);
  const AlignedArray<float> before = random_block(2, 1.0F);
  step_with_tau(0.25F, weights, target);
  for (std::size_t index = 0; index < kSize; ++index) {
    EXPECT_NEAR(target[index], 0.75F * before[index] + 0.25F * weights[index], 1e-6F);
  }
}

TEST(Adam, ReportsTheRootOfTheSumOfSquares) {
  const AlignedArray<float> gradient = random_block(5, 2.0F);
  long double squares = 0;
  for (const float value : gradient.span()) {
    squares += static_cast<long double>(value) * static_cast<long double>(value);
  }
  AlignedArray<float> weights(kSize);
  Adam adam(AdamSettings(), kSize);
  EXPECT_NEAR(static_cast<double>(adam.step(weights.data(), gradient.data(), {})),
              static_cast<double>(std::sqrt(squares)), 1e-5);
}
}  // namespace
}  // namespace drey::trainer
