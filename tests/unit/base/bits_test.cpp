// bits_test.cpp: rounding and powers of two at their edges, against the plain definition.
// SPDX-License-Identifier: MIT
#include <drey/base/bits.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace drey {
namespace {

TEST(Bits, OnlyPowersOfTwoArePowersOfTwo) {
  EXPECT_FALSE(is_power_of_two(0));
  std::size_t found = 0;
  for (std::size_t value = 1; value <= 4096; ++value) found += is_power_of_two(value) ? 1 : 0;
  EXPECT_EQ(found, 13u);
  EXPECT_TRUE(is_power_of_two(std::size_t{1} << 63));
  EXPECT_FALSE(is_power_of_two(SIZE_MAX));
}

TEST(Bits, RoundingIsTheNearestMultipleOnEachSide) {
  for (std::size_t alignment = 1; alignment <= 64; alignment *= 2) {
    for (std::size_t value = 0; value <= 300; ++value) {
      EXPECT_EQ(align_down(value, alignment), value / alignment * alignment);
      EXPECT_EQ(align_up(value, alignment), (value + alignment - 1) / alignment * alignment);
    }
  }
}

TEST(Bits, FloorOfTheLogarithmBracketsTheValue) {
  for (std::size_t value = 1; value <= 70000; ++value) {
    const unsigned exponent = log2_floor(value);
    EXPECT_LE(std::size_t{1} << exponent, value);
    EXPECT_GT(std::size_t{2} << exponent, value);
  }
}

TEST(Bits, DivisionRoundsUp) {
  EXPECT_EQ(divide_up(0, 7), 0u);
  EXPECT_EQ(divide_up(1, 7), 1u);
  EXPECT_EQ(divide_up(7, 7), 1u);
  EXPECT_EQ(divide_up(8, 7), 2u);
}

}  // namespace
}  // namespace drey
