// replay_html.cpp: memory over the replay, drawn: one line an allocator, live bytes as a surface.
// Both axes are linear and begin at zero.
// Read next: replay_report.hpp.
// SPDX-License-Identifier: MIT
#include "race/format.hpp"
#include "race/page_style.hpp"
#include "race/svg_chart.hpp"
#include "replay/replay_report.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace drey::bench {
namespace {
// Lengths are in the units of the view box, about pixels.
constexpr double kWidth = 1000;
constexpr double kHeight = 380;
constexpr double kLeft = 70;
constexpr double kBottom = 30;
constexpr double kTop = 12;
constexpr int kTicks = 5;
constexpr std::array<const char*, 6> kColours = {"#0c7c72", "#8b929b", "#dd8a2e",
                                                 "#6b4fa0", "#b3261e", "#2f6db3"};

struct Scale {
  double events_max = 1;
  double bytes_max = 1;

  [[nodiscard]] double x(double events) const noexcept {
    return kLeft + events / events_max * (kWidth - kLeft - 10);
  }
  [[nodiscard]] double y(double bytes) const noexcept {
    return kHeight - kBottom - bytes / bytes_max * (kHeight - kBottom - kTop);
  }
};

Scale scale_for(const ReplayResults& results) {
  Scale scale;
  for (const ReplayRow& row : results.rows) {
    for (const CurvePoint& point : row.curve) {
      scale.events_max = std::max(scale.events_max, static_cast<double>(point.events));
      scale.bytes_max = std::max({scale.bytes_max, point.resident_bytes, point.live_bytes});
    }
  }
  return scale;
}

std::string points(const std::vector<CurvePoint>& curve, const Scale& scale,
                   double CurvePoint::*bytes) {
  const auto place = [&scale](double events, double value) {
    return fixed(scale.x(events), 1) + "," + fixed(scale.y(value), 1);
  };
  std::string text = place(0, 0);
  for (const CurvePoint& point : curve) {
    text += ' ';
    text += place(static_cast<double>(point.events), point.*bytes);
  }
  return text;
}

std::string axes(const Scale& scale) {
  std::string svg;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double bytes = scale.bytes_max * tick / kTicks;
    const std::string y = fixed(scale.y(bytes), 1);
    svg += "<line class=\"grid\" x1=\"" + fixed(kLeft, 0) + "\" y1=\"" + y + "\" x2=\"" +
           fixed(kWidth - 10, 0) + "\" y2=\"" + y + "\"/><text class=\"tick end\" x=\"" +
           fixed(kLeft - 8, 0) + "\" y=\"" + fixed(scale.y(bytes) + 4, 1) + "\">" +
           fixed(mebibytes(bytes), 1) + " MiB</text>";
  }
  return svg + "<text class=\"note end\" x=\"" + fixed(kWidth - 10, 0) + "\" y=\"" +
         fixed(kHeight - 8, 0) + "\">" + grouped(static_cast<std::uint64_t>(scale.events_max)) +
         " events</text>";
}

std::string drawing(const ReplayResults& results) {
  const Scale scale = scale_for(results);
  std::string svg =
      "<svg role=\"img\" viewBox=\"0 0 " + fixed(kWidth, 0) + " " + fixed(kHeight, 0) +
      "\" aria-label=\"resident memory over the replay, a line an allocator\">" + axes(scale);
  if (!results.rows.empty()) {
    const auto& curve = results.rows.front().curve;
    const double last = curve.empty() ? 0 : static_cast<double>(curve.back().events);
    svg += "<polygon fill=\"#8b929b\" opacity=\"0.18\" points=\"" +
           points(curve, scale, &CurvePoint::live_bytes) + " " + fixed(scale.x(last), 1) + "," +
           fixed(scale.y(0), 1) + "\"/>";
  }
  for (std::size_t index = 0; index < results.rows.size(); ++index) {
    svg += std::string("<polyline fill=\"none\" stroke-width=\"1.8\" stroke=\"") +
           kColours[index % kColours.size()] + "\" points=\"" +
           points(results.rows[index].curve, scale, &CurvePoint::resident_bytes) + "\"/>";
  }
  return svg + "</svg>";
}
}  // namespace

std::string replay_html(const ReplayResults& results) {
  std::string page =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<title>Replay</title><style>";
  page += kPageStyle;
  page += "</style></head><body><main><h1>" + escape_html(results.program) +
          "</h1><p>Resident memory over the replay of its trace; the grey surface is what was "
          "live.</p><ul class=\"legend\">";
  for (std::size_t index = 0; index < results.rows.size(); ++index) {
    page += std::string("<li><span class=\"chip\" style=\"background:") +
            kColours[index % kColours.size()] + "\"></span>" +
            escape_html(results.rows[index].allocator.name) + "</li>";
  }
  page += "</ul>" + drawing(results) + "<pre>" + escape_html(replay_text(results)) +
          "</pre><p class=\"soft\">" +
          escape_html(results.machine.cpu + "; " + results.machine.kernel + "; " +
                      results.machine.date) +
          "</p></main></body></html>\n";
  return page;
}
}  // namespace drey::bench
