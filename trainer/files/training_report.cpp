// training_report.cpp: see training_report.hpp. Two palettes, for light and dark; system fonts only.
// SPDX-License-Identifier: MIT
#include "trainer/files/training_report.hpp"

namespace drey::trainer {
namespace {
constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #ffffff; --ink: #22262b; --soft: #626a73;
  --line: #e4e1d8; --agent: #0c7c72; --market: #8a919b; --loss: #b4552d; --value: #3a5fa8; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181b; --card: #1d2125; --ink: #e8e6e1;
  --soft: #9aa2ab; --line: #31363c; --agent: #35b8a8; --market: #8b939d; --loss: #e08a5f; --value: #86a6ea; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 6px; }
h2 { font-size: 16px; margin: 0 0 4px; }
.soft { color: var(--soft); }
.figures { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); margin: 22px 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; margin: 0 0 14px; }
.figures .card { margin: 0; }
.figures strong { display: block; font-size: 26px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.legend { margin: 0 0 8px; font-size: 13px; color: var(--soft); }
.key { margin-right: 20px; white-space: nowrap; }
.chip { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 7px; vertical-align: -1px; }
svg { display: block; width: 100%; height: auto; }
text { font-size: 12px; fill: var(--soft); font-family: inherit; font-variant-numeric: tabular-nums; }
text.end { text-anchor: end; }
text.middle { text-anchor: middle; }
line.grid { stroke: var(--line); stroke-width: 1; }
.agent { background: var(--agent); stroke: var(--agent); }
.market { background: var(--market); stroke: var(--market); }
.loss { background: var(--loss); stroke: var(--loss); }
.value { background: var(--value); stroke: var(--value); }
path.curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.tables { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); }
table { border-collapse: collapse; font-size: 13px; width: 100%; font-variant-numeric: tabular-nums; }
td { padding: 3px 8px 3px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td:last-child { text-align: right; }
)css";

std::string figures_html(const ReportRows& figures) {
  std::string html = "<section class=\"figures\">";
  for (const auto& [what, value] : figures) {
    html += "<div class=\"card\"><strong>" + escape_html(value) + "</strong><span class=\"soft\">" +
            escape_html(what) + "</span></div>";
  }
  return html + "</section>";
}

std::string table_html(const std::string& title, const ReportRows& rows) {
  std::string html = "<section class=\"card\"><h2>" + title + "</h2><table><tbody>";
  for (const auto& [name, value] : rows)
    html += "<tr><td>" + escape_html(name) + "</td><td>" + escape_html(value) + "</td></tr>";
  return html + "</tbody></table></section>";
}
}  // namespace

std::string training_report_html(const TrainingReport& report) {
  std::string html =
      std::string("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>") +
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/><title>" +
      escape_html(report.title) + "</title><style>" + kStyle + "</style></head><body><main><h1>" +
      escape_html(report.title) + "</h1><p class=\"soft\">" + escape_html(report.subtitle) +
      "</p>" + figures_html(report.figures);
  for (const LineChart& chart : report.charts) html += line_chart(chart);
  return html + "<div class=\"tables\">" + table_html("Results", report.results) +
         table_html("Settings", report.settings) + "</div></main></body></html>\n";
}
}  // namespace drey::trainer
