// program_race.cpp: see program_race.hpp.
// SPDX-License-Identifier: MIT
#include "peers/program_race.hpp"

#include "peers/contenders.hpp"
#include "peers/goals.hpp"
#include "peers/program_list.hpp"
#include "peers/verdict.hpp"
#include "race/child.hpp"
#include "race/error.hpp"
#include "race/format.hpp"
#include "race/race.hpp"

#include <nlohmann/json.hpp>

#include <regex>

namespace drey::bench {
namespace {
constexpr int kProgramLimitSeconds = 600;
constexpr double kCpuMeanMax = 0.85;
constexpr double kCpuWorstMax = 1.05;
constexpr double kMemoryMeanMax = 0.54;
constexpr double kBytesInMebibyte = 1024.0 * 1024.0;
constexpr const char* kCpuGroup = "CPU time";
constexpr const char* kMemoryGroup = "peak memory";
constexpr const char* kFaultGroup = "page faults";

/// One run: figures by group.
using Measured = std::map<std::string, double>;

ChildCommand command_for(const ProgramRaceOptions& options, const ProgramEntry& entry,
                         const Contender& contender) {
  ChildCommand command;
  command.arguments = {(options.common.bin_dir / "drey-launcher").string(),
                       "LD_PRELOAD=" + contender.library.string(), "--"};
  command.arguments.insert(command.arguments.end(), entry.command.begin(), entry.command.end());
  // A name without a slash is looked for in the folder first, then where the system does.
  const auto own = options.folder / entry.command.front();
  if (std::filesystem::exists(own)) command.arguments[3] = std::filesystem::absolute(own).string();
  command.environment = {{"LD_PRELOAD", ""}};  // the launcher's own malloc is of no interest
  command.folder = options.folder;
  command.standard_input = entry.standard_input.empty() ? "/dev/null" : entry.standard_input;
  command.limit_seconds = kProgramLimitSeconds;
  return command;
}

double number_in(const std::string& output, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_search(output, match, std::regex(pattern))) {
    throw RaceFailed("its output has no '" + pattern + "'");
  }
  const double number = std::strtod(match[1].str().c_str(), nullptr);
  if (!(number > 0)) throw RaceFailed("expected a number above 0 in '" + match[0].str() + "'");
  return number;
}

Measured run_program(const ProgramRaceOptions& options, const ProgramEntry& entry,
                     const Contender& contender) {
  const ChildResult result = run_child(command_for(options, entry, contender));
  if (!result.succeeded()) {
    throw RaceFailed("exit code " + std::to_string(result.exit_code));
  }
  const auto report = nlohmann::json::parse(result.last_words(), nullptr, false);
  if (!report.is_object()) throw RaceFailed("expected the launcher's report, found none");
  const auto value = [&](const char* key) { return report.value(key, 0.0); };
  double cpu_seconds = value("user_seconds") + value("system_seconds");
  const std::string output = result.standard_output + result.standard_error;
  if (!entry.time_pattern.empty()) cpu_seconds = number_in(output, entry.time_pattern);
  if (!entry.count_pattern.empty()) cpu_seconds /= number_in(output, entry.count_pattern);
  return {{kCpuGroup, cpu_seconds},
          {kMemoryGroup, value("peak_rss_bytes") / kBytesInMebibyte},
          {kFaultGroup, value("minor_faults") + value("major_faults")}};
}

Row row_for(const ProgramEntry& entry, const std::string& group) {
  Row row;
  row.group = group;
  row.name = entry.name;
  row.unit = group == kCpuGroup ? "s" : group == kMemoryGroup ? "MiB" : "faults";
  // The time of a program that does little with its heap says nothing of the heap.
  row.is_shown = group != kCpuGroup || entry.is_heap_bound;
  return row;
}

void run_one(const ProgramRaceOptions& options, const ProgramEntry& entry, HeadToHead& results,
             std::map<std::string, std::vector<Row>>& rows) {
  std::map<std::string, Row> own;
  for (const char* group : {kCpuGroup, kMemoryGroup, kFaultGroup})
    own[group] = row_for(entry, group);
  std::vector<bool> has_failed(results.contenders.size());
  for (int round = 0; round < results.rounds; ++round) {
    for (const std::size_t place : order_of_round(results.contenders.size(), round)) {
      if (has_failed[place]) continue;
      const Contender& contender = results.contenders[place];
      try {
        for (const auto& [group, value] : run_program(options, entry, contender)) {
          own[group].samples[contender.name].push_back(value);
        }
      } catch (const RaceFailed& failure) {
        if (std::string(failure.what()) == "interrupted") throw;
        has_failed[place] = true;
        results.failures.push_back({contender.name + ", " + entry.name, failure.what()});
      }
    }
  }
  for (auto& [group, row] : own) rows[group].push_back(std::move(row));
}

void add_goal_of_worst(HeadToHead& results) {
  double worst = 0;
  std::string name;
  for (const Row& row : results.rows) {
    const auto ratio = ratio_of(row, kSubject, results.reference);
    if (row.group != kCpuGroup || !row.is_shown || !ratio || *ratio < worst) continue;
    worst = *ratio;
    name = row.name;
  }
  if (name.empty()) return;
  results.goals.push_back(
      {"CPU time: none above " + limit_text(kCpuWorstMax) + " x " + results.reference,
       fixed(worst, 3) + " (" + name + ")", worst <= kCpuWorstMax});
}

void sum_up(HeadToHead& results) {
  for (const char* group : {kCpuGroup, kMemoryGroup}) {
    add_mean(results, group,
             [group](const Row& row) { return row.is_shown && row.group == group; });
  }
  add_goal_of_mean(results, kCpuGroup, kCpuMeanMax);
  add_goal_of_worst(results);
  add_goal_of_mean(results, kMemoryGroup, kMemoryMeanMax);
}
}  // namespace

HeadToHead race_programs(const ProgramRaceOptions& options, Machine machine) {
  HeadToHead results;
  results.kind = "programs";
  results.machine = std::move(machine);
  results.rounds = options.common.rounds;
  results.reference = options.common.reference;
  const auto entries = read_program_list(options.commands.empty() ? options.folder / "programs.txt"
                                                                  : options.commands);
  require_program(options.common.bin_dir / "drey-launcher");
  results.contenders = find_contenders(options.common);
  const std::regex wanted(options.common.filter);
  std::map<std::string, std::vector<Row>> rows;
  for (const ProgramEntry& entry : entries) {
    if (!std::regex_search(entry.name, wanted)) continue;
    show_progress("program " + entry.name);
    run_one(options, entry, results, rows);
  }
  show_progress("");
  if (rows.empty()) throw BadInput("--filter: expected to match a program, found none");
  for (const char* group : {kCpuGroup, kMemoryGroup, kFaultGroup}) {
    results.rows.insert(results.rows.end(), rows[group].begin(), rows[group].end());
  }
  sum_up(results);
  return results;
}
}  // namespace drey::bench
