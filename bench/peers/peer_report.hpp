// peer_report.hpp: the three faces of a head-to-head: text for the terminal, JSON with every sample,
// Markdown for documents. All show minima of the rounds and the same verdicts (verdict.hpp).
//
// Paths are cut to names in all of them: where a library lay says nothing to a reader.
// Read next: peer_report_text.cpp, peer_report_json.cpp, peer_report_markdown.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/head_to_head.hpp"

#include <string>
#include <vector>

namespace drey::bench {
[[nodiscard]] std::string head_to_head_text(const HeadToHead& results);
[[nodiscard]] std::string head_to_head_json(const HeadToHead& results);
[[nodiscard]] std::string head_to_head_markdown(const HeadToHead& results);

/// "a/b/drey-bench peers --peer x=/c/d.so" -> "drey-bench peers --peer x=d.so"
[[nodiscard]] std::string shortened_command(const std::string& command);

/// The groups in the order of their first rows.
[[nodiscard]] std::vector<std::string> shown_groups(const HeadToHead& results);

/// As the user gave it, else "name version" as the library says it, else the file's name.
[[nodiscard]] std::string version_text(const Contender& contender);

/// Header and cells of a row: name, the contenders' minima, best peer, ratios, verdict.
[[nodiscard]] std::vector<std::string> header_cells(const HeadToHead& results,
                                                    const std::string& group);
[[nodiscard]] std::vector<std::string> row_cells(const HeadToHead& results, const Row& row);
}  // namespace drey::bench
