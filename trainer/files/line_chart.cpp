// line_chart.cpp: see line_chart.hpp. Lengths are in the units of the view box, about pixels.
// SPDX-License-Identifier: MIT
#include "trainer/files/line_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace drey::trainer {
namespace {
constexpr double kWidth = 960;
constexpr double kHeight = 300;
constexpr double kLeft = 84;
constexpr double kRight = 16;
constexpr double kTop = 14;
constexpr double kBottom = 40;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kPlotHeight = kHeight - kTop - kBottom;
constexpr double kTicksWanted = 5;

std::string text_of(const char* format, double value) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), format, value);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

std::string number(double value) {
  return text_of("%.1f", value);
}

/// Values of an axis and where its labels stand: at whole multiples of 1, 2 or 5 times a power of ten.
struct Axis {
  double low = 0;
  double high = 1;
  double step = 1;

  [[nodiscard]] double share(double value) const { return (value - low) / (high - low); }
  [[nodiscard]] std::string label(double value) const {
    // A multiple of the step that should be 0 may be a little off it.
    return text_of("%.6g", std::abs(value) < 1e-9 * step ? 0.0 : value);
  }
};

Axis axis_between(double low, double high) {
  if (!(high > low)) {
    const double margin = std::max(std::abs(low) * 0.01, 1e-9);
    low -= margin;
    high += margin;
  }
  const double rough = (high - low) / kTicksWanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double nice = digit > 5 ? 10 : (digit > 2 ? 5 : (digit > 1 ? 2 : 1));
  return {low, high, nice * power};
}

Axis vertical_axis(const LineChart& chart) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Curve& curve : chart.curves) {
    for (const double value : curve.values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  return low <= high ? axis_between(low, high) : axis_between(0, 1);
}

Axis horizontal_axis(const LineChart& chart) {
  std::size_t longest = 2;
  for (const Curve& curve : chart.curves) longest = std::max(longest, curve.values.size());
  return axis_between(chart.x_first,
                      chart.x_first + chart.x_step * static_cast<double>(longest - 1));
}

std::string text_at(const char* style, double x, double y, const std::string& text) {
  return std::string("<text class=\"") + style + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
         "\">" + escape_html(text) + "</text>";
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  return "<line class=\"grid\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
         number(x2) + "\" y2=\"" + number(y2) + "\"/>";
}

std::string draw_axes(const LineChart& chart, const Axis& x_axis, const Axis& y_axis) {
  std::string svg;
  for (double i = std::ceil(y_axis.low / y_axis.step); i * y_axis.step <= y_axis.high; ++i) {
    const double value = i * y_axis.step;
    const double y = kTop + (1 - y_axis.share(value)) * kPlotHeight;
    svg += grid_line(kLeft, y, kLeft + kPlotWidth, y);
    svg += text_at("tick end", kLeft - 8, y + 4, y_axis.label(value) + chart.y_suffix);
  }
  for (double i = std::ceil(x_axis.low / x_axis.step); i * x_axis.step <= x_axis.high; ++i) {
    const double x = kLeft + x_axis.share(i * x_axis.step) * kPlotWidth;
    svg += grid_line(x, kTop + kPlotHeight, x, kTop + kPlotHeight + 5);
    svg += text_at("tick middle", x, kTop + kPlotHeight + 18, x_axis.label(i * x_axis.step));
  }
  svg += text_at("tick end", kLeft + kPlotWidth, kHeight - 6, chart.x_label);
  return svg;
}

/// The path of a curve; a new piece after each gap. Of each column of pixels: first, lowest, highest
/// and last point, in their order.
class PathWriter {
 public:
  void add(double x, double y) {
    const double column = std::floor(x);
    if (count_ != 0 && column != column_) flush();
    if (count_ == 0) first_ = {x, y};
    column_ = column;
    if (count_ == 0 || y < lowest_.y) lowest_ = {x, y};
    if (count_ == 0 || y > highest_.y) highest_ = {x, y};
    last_ = {x, y};
    ++count_;
  }
  void gap() {
    flush();
    is_open_ = false;
  }
  std::string finish() {
    flush();
    return path_;
  }

 private:
  struct Point {
    double x = 0;
    double y = 0;
  };

  void flush() {
    if (count_ == 0) return;
    const bool lowest_first = lowest_.x < highest_.x;
    draw(first_);
    if (count_ > 2) {
      draw(lowest_first ? lowest_ : highest_);
      draw(lowest_first ? highest_ : lowest_);
    }
    if (count_ > 1) draw(last_);
    count_ = 0;
  }
  void draw(const Point& point) {
    path_ += (is_open_ ? "L" : "M") + number(point.x) + " " + number(point.y);
    is_open_ = true;
  }

  std::string path_;
  bool is_open_ = false;
  std::size_t count_ = 0;
  double column_ = 0;
  Point first_;
  Point lowest_;
  Point highest_;
  Point last_;
};

std::string draw_curve(const LineChart& chart, const Curve& curve, const Axis& x_axis,
                       const Axis& y_axis) {
  PathWriter path;
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    if (!std::isfinite(curve.values[i])) {
      path.gap();
      continue;
    }
    const double x = chart.x_first + chart.x_step * static_cast<double>(i);
    path.add(kLeft + x_axis.share(x) * kPlotWidth,
             kTop + (1 - y_axis.share(curve.values[i])) * kPlotHeight);
  }
  return "<path class=\"curve " + curve.style_class + "\" d=\"" + path.finish() + "\"/>";
}
}  // namespace

std::string escape_html(std::string_view text) {
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

std::string line_chart(const LineChart& chart) {
  const Axis x_axis = horizontal_axis(chart);
  const Axis y_axis = vertical_axis(chart);
  std::string legend;
  std::string curves;
  for (const Curve& curve : chart.curves) {
    legend += "<span class=\"key\"><span class=\"chip " + curve.style_class + "\"></span>" +
              escape_html(curve.name) + "</span>";
    const auto is_finite = [](double value) { return std::isfinite(value); };
    if (std::count_if(curve.values.begin(), curve.values.end(), is_finite) < 2) continue;
    curves += draw_curve(chart, curve, x_axis, y_axis);
  }
  return "<figure class=\"card\"><h2>" + escape_html(chart.title) + "</h2><p class=\"legend\">" +
         legend + "</p><svg role=\"img\" viewBox=\"0 0 " + number(kWidth) + " " + number(kHeight) +
         "\" aria-label=\"" + escape_html(chart.title) + "\">" + draw_axes(chart, x_axis, y_axis) +
         curves + "</svg></figure>";
}
}  // namespace drey::trainer
