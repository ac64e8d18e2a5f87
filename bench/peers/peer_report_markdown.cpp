// peer_report_markdown.cpp: the tables as Markdown, for docs/BENCHMARKS.md: first what is aimed at,
// then the means, then a table a group.
// Read next: peer_report.hpp.
// SPDX-License-Identifier: MIT
#include "peers/peer_report.hpp"
#include "race/format.hpp"

namespace drey::bench {
namespace {
std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

std::string head_of(const std::vector<std::string>& cells) {
  std::string text = line_of(cells) + "| --- |";
  for (std::size_t index = 1; index < cells.size(); ++index) text += " ---: |";
  return text + "\n";
}

std::string goals_of(const HeadToHead& results) {
  if (results.goals.empty()) return "";
  std::string text = "\n| target | figure | |\n| --- | --- | --- |\n";
  for (const Goal& goal : results.goals) {
    text += line_of({goal.sentence, goal.figure, goal.is_met ? "met" : "missed"});
  }
  return text;
}

std::string means_of(const HeadToHead& results) {
  if (results.means.empty()) return "";
  std::vector<std::string> header = {"geometric means / " + results.reference};
  for (const Contender& contender : results.contenders) header.push_back(contender.name);
  std::string text = "\n" + head_of(header);
  for (const Mean& mean : results.means) {
    std::vector<std::string> cells = {mean.title};
    for (const Contender& contender : results.contenders) {
      const auto found = mean.ratios.find(contender.name);
      cells.push_back(found == mean.ratios.end() ? "-" : fixed(found->second, 3));
    }
    text += line_of(cells);
  }
  return text;
}
}  // namespace

std::string head_to_head_markdown(const HeadToHead& results) {
  const Machine& machine = results.machine;
  std::string text = machine.cpu + ", " + plural(machine.cores, "core") + ", " +
                     fixed(machine.memory_gib, 1) + " GiB; " + machine.distribution + ", " +
                     machine.kernel + "; huge pages: " + machine.transparent_huge_pages +
                     "; load before: " + machine.load + "; " + machine.date + ".\n\n`" +
                     shortened_command(machine.command) + "`\n\n";
  for (const Contender& contender : results.contenders) {
    text += "- " + contender.name + ": " + version_text(contender) + "\n";
  }
  text += goals_of(results) + means_of(results);
  for (const std::string& group : shown_groups(results)) {
    text += "\n" + head_of(header_cells(results, group));
    for (const Row& row : results.rows) {
      if (row.is_shown && row.group == group) text += line_of(row_cells(results, row));
    }
  }
  for (const Refusal& failure : results.failures) {
    text += "\nNot measured: " + failure.program + ": " + failure.reason + "\n";
  }
  return text;
}
}  // namespace drey::bench
