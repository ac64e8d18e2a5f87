// svg_chart.cpp: see svg_chart.hpp.
// SPDX-License-Identifier: MIT
#include "race/svg_chart.hpp"

#include "race/format.hpp"

#include <algorithm>
#include <cmath>

namespace drey::bench {
namespace {
// Lengths are in the units of the view box, about pixels.
constexpr double kBarChartWidth = 320;
constexpr double kBarRowHeight = 26;
constexpr double kBarHeight = 14;
constexpr double kBarLabelWidth = 70;
constexpr double kBarTextWidth = 82;
constexpr double kBarLengthMax = kBarChartWidth - kBarLabelWidth - kBarTextWidth;

constexpr double kRatioChartWidth = 1000;
constexpr double kRatioRowHeight = 20;
constexpr double kRatioLabelWidth = 270;
constexpr double kRatioTextWidth = 150;
constexpr double kRatioPlotWidth = kRatioChartWidth - kRatioLabelWidth - kRatioTextWidth;
constexpr double kRatioAxisHeight = 34;
constexpr int kOctavesMax = 6;  // 1/64 to 64

std::string number(double value) {
  return fixed(value, 1);
}

std::string text_at(double x, double y, const std::string& style, const std::string& text) {
  return "<text class=\"" + style + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\">" +
         escape_html(text) + "</text>";
}

std::string line_between(const std::string& style, double x1, double y1, double x2, double y2) {
  return "<line class=\"" + style + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
         number(x2) + "\" y2=\"" + number(y2) + "\"/>";
}

std::string open_svg(double width, double height, const std::string& description) {
  return "<svg role=\"img\" viewBox=\"0 0 " + number(width) + " " + number(height) +
         "\" aria-label=\"" + escape_html(description) + "\">";
}

/// A line from one quartile to the other with a cap at each end.
std::string whisker(double x1, double x2, double y, double half_cap) {
  return line_between("whisker", x1, y, x2, y) +
         line_between("whisker", x1, y - half_cap, x1, y + half_cap) +
         line_between("whisker", x2, y - half_cap, x2, y + half_cap);
}

std::string bar_row(const Bar& bar, double top, double scale) {
  const double middle = top + kBarRowHeight / 2;
  const double length = bar.value.median * scale;
  const double upper = std::max(length, bar.value.upper_quartile * scale);
  std::string svg = text_at(kBarLabelWidth - 8, middle + 4, "label end", bar.label);
  // A value too small for its bar to be seen still shows a sliver.
  svg += "<rect class=\"" + bar.style_class + "\" x=\"" + number(kBarLabelWidth) + "\" y=\"" +
         number(middle - kBarHeight / 2) + "\" width=\"" + number(std::max(length, 1.0)) +
         "\" height=\"" + number(kBarHeight) + "\" rx=\"2\"/>";
  if (bar.value.interquartile_range() > 0) {
    svg += whisker(kBarLabelWidth + bar.value.lower_quartile * scale, kBarLabelWidth + upper,
                   middle, 4);
  }
  return svg + text_at(kBarLabelWidth + upper + 7, middle + 4, "value", bar.text);
}

/// The logarithmic axis of ratios: from 2^-lower to 2^upper; what lies beyond stands at its edge.
struct RatioAxis {
  int lower = 1;
  int upper = 1;

