// case_race.cpp: see case_race.hpp.
// SPDX-License-Identifier: MIT
#include "peers/case_race.hpp"

#include "peers/case_targets.hpp"
#include "peers/contenders.hpp"
#include "race/child.hpp"
#include "race/error.hpp"
#include "race/race.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <sstream>

namespace drey::bench {
namespace {
constexpr int kMemoryRounds = 2;
constexpr int kCaseLimitSeconds = 300;
constexpr const char* kRestCase = "memory/rest";  // measured by a program of libc alone

struct CaseEntry {
  std::string group;
  std::string name;
  bool needs_threads = false;
  bool is_big = false;
};

std::vector<CaseEntry> list_cases(const std::filesystem::path& program) {
  ChildCommand command;
  command.arguments = {program.string(), "list"};
  const ChildResult result = run_child(command);
  std::vector<CaseEntry> entries;
  std::istringstream lines(result.standard_output);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) throw RaceFailed(program.string() + ": expected a case, found " + line);
    entries.push_back({json.value("group", ""), json.value("name", ""),
                       json.value("threads", false), json.value("big", false)});
  }
  entries.push_back({"memory", kRestCase, false, false});
  return entries;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The wanted ones. Fails: BadInput if a group is unknown or nothing is left.
std::vector<CaseEntry> choose_cases(const CaseRaceOptions& options,
                                    const std::vector<CaseEntry>& all) {
  for (const std::string& group : options.groups) {
    const bool is_known = std::any_of(all.begin(), all.end(),
                                      [&](const CaseEntry& entry) { return entry.group == group; });
    if (!is_known) throw BadInput("--group: expected a group of cases, found '" + group + "'");
  }
  const std::regex wanted(options.common.filter);
  std::vector<CaseEntry> chosen;
  for (const CaseEntry& entry : all) {
    const bool is_wanted = (options.groups.empty() || contains(options.groups, entry.group)) &&
                           (options.big || !entry.is_big) && std::regex_search(entry.name, wanted);
    if (is_wanted) chosen.push_back(entry);
  }
  if (chosen.empty()) throw BadInput("--filter: expected to match a case, found none");
  return chosen;
}

/// Figures by name; {"rest_bytes"} of the probe is made to look like those of a case.
nlohmann::json run_case(const CaseRaceOptions& options, const CaseEntry& entry,
                        const Contender& contender) {
  const bool is_rest = entry.name == kRestCase;
  const auto program =
      options.common.bin_dir / (is_rest ? "drey-footprint-probe" : "drey-peer-cases");
  ChildCommand command;
  command.arguments = {program.string()};
  if (!is_rest) {
    command.arguments.insert(command.arguments.end(),
                             {"run", entry.name, std::to_string(options.case_seconds)});
  }
  command.environment = {{"LD_PRELOAD", contender.library.string()}};
  command.bind_to_one_core = !entry.needs_threads;
  command.limit_seconds = kCaseLimitSeconds;
  const ChildResult result = run_child(command);
  if (!result.succeeded()) {
    throw RaceFailed("exit code " + std::to_string(result.exit_code) + ": " + result.last_words());
  }
  const auto report = nlohmann::json::parse(result.standard_output, nullptr, false);
  if (!report.is_object()) throw RaceFailed("expected a report, found something else");
  if (is_rest) return {{"rest_bytes", report.value("rest_bytes", 0.0)}};
  require_library(contender, report.value("library", ""));
  return report.value("figures", nlohmann::json::object());
}

/// The rows of one case, made when its first figures come; an index by figure.
class RowsOfCase {
 public:
  RowsOfCase(HeadToHead& results, const CaseEntry& entry) : results_(results), entry_(entry) {}

  void add(const std::string& contender, const nlohmann::json& figures) {
    for (const auto& [figure, value] : figures.items()) {
      const auto [place, is_new] = places_.try_emplace(figure, results_.rows.size());
      if (is_new) results_.rows.push_back(row_for(entry_.group, entry_.name, figure));
      results_.rows[place->second].samples[contender].push_back(value.get<double>() *
                                                                shown_factor(figure));
    }
  }

 private:
  HeadToHead& results_;
  const CaseEntry& entry_;
  std::map<std::string, std::size_t> places_;
};

void run_one(const CaseRaceOptions& options, const CaseEntry& entry, HeadToHead& results) {
  RowsOfCase rows(results, entry);
  std::vector<bool> has_failed(results.contenders.size());
  const int rounds =
      entry.group == "memory" ? std::min(kMemoryRounds, results.rounds) : results.rounds;
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t place : order_of_round(results.contenders.size(), round)) {
      if (has_failed[place]) continue;
      const Contender& contender = results.contenders[place];
      try {
        rows.add(contender.name, run_case(options, entry, contender));
      } catch (const RaceFailed& failure) {
        if (std::string(failure.what()) == "interrupted") throw;
        has_failed[place] = true;
        results.failures.push_back({contender.name + ", " + entry.name, failure.what()});
      }
    }
  }
}
}  // namespace

HeadToHead race_cases(const CaseRaceOptions& options, Machine machine) {
  HeadToHead results;
  results.kind = "peers";
  results.machine = std::move(machine);
  results.rounds = options.common.rounds;
  results.reference = options.common.reference;
  results.settings = {{"case_seconds", std::to_string(options.case_seconds)}};
  results.contenders = find_contenders(options.common);
  const auto cases = choose_cases(options, list_cases(options.common.bin_dir / "drey-peer-cases"));
  if (cases.back().name == kRestCase) {
    require_program(options.common.bin_dir / "drey-footprint-probe");
  }
  for (std::size_t index = 0; index < cases.size(); ++index) {
    show_progress("case " + std::to_string(index + 1) + " of " + std::to_string(cases.size()) +
                  ": " + cases[index].name);
    run_one(options, cases[index], results);
  }
  show_progress("");
  sum_up_cases(results);
  return results;
}
}  // namespace drey::bench
