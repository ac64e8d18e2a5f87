// polyak_test.cpp: three ways to the target network's weights: the same bits, and close to exact ones.
// SPDX-License-Identifier: MIT
#include "trainer/agent/polyak.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/seed.hpp"
#include "trainer/numeric/adam.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/random.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kSize = 4096;

AlignedArray<float> drawn(Random& random) {
  AlignedArray<float> values(kSize);
  for (float& value : values.span()) value = random.between(-2.0f, 2.0f);
  return values;
}

AlignedArray<float> copy_of(const AlignedArray<float>& values) {
  AlignedArray<float> copy(values.size());
  std::memcpy(copy.data(), values.data(), values.size() * sizeof(float));
  return copy;
}

bool is_same(const AlignedArray<float>& one, const AlignedArray<float>& other) {
  return std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

TEST(Polyak, GivesTheSameBitsInAllThreeForms) {
  Random random(test::test_seed(1), RandomPurpose::kTest);
  for (const float part : {0.0f, 0.001f, 0.3f, 0.995f, 1.0f}) {
    AlignedArray<float> network = drawn(random);
    const AlignedArray<float> gradient = drawn(random);
    AlignedArray<float> fused = drawn(random);
    AlignedArray<float> in_place = copy_of(fused);
    AlignedArray<float> with_temporaries = copy_of(fused);
    Adam adam({}, kSize);
    adam.step(network.data(), gradient.data(), {fused.data(), part});
    polyak_in_place(network.span(), in_place.span(), part);
    polyak_with_temporaries(network.span(), with_temporaries.span(), part);
    EXPECT_TRUE(is_same(fused, in_place)) << part;
    EXPECT_TRUE(is_same(fused, with_temporaries)) << part;
  }
}

TEST(Polyak, KeepsTheTargetAtNothingAndCopiesAtOne) {
  Random random(test::test_seed(2), RandomPurpose::kTest);
  const AlignedArray<float> network = drawn(random);
  const AlignedArray<float> before = drawn(random);
  AlignedArray<float> target = copy_of(before);
  polyak_in_place(network.span(), target.span(), 0.0f);
  EXPECT_TRUE(is_same(target, before));
  polyak_with_temporaries(network.span(), target.span(), 0.0f);
  EXPECT_TRUE(is_same(target, before));
  polyak_in_place(network.span(), target.span(), 1.0f);
  EXPECT_TRUE(is_same(target, network));
  target = copy_of(before);
  polyak_with_temporaries(network.span(), target.span(), 1.0f);
  EXPECT_TRUE(is_same(target, network));
}

TEST(Polyak, IsWithinARoundingOfLongDouble) {
  Random random(test::test_seed(3), RandomPurpose::kTest);
  const AlignedArray<float> network = drawn(random);
  const AlignedArray<float> before = drawn(random);
  AlignedArray<float> target = copy_of(before);
  constexpr float kPart = 0.001f;
  polyak_in_place(network.span(), target.span(), kPart);
  for (std::size_t index = 0; index < kSize; ++index) {
    const long double exact =
        (1.0L - static_cast<long double>(kPart)) * static_cast<long double>(before[index]) +
        static_cast<long double>(kPart) * static_cast<long double>(network[index]);
    EXPECT_LE(std::fabs(static_cast<long double>(target[index]) - exact), 3e-7L) << index;
  }
}

TEST(Polyak, PassesOnWhatIsNoNumberWhereItIs) {
  Random random(test::test_seed(4), RandomPurpose::kTest);
  AlignedArray<float> network = drawn(random);
  AlignedArray<float> target = drawn(random);
  network[3] = std::numeric_limits<float>::quiet_NaN();
  target[5] = std::numeric_limits<float>::quiet_NaN();
  AlignedArray<float> other = copy_of(target);
  polyak_in_place(network.span(), target.span(), 0.5f);
  polyak_with_temporaries(network.span(), other.span(), 0.5f);
  for (const AlignedArray<float>* const found : {&target, &other}) {
    for (std::size_t index = 0; index < kSize; ++index) {
      EXPECT_EQ(std::isnan((*found)[index]), index == 3 || index == 5) << index;
    }
  }
}

#if defined(DREY_ASSERTS) && DREY_ASSERTS
TEST(PolyakDeathTest, RefusesOverlapAndOtherSizes) {
  AlignedArray<float> values(kSize);
  const auto network = std::span<const float>(values.data(), kSize / 2);
  EXPECT_DEATH(polyak_in_place(network, values.span().subspan(16, kSize / 2), 0.5f), "is_apart");
  EXPECT_DEATH(polyak_in_place(network, values.span().subspan(kSize / 2, 16), 0.5f), "size");
  EXPECT_DEATH(polyak_with_temporaries(network, values.span().first(kSize / 2), 0.5f), "is_apart");
}
#endif
}  // namespace
}  // namespace drey::trainer