  [[nodiscard]] double place(double ratio) const noexcept {
    const double span = static_cast<double>(lower + upper);
    const double share = (std::log2(ratio) + lower) / span;
    return kRatioLabelWidth + std::clamp(share, 0.0, 1.0) * kRatioPlotWidth;
  }
};

/// Octaves to hold `ratio`, at most kOctavesMax: one case far out must not squeeze all others.
int octaves(double ratio) noexcept {
  return std::clamp(static_cast<int>(std::ceil(std::log2(ratio))), 1, kOctavesMax);
}

RatioAxis axis_for(const std::vector<RatioRow>& rows) {
  RatioAxis axis;
  for (const RatioRow& row : rows) {
    for (const RatioPoint& point : row.points) {
      axis.lower = std::max(axis.lower, octaves(1.0 / point.comparison.ratio.lower_quartile));
      axis.upper = std::max(axis.upper, octaves(point.comparison.ratio.upper_quartile));
    }
  }
  return axis;
}

std::string tick_text(int exponent) {
  if (exponent < 0) return "1/" + std::to_string(1LL << -exponent);
  return std::to_string(1LL << exponent);
}

std::string draw_axis(const RatioAxis& axis, const std::string& subject, double height) {
  std::string svg;
  for (int exponent = -axis.lower; exponent <= axis.upper; ++exponent) {
    const double x = axis.place(std::exp2(exponent));
    svg += line_between(exponent == 0 ? "one" : "grid", x, kRatioAxisHeight - 6, x, height);
    svg += text_at(x, kRatioAxisHeight - 12, "tick middle", tick_text(exponent));
  }
  svg += text_at(axis.place(1) - 26, 10, "note end", "\xE2\x86\x90 " + subject + " is faster");
  svg += text_at(axis.place(1) + 26, 10, "note", subject + " is slower \xE2\x86\x92");
  return svg;
}

/// Where the numbers of a reference end, to the right of the plot.
double number_column(std::size_t index) noexcept {
  return kRatioLabelWidth + kRatioPlotWidth + 70 + 76 * static_cast<double>(index);
}

std::string ratio_row(const RatioRow& row, const RatioAxis& axis, double top) {
  const double middle = top + kRatioRowHeight / 2;
  std::string svg;
  if (row.starts_group) svg += line_between("rule", 0, top, kRatioChartWidth, top);
  svg += text_at(kRatioLabelWidth - 14, middle + 4, "label end", row.label);
  const auto count = static_cast<double>(row.points.size());
  for (std::size_t index = 0; index < row.points.size(); ++index) {
    const RatioPoint& point = row.points[index];
    const Summary& ratio = point.comparison.ratio;
    // Points of one row are set apart a little, so that whiskers do not cover each other.
    const double y = middle + (static_cast<double>(index) - (count - 1) / 2) * 5;
    svg += line_between("spread " + point.style_class, axis.place(ratio.lower_quartile), y,
                        axis.place(ratio.upper_quartile), y);
    svg += "<circle class=\"" + point.style_class + (point.comparison.is_tie ? " hollow" : "") +
           "\" cx=\"" + number(axis.place(ratio.median)) + "\" cy=\"" + number(y) + "\" r=\"4\"/>";
    svg += text_at(number_column(index), middle + 4, "value end", ratio_number(ratio.median));
  }
  return svg;
}
}  // namespace

std::string escape_html(const std::string& text) {
  std::string escaped;
  for (const char character : text) {
    switch (character) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += character;
    }
  }
  return escaped;
}

std::string bar_chart(const std::string& description, const std::vector<Bar>& bars) {
  double largest = 0;
  for (const Bar& bar : bars) {
    largest = std::max({largest, bar.value.median, bar.value.upper_quartile});
  }
  const double scale = largest > 0 ? kBarLengthMax / largest : 0;
  const double height = kBarRowHeight * static_cast<double>(bars.size());
  std::string svg = open_svg(kBarChartWidth, height, description);
  double top = 0;
  for (const Bar& bar : bars) {
    svg += bar_row(bar, top, scale);
    top += kBarRowHeight;
  }
  svg += line_between("axis", kBarLabelWidth, 2, kBarLabelWidth, height - 2);
  return svg + "</svg>";
}

std::string ratio_chart(const RatioChart& chart) {
  const RatioAxis axis = axis_for(chart.rows);
  const double height =
      kRatioAxisHeight + kRatioRowHeight * static_cast<double>(chart.rows.size()) + 4;
  std::string svg = open_svg(kRatioChartWidth, height, chart.description);
  svg += draw_axis(axis, chart.subject, height);
  for (std::size_t index = 0; index < chart.references.size(); ++index) {
    svg += text_at(number_column(index), kRatioAxisHeight - 12, "tick end",
                   "/ " + chart.references[index]);
  }
  double top = kRatioAxisHeight;
  for (const RatioRow& row : chart.rows) {
    svg += ratio_row(row, axis, top);
    top += kRatioRowHeight;
  }
  return svg + "</svg>";
}
}  // namespace drey::bench
