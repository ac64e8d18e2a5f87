// page_style.hpp: the look of the page: two palettes, one for light, one for dark; system fonts
// only. The racers' colours differ in lightness too, so that they are told apart without colour
// vision.
// Read next: report_html.cpp.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::bench {
inline constexpr const char* kPageStyle = R"css(
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #ffffff; --ink: #22262b; --soft: #626a73;
  --line: #e4e1d8; --drey: #0c7c72; --system: #a3a9b1; --mimalloc: #dd8a2e; --alarm: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181b; --card: #1d2125; --ink: #e8e6e1;
  --soft: #9aa2ab; --line: #31363c; --drey: #35b8a8; --system: #7b838d; --mimalloc: #e8a04c; --alarm: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 44px 24px 72px; }
h1 { font-size: 30px; line-height: 1.2; letter-spacing: -0.01em; margin: 0 0 6px; }
h2 { font-size: 20px; margin: 46px 0 4px; }
h3 { font-size: 13px; font-weight: 600; margin: 0 0 8px; }
h4 { font-size: 12px; font-weight: 600; letter-spacing: 0.06em; text-transform: uppercase;
  color: var(--soft); margin: 28px 0 10px; }
p { margin: 4px 0 14px; max-width: 74ch; }
.soft, figcaption { color: var(--soft); font-size: 13px; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 22px; margin: 18px 0 0; padding: 0; list-style: none; }
.chip { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 7px;
  vertical-align: -1px; }
.grid { display: grid; gap: 14px; grid-template-columns: repeat(auto-fill, minmax(310px, 1fr)); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px 10px;
  margin: 0; }
.figures { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(225px, 1fr)); margin-top: 22px; }
.figures strong { display: block; font-size: 32px; line-height: 1.15; font-weight: 650; letter-spacing: -0.02em; }
.refused { border-left: 4px solid var(--alarm); background: var(--card); padding: 10px 16px; margin: 20px 0 0; }
svg { display: block; width: 100%; height: auto; }
text { font-size: 12px; fill: var(--ink); font-family: inherit; }
text.label, text.tick, text.note { fill: var(--soft); }
text.value { font-variant-numeric: tabular-nums; }
text.end { text-anchor: end; }
text.middle { text-anchor: middle; }
.drey { fill: var(--drey); background: var(--drey); stroke: var(--drey); }
.system { fill: var(--system); background: var(--system); stroke: var(--system); }
.mimalloc { fill: var(--mimalloc); background: var(--mimalloc); stroke: var(--mimalloc); }
rect { stroke: none !important; }
circle { stroke-width: 1.8; }
circle.hollow { fill: var(--card); }
line.whisker { stroke: var(--ink); stroke-width: 1.3; }
line.spread { stroke-width: 2.2; opacity: 0.55; }
line.grid, line.rule { stroke: var(--line); stroke-width: 1; }
line.one, line.axis { stroke: var(--soft); stroke-width: 1.2; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; width: 100%; }
th, td { text-align: right; padding: 4px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
th { color: var(--soft); font-weight: 600; }
.scroll { overflow-x: auto; }
summary { cursor: pointer; color: var(--soft); margin: 20px 0 10px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; font-size: 13px; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 12px; }
)css";
}  // namespace drey::bench
