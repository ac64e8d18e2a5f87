// peer_report_cells.cpp: the cells that the text table and the Markdown table share.
// Read next: peer_report.hpp.
// SPDX-License-Identifier: MIT
#include "peers/peer_report.hpp"
#include "peers/verdict.hpp"
#include "race/format.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace drey::bench {
namespace {
std::string number_text(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  if (unit == "ns") return duration(*value);
  if (unit == "s" && *value > 0) return duration(*value * 1e9);
  if (unit == "%") return fixed(*value, 1);
  if (unit == "faults") return grouped(static_cast<std::uint64_t>(*value));
  return fixed(*value, *value < 10 ? 2 : 1);
}

std::string ratio_cell(const std::optional<double>& ratio) {
  return ratio ? ratio_number(*ratio) : "-";
}

/// The part of a word behind its last slash, kept behind the "NAME=" in front.
std::string shortened_word(const std::string& word) {
  const std::size_t slash = word.rfind('/');
  if (slash == std::string::npos) return word;
  const std::size_t equals = word.find('=');
  const bool has_name = equals != std::string::npos && equals < slash;
  return (has_name ? word.substr(0, equals + 1) : "") + word.substr(slash + 1);
}
}  // namespace

std::string shortened_command(const std::string& command) {
  std::istringstream words(command);
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + shortened_word(word);
  return text;
}

std::vector<std::string> shown_groups(const HeadToHead& results) {
  std::vector<std::string> groups;
  for (const Row& row : results.rows) {
    const bool is_known = std::find(groups.begin(), groups.end(), row.group) != groups.end();
    if (row.is_shown && !is_known) groups.push_back(row.group);
  }
  return groups;
}

std::string version_text(const Contender& contender) {
  if (!contender.version.empty()) return contender.version;
  const bool is_known = contender.library.empty() || contender.answer.name != "glibc";
  const std::string name = is_known && contender.answer.name != "unknown"
                               ? contender.answer.name
                               : contender.library.filename().string();
  return contender.answer.version.empty() ? name : name + " " + contender.answer.version;
}

std::vector<std::string> header_cells(const HeadToHead& results, const std::string& group) {
  std::vector<std::string> cells = {group};
  for (const Contender& contender : results.contenders) cells.push_back(contender.name);
  cells.insert(cells.end(),
               {"best other", "/ best", "/ best, medians", "/ " + results.reference, "target"});
  return cells;
}

std::vector<std::string> row_cells(const HeadToHead& results, const Row& row) {
  const bool has_own_unit = row.unit != "ns" && row.unit != "s";
  std::vector<std::string> cells = {row.name + (has_own_unit ? ", " + row.unit : "")};
  for (const Contender& contender : results.contenders) {
    cells.push_back(number_text(least(row, contender.name), row.unit));
  }
  const std::string best = best_peer(row);
  const auto verdict = judge(row);
  cells.push_back(best.empty() ? "-" : best);
  cells.push_back(ratio_cell(ratio_of(row, kSubject, best)));
  cells.push_back(ratio_cell(ratio_of(row, kSubject, best, median)));
  cells.push_back(ratio_cell(ratio_of(row, kSubject, results.reference)));
  cells.push_back(verdict ? verdict->text() : "-");
  return cells;
}
}  // namespace drey::bench
