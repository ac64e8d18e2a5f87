// format_test.cpp: numbers and tables read as a person would write them.
// SPDX-License-Identifier: MIT
#include "race/format.hpp"

#include "race/svg_chart.hpp"
#include "race/text_table.hpp"

#include <gtest/gtest.h>

namespace drey::bench {
namespace {
TEST(Format, ThreeSignificantDigitsWithoutExponent) {
  EXPECT_EQ(significant(0.012345), "0.0123");
  EXPECT_EQ(significant(3.14159), "3.14");
  EXPECT_EQ(significant(31.4159), "31.4");
  EXPECT_EQ(significant(314.159), "314");
  EXPECT_EQ(significant(31415.9), "31416");
  EXPECT_EQ(significant(0), "0");
}

TEST(Format, GroupsOfThree) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Format, DurationsTakeTheUnitThatFits) {
  EXPECT_EQ(duration(3.4), "3.40 ns");
  EXPECT_EQ(duration(12'100), "12.1 us");
  EXPECT_EQ(duration(4.56e6), "4.56 ms");
  EXPECT_EQ(duration(2e9), "2.00 s");
}

TEST(Format, RatiosCarryTheirSpreadAndSayTie) {
  EXPECT_EQ(ratio_text(compare({1, 1, 1}, {2, 2, 2})), "0.50 (0.50-0.50)");
  EXPECT_EQ(ratio_text(compare({1, 1, 1}, {1, 1, 1})), "1.00 (1.00-1.00) tie");
  EXPECT_EQ(ratio_text(compare({1}, {2})), "0.50");
}

TEST(TextTable, AlignsFirstColumnLeftOthersRight) {
  TextTable table({"case", "ns"});
  table.add_row({"a long name", "1"});
  table.add_row({"b", "1,000"});
  EXPECT_EQ(table.text(),
            "case            ns\n"
            "------------------\n"
            "a long name      1\n"
            "b            1,000\n");
}

TEST(TextTable, FillsMissingCellsAndDropsTrailingSpaces) {
  TextTable table({"a", "b"});
  table.add_row({"x"});
  EXPECT_EQ(table.text(), "a  b\n----\nx\n");
}

TEST(SvgChart, EscapesWhatMeansSomethingToHtml) {
  EXPECT_EQ(escape_html("<a & 'b' \"c\">"), "&lt;a &amp; &#39;b&#39; &quot;c&quot;&gt;");
}

TEST(SvgChart, BarsKeepTheProportionOfTheirValues) {
  const std::string svg =
      bar_chart("test", {{"a", "drey", {10, 10, 10, 3}, "10"}, {"b", "system", {5, 5, 5, 3}, "5"}});
  EXPECT_NE(svg.find("width=\"168.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("width=\"84.0\""), std::string::npos) << svg;
  EXPECT_EQ(svg.find("whisker"), std::string::npos) << "no spread, no whisker";
}

TEST(SvgChart, TiesAreHollow) {
  const RatioRow tie{"t", {{"system", compare({1, 1, 1}, {1, 1, 1})}}, false};
  const RatioRow win{"w", {{"system", compare({1, 1, 1}, {2, 2, 2})}}, false};
  EXPECT_NE(ratio_chart({"test", "drey", {"system"}, {tie}}).find("hollow"), std::string::npos);
  EXPECT_EQ(ratio_chart({"test", "drey", {"system"}, {win}}).find("hollow"), std::string::npos);
}
}  // namespace
}  // namespace drey::bench
