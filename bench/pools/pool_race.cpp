// pool_race.cpp: see pool_race.hpp.
// SPDX-License-Identifier: MIT
#include "pools/pool_race.hpp"

#include "peers/contenders.hpp"
#include "pools/pool_targets.hpp"
#include "race/child.hpp"
#include "race/error.hpp"
#include "race/race.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include <unistd.h>

namespace drey::bench {
namespace {
constexpr const char* kProgram = "drey-pool-cases";
constexpr const char* kDreyMalloc = "drey_malloc";
constexpr const char* kMallocWay = "malloc";
constexpr const char* kMimalloc = "mimalloc";
constexpr int kMemoryRounds = 2;
constexpr int kCaseLimitSeconds = 300;

struct PoolCaseEntry {
  std::string group;
  std::string name;
  bool needs_threads = false;
  std::set<std::string> ways;
};

/// The cases in the order of the program's list, their ways collected.
std::vector<PoolCaseEntry> list_cases(const std::filesystem::path& program,
                                      std::vector<std::string>& ways) {
  ChildCommand command;
  command.arguments = {program.string(), "list"};
  const ChildResult result = run_child(command);
  std::vector<PoolCaseEntry> entries;
  std::istringstream lines(result.standard_output);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) throw RaceFailed(program.string() + ": expected a case, found " + line);
    const std::string name = json.value("name", "");
    const std::string way = json.value("way", "");
    auto entry = std::find_if(entries.begin(), entries.end(),
                              [&](const PoolCaseEntry& one) { return one.name == name; });
    if (entry == entries.end()) {
      entry = entries.insert(entries.end(),
                             {json.value("group", ""), name, json.value("threads", false), {}});
    }
    entry->ways.insert(way);
    if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
  }
  return entries;
}

/// The wanted ones. Fails: BadInput if a group is unknown or nothing is left.
std::vector<PoolCaseEntry> choose_cases(const CaseRaceOptions& options,
                                        const std::vector<PoolCaseEntry>& all) {
  const std::set<std::string> groups(options.groups.begin(), options.groups.end());
  for (const std::string& group : groups) {
    const bool is_known = std::any_of(
        all.begin(), all.end(), [&](const PoolCaseEntry& entry) { return entry.group == group; });
    if (!is_known) throw BadInput("--group: expected a group of cases, found '" + group + "'");
  }
  const std::regex wanted(options.common.filter);
  std::vector<PoolCaseEntry> chosen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const PoolCaseEntry& one) {
    return (groups.empty() || groups.count(one.group) != 0) && std::regex_search(one.name, wanted);
  });
  if (chosen.empty()) throw BadInput("--filter: expected to match a case, found none");
  return chosen;
}

/// One contender with its way: all malloc contenders share one.
struct WayRacer {
  std::string name;
  std::string way;
};

/// Adds the mimalloc that the build found, unless the user brings one.
PeerOptions with_known_peers(PeerOptions options) {
  const std::string library = DREY_BENCH_MIMALLOC;
  const bool is_given =
      std::any_of(options.peers.begin(), options.peers.end(),
                  [](const std::string& peer) { return peer.rfind("mimalloc=", 0) == 0; });
  if (!is_given && !library.empty() && access(library.c_str(), R_OK) == 0) {
    options.peers.push_back(std::string(kMimalloc) + "=" + library);
  }
  return options;
}

/// Fills in the contenders; a racer for each.
std::vector<WayRacer> add_contenders(const PeerOptions& options,
                                     const std::vector<std::string>& ways, HeadToHead& results) {
  std::vector<Contender> with_malloc = find_contenders(with_known_peers(options));
  with_malloc[0].name = kDreyMalloc;
  std::swap(with_malloc[0], with_malloc[1]);  // the system's first
  results.contenders = {{kSubject, {}, "drey's pools", {}}};
  std::vector<WayRacer> racers = {{kSubject, kSubject}};
  for (Contender& contender : with_malloc) {
    racers.push_back({contender.name, kMallocWay});
    results.contenders.push_back(std::move(contender));
  }
  for (const std::string& way : ways) {
    if (way == kSubject || way == kMallocWay) continue;
    racers.push_back({way, way});
    results.contenders.push_back({way, {}, "on the system's malloc", {}});
  }
  return racers;
}

nlohmann::json run_case(const CaseRaceOptions& options, const PoolCaseEntry& entry,
                        const WayRacer& racer, const Contender& contender) {
  ChildCommand command;
  command.arguments = {(options.common.bin_dir / kProgram).string(), "run", entry.name, racer.way,
                       std::to_string(options.case_seconds)};
  command.environment = {{"LD_PRELOAD", contender.library.string()}};
  command.bind_to_one_core = !entry.needs_threads;
  command.limit_seconds = kCaseLimitSeconds;
  const ChildResult result = run_child(command);
  if (!result.succeeded()) {
    throw RaceFailed("exit code " + std::to_string(result.exit_code) + ": " + result.last_words());
  }
  const auto report = nlohmann::json::parse(result.standard_output, nullptr, false);
  if (!report.is_object()) throw RaceFailed("expected a report, found something else");
  require_library(contender, report.value("library", ""));
  return report.value("figures", nlohmann::json::object());
}

void run_one(const CaseRaceOptions& options, const PoolCaseEntry& entry,
             const std::vector<WayRacer>& racers, HeadToHead& results) {
  std::map<std::string, Row> rows;  // by figure
  std::vector<bool> is_out(racers.size());
  const bool is_memory = entry.name.find("/memory") != std::string::npos;
  const int rounds = is_memory ? std::min(kMemoryRounds, results.rounds) : results.rounds;
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t place : order_of_round(racers.size(), round)) {
      if (is_out[place] || entry.ways.count(racers[place].way) == 0) continue;
      try {
        const auto figures = run_case(options, entry, racers[place], results.contenders[place]);
        for (const auto& [figure, value] : figures.items()) {
          const auto [row, is_new] = rows.try_emplace(figure);
          if (is_new) row->second = pool_row(entry.group, entry.name, figure);
          row->second.samples[racers[place].name].push_back(value.get<double>());
        }
      } catch (const RaceFailed& failure) {
        if (std::string(failure.what()) == "interrupted") throw;
        is_out[place] = true;
        results.failures.push_back({racers[place].name + ", " + entry.name, failure.what()});
      }
    }
  }
  for (const auto& [figure, row] : rows) add_rows_with_targets(entry.name, figure, row, results);
}
}  // namespace

HeadToHead race_pools(const CaseRaceOptions& options, Machine machine) {
  const auto program = options.common.bin_dir / kProgram;
  require_program(program);
  HeadToHead results;
  results.kind = "pools";
  results.machine = std::move(machine);
  results.rounds = options.common.rounds;
  results.reference = options.common.reference;
  results.settings = {{"case_seconds", std::to_string(options.case_seconds)}};
  std::vector<std::string> ways;
  const auto cases = choose_cases(options, list_cases(program, ways));
  const std::vector<WayRacer> racers = add_contenders(options.common, ways, results);
  for (std::size_t index = 0; index < cases.size(); ++index) {
    show_progress("case " + std::to_string(index + 1) + " of " + std::to_string(cases.size()) +
                  ": " + cases[index].name);
    run_one(options, cases[index], racers, results);
  }
  show_progress("");
  sum_up_pools(results);
  return results;
}
}  // namespace drey::bench
