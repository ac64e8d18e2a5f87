// training_report_test.cpp: the page of a run: the curves are where the data are, nothing of the data
// becomes markup, and the page needs nothing but itself.
// SPDX-License-Identifier: MIT
#include "trainer/files/training_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace drey::test {
namespace {
using namespace drey::trainer;

struct Point {
  double x;
  double y;
};

/// The points of the first path with that class.
std::vector<Point> points_of(const std::string& svg, const std::string& style) {
  const std::size_t start = svg.find("<path class=\"curve " + style + "\" d=\"");
  if (start == std::string::npos) return {};
  const std::size_t begin = svg.find("d=\"", start) + 3;
  std::string path = svg.substr(begin, svg.find('"', begin) - begin);
  for (char& character : path) {
    if (character == 'M' || character == 'L') character = ' ';
  }
  std::istringstream numbers(path);
  std::vector<Point> points;
  Point point{};
  while (numbers >> point.x >> point.y) points.push_back(point);
  return points;
}

/// Whether every element that opens also closes, in order. Enough for pages without comments.
bool is_well_formed(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = html.substr(at + 1, end - at - 1);
    if (tag[0] == '!' || tag.back() == '/') continue;
    if (tag[0] != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
      continue;
    }
    if (open.empty() || open.back() != tag.substr(1)) return false;
    open.pop_back();
  }
  return open.empty();
}

TEST(LineChart, DrawsEachValueAtItsPlace) {
  const LineChart chart = {"Equity", "bars", 0, 1, " %", {{"agent", "agent", {0, 10, 5}}}};
  const std::vector<Point> points = points_of(line_chart(chart), "agent");
  ASSERT_EQ(points.size(), 3U);
  EXPECT_LT(points[1].y, points[2].y) << "up is a smaller y";
  EXPECT_LT(points[2].y, points[0].y);
  EXPECT_NEAR(points[0].y - points[2].y, (points[0].y - points[1].y) / 2, 0.2) << "linear";
  EXPECT_NEAR(points[1].x - points[0].x, points[2].x - points[1].x, 0.2) << "evenly spaced";
}

TEST(LineChart, KeepsExtremesOfManyValues) {
  std::vector<double> values(100'000, 1.0);
  values[54'321] = 7.0;
  values[54'322] = -3.0;
  const LineChart chart = {"Loss", "passes", 1, 1, "", {{"loss", "loss", values}}};
  const std::string svg = line_chart(chart);
  const std::vector<Point> points = points_of(svg, "loss");
  EXPECT_LT(points.size(), 4'000U);
  double highest = 1e9;
  double lowest = 0;
  for (const Point& point : points) {
    highest = std::min(highest, point.y);
    lowest = std::max(lowest, point.y);
  }
  // 7 is at the top, -3 at the bottom, 1 at two fifths.
  EXPECT_NEAR((points.front().y - highest) / (lowest - highest), 0.6, 0.01);
}

TEST(LineChart, ValuesThatAreNotFiniteLeaveAGap) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const LineChart chart = {"Loss", "passes", 1, 1, "", {{"loss", "loss", {1, 2, nan, 3, 4}}}};
  const std::string svg = line_chart(chart);
  const std::vector<Point> points = points_of(svg, "loss");
  EXPECT_EQ(points.size(), 4U);
  const std::size_t begin = svg.find("d=\"M");
  const std::string path = svg.substr(begin, svg.find("\"/>", begin) - begin);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2) << path;
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(LineChart, EmptyOrConstantCurvesGiveAPageAllTheSame) {
  for (const std::vector<double>& values :
       {std::vector<double>{}, std::vector<double>{1.0}, std::vector<double>{0.0, 0.0, 0.0},
        std::vector<double>{-5e9, -5e9}}) {
    const std::string svg = line_chart({"Loss", "passes", 1, 1, "", {{"loss", "loss", values}}});
    EXPECT_TRUE(is_well_formed(svg)) << svg;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
    EXPECT_EQ(points_of(svg, "loss").size(), values.size() < 2 ? 0 : values.size());
  }
}

TEST(TrainingReport, HoldsAllThatItWasGivenAndNothingFromOutside) {
  TrainingReport report;
  report.title = "drey-train, a<b>.csv & \"more\"";
  report.subtitle = "3 epochs";
  report.figures = {{"return of the agent", "+1.5 %"}};
  report.charts = {
      {"Equity", "bars", 0, 1, "", {{"agent", "agent", {1, 2}}, {"hold", "market", {1, 3}}}}};
  report.results = {{"gradient steps", "1000"}};
  report.settings = {{"lr", "0.0001"}, {"<script>", "alert('x')"}};
  const std::string html = training_report_html(report);
  EXPECT_TRUE(is_well_formed(html));
  EXPECT_EQ(html.rfind("<!DOCTYPE html>", 0), 0U);
  EXPECT_NE(html.find("a&lt;b&gt;.csv &amp; &quot;more&quot;"), std::string::npos);
  for (const char* text : {"+1.5 %", "gradient steps", "1000", "0.0001", "&lt;script&gt;"})
    EXPECT_NE(html.find(text), std::string::npos) << text;
  for (const char* text : {"<script", "http:", "https:", "url(", "src="})
    EXPECT_EQ(html.find(text), std::string::npos) << text;
  EXPECT_EQ(points_of(html, "market").size(), 2U);
}
}  // namespace
}  // namespace drey::test
