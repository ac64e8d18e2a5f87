// svg_chart.hpp: the two plots of the page, as inline SVG text.
//
// Truthful by construction: bars start at zero on a linear scale; whiskers are the quartiles;
// ratios stand on a logarithmic scale, so that twice and half are equally far from one. Colours
// are CSS classes of the page (page_style.hpp), so the plots follow light and dark.
// Read next: svg_chart.cpp, report_html.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/statistics.hpp"

#include <string>
#include <vector>

namespace drey::bench {
/// `text` with the five characters escaped that mean something to HTML.
[[nodiscard]] std::string escape_html(const std::string& text);

struct Bar {
  std::string label;        ///< left of the bar
  std::string style_class;  ///< its colour: "drey", "system" or "mimalloc"
  Summary value;            ///< whiskers are drawn where the quartiles differ
  std::string text;         ///< right of the bar: the number with its unit
};

/// Horizontal bars under each other, one scale from zero. `description` is for screen readers.
[[nodiscard]] std::string bar_chart(const std::string& description, const std::vector<Bar>& bars);

/// One point: subject's time over a reference's.
struct RatioPoint {
  std::string style_class;  ///< the reference's colour
  Comparison comparison;    ///< ties are drawn hollow
};

struct RatioRow {
  std::string label;
  std::vector<RatioPoint> points;
  bool starts_group = false;  ///< a rule above
};

struct RatioChart {
  std::string description;              ///< for screen readers
  std::string subject;                  ///< who is faster to the left
  std::vector<std::string> references;  ///< headings of the numbers, in the order of the points
  std::vector<RatioRow> rows;
};

/// A row a case, a dot a reference, a line at 1; the medians as numbers to the right.
[[nodiscard]] std::string ratio_chart(const RatioChart& chart);
}  // namespace drey::bench
