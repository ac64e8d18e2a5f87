// peer_report_text.cpp: the tables on the terminal.
// Read next: peer_report.hpp.
// SPDX-License-Identifier: MIT
#include "peers/peer_report.hpp"
#include "race/format.hpp"
#include "race/text_table.hpp"

namespace drey::bench {
namespace {
std::string table_of_means(const HeadToHead& results) {
  if (results.means.empty()) return "";
  std::vector<std::string> header = {"geometric means / " + results.reference};
  for (const Contender& contender : results.contenders) header.push_back(contender.name);
  TextTable table(header);
  for (const Mean& mean : results.means) {
    std::vector<std::string> cells = {mean.title};
    for (const Contender& contender : results.contenders) {
      const auto found = mean.ratios.find(contender.name);
      cells.push_back(found == mean.ratios.end() ? "-" : fixed(found->second, 3));
    }
    table.add_row(cells);
  }
  return "\n" + table.text();
}
}  // namespace

std::string head_to_head_text(const HeadToHead& results) {
  const Machine& machine = results.machine;
  std::string text = machine.cpu + ", " + plural(machine.cores, "core") + "; " +
                     machine.distribution + ", " + machine.kernel +
                     "; huge pages: " + machine.transparent_huge_pages +
                     "; load before: " + machine.load + "; " + machine.date + "\n";
  for (const Contender& contender : results.contenders) {
    text += "  " + contender.name + ": " + version_text(contender) + "\n";
  }
  for (const std::string& group : shown_groups(results)) {
    TextTable table(header_cells(results, group));
    for (const Row& row : results.rows) {
      if (row.is_shown && row.group == group) table.add_row(row_cells(results, row));
    }
    text += "\n" + table.text();
  }
  text += table_of_means(results) + "\n";
  for (const Goal& goal : results.goals) {
    text += (goal.is_met ? "met     " : "missed  ") + goal.sentence + ": " + goal.figure + "\n";
  }
  text += "Minima of " + plural(results.rounds, "round") + "; less is better everywhere.\n";
  for (const Refusal& failure : results.failures) {
    text += "FAILED " + failure.program + ": " + failure.reason + "\n";
  }
  return text;
}
}  // namespace drey::bench
