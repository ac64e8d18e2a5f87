// report.hpp: the three faces of the results: text for the terminal, JSON for machines, a page for
// people. All show the same medians, spreads and ties (comparisons.hpp).
// Read next: report_text.cpp, report_json.cpp, report_html.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/results.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace drey::bench {
/// Tables in plain text; refusals as their own lines at the end.
[[nodiscard]] std::string report_text(const RaceResults& results);

/// Every sample and every summary. "format" counts up when a field changes its meaning.
[[nodiscard]] std::string report_json(const RaceResults& results);

/// The bars' name without the folder, for titles.
[[nodiscard]] std::string data_name(const RaceOptions& options);

[[nodiscard]] nlohmann::ordered_json machine_json(const Machine& machine);

/// One self-contained page: no script, no network, inline SVG; light and dark.
[[nodiscard]] std::string report_html(const RaceResults& results);
}  // namespace drey::bench
