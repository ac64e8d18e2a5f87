// line_chart.hpp: curves over a common axis, as inline SVG text: no script, no outside file.
// Truthful by construction: both axes are linear and labelled, the line drawn is the data but for
// points closer together than a pixel, of which the lowest and highest are kept; a value that is not
// finite leaves a gap. Colours are CSS classes of the page, so charts follow light and dark.
// Read next: line_chart.cpp, training_report.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drey::trainer {
/// `text` with the five characters escaped that mean something to HTML.
[[nodiscard]] std::string escape_html(std::string_view text);

struct Curve {
  std::string name;            ///< in the legend
  std::string style_class;     ///< its colour
  std::vector<double> values;  ///< y, from left to right, evenly spaced
};

struct LineChart {
  std::string title;
  std::string x_label;   ///< what the horizontal axis counts
  double x_first = 0;    ///< x of the first value
  double x_step = 1;     ///< from one value to the next
  std::string y_suffix;  ///< behind the numbers of the vertical axis
  std::vector<Curve> curves;
};

/// Curves with fewer than two finite values are named, but not drawn.
[[nodiscard]] std::string line_chart(const LineChart& chart);
}  // namespace drey::trainer
