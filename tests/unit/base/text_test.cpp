// text_test.cpp: fixed-buffer text is cut at the end, never written past it.
// SPDX-License-Identifier: MIT
#include <drey/base/text.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace drey {
namespace {

TEST(Text, JoinsWordsAndNumbers) {
  Text<64> text;
  text.add("a ").add(std::uint64_t{0}).add(" ").add(UINT64_MAX).add(" ").add_hex(0xbeef);
  EXPECT_STREQ(text.c_str(), "a 0 18446744073709551615 0xbeef");
}

TEST(Text, WritesThousandthsWithThreeDecimals) {
  Text<32> text;
  EXPECT_STREQ(text.add_milli(1500).c_str(), "1.500");
  text.clear();
  EXPECT_STREQ(text.add_milli(7).c_str(), "0.007");
}

TEST(Text, CutsWhatDoesNotFit) {
  Text<8> text;
  text.add("0123456789").add(std::uint64_t{42});
  EXPECT_STREQ(text.c_str(), "0123456");
  EXPECT_EQ(text.length(), 7u);
}

}  // namespace
}  // namespace drey
