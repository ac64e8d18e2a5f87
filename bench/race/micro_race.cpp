// micro_race.cpp: the micro programs, case by case: the racers run one after the other, each in a
// process of its own. Cases of one thread are bound to one core, those of several use all.
// Read next: race.hpp.
// SPDX-License-Identifier: MIT
#include "race/child.hpp"
#include "race/claim.hpp"
#include "race/error.hpp"
#include "race/race.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <sstream>

namespace drey::bench {
namespace {
constexpr const char* kThreadsPrefix = "threads_";
constexpr const char* kRealTimeSuffix = "/real_time";
/// One of each kind, small sizes in full: a first impression.
constexpr const char* kQuickCases =
    "pair/(16|64|256|900|1024)|burst_random/(64|900)|mixed/.*|large_pair/1048576|"
    "vector_of_225_floats|unordered_map_of_strings|vector225_(pair|burst)_.*|"
    "threads_(producer_consumer|exchange).*";
constexpr double kNanosecondsPerSecond = 1e9;

/// Google Benchmark's name without what it appends for the clock.
std::string plain_name(std::string name) {
  const std::string suffix = kRealTimeSuffix;
  if (name.size() > suffix.size() &&
      name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
    name.resize(name.size() - suffix.size());
  }
  return name;
}

/// "^name(/real_time)?$": names hold letters, digits, '_' and '/' only.
std::string exactly(const std::string& name) {
  return "^" + name + "(" + kRealTimeSuffix + ")?$";
}

bool needs_threads(const std::string& name) {
  return name.rfind(kThreadsPrefix, 0) == 0;
}

/// A program's report on one case. A process of its own: no case inherits another's heap.
nlohmann::json run_case(const Racer& racer, const std::string& name, double case_seconds) {
  ChildCommand command;
  command.arguments = {racer.micro.string(), "--benchmark_format=json",
                       "--benchmark_filter=" + exactly(name),
                       "--benchmark_min_time=" + std::to_string(case_seconds)};
  command.bind_to_one_core = !needs_threads(name);
  const ChildResult result = run_child(command);
  const std::string program = racer.micro.filename().string();
  if (!result.succeeded()) {
    throw RaceFailed(program + " failed with exit code " + std::to_string(result.exit_code) + ": " +
                     result.last_words());
  }
  auto report = nlohmann::json::parse(result.standard_output, nullptr, false);
  if (!report.is_object()) {
    throw RaceFailed(program + ": expected a JSON report, found something else");
  }
  return report;
}

/// The answer the program put into its own report: of the very process that measured.
AllocatorAnswer answer_in(const std::string& program, const nlohmann::json& report) {
  const std::string text = report.value("/context/active_allocator"_json_pointer, std::string());
  return parse_answer(program, nlohmann::json::parse(text, nullptr, false));
}

/// Nanoseconds a pair, of the one case in the report.
double read_sample(const std::string& program, const std::string& name,
                   const nlohmann::json& report) {
  const auto entries = report.value("benchmarks", nlohmann::json::array());
  const bool is_the_case =
      entries.size() == 1 && plain_name(entries[0].value("name", std::string())) == name;
  const double nanoseconds =
      is_the_case ? entries[0].value("pair_seconds", 0.0) * kNanosecondsPerSecond : 0.0;
  if (nanoseconds > 0) return nanoseconds;
  throw RaceFailed(program + ": case " + name + ": expected one time above 0, found none");
}

/// Asks the racer before it runs; a liar is recorded and left out.
bool is_admitted(RaceResults& results, Racer& racer) {
  const AllocatorAnswer answer = ask(racer.micro);
  if (const auto lie = find_lie(racer.claim, answer)) {
    results.refusals.push_back({racer.micro.filename().string(), *lie});
    return false;
  }
  if (!racer.answer) racer.answer = answer;
  return true;
}

/// One case of one racer in one round.
void run_sample(const RaceOptions& options, const Racer& racer, MicroCase& one) {
  const std::string program = racer.micro.filename().string();
  const auto report = run_case(racer, one.name, options.case_seconds);
  // It refuses by itself; a program that measured and says otherwise is not ours.
  if (const auto lie = find_lie(racer.claim, answer_in(program, report))) {
    throw RaceFailed(program + ": " + *lie + " while it measured");
  }
  one.samples_ns[racer.key].push_back(read_sample(program, one.name, report));
}

/// The cases that are wanted, without samples. Fails: BadInput if there are none.
std::vector<MicroCase> choose_cases(const RaceOptions& options,
                                    const std::filesystem::path& program) {
  std::vector<MicroCase> chosen;
  const std::regex quick(kQuickCases);
  for (const auto& name : list_micro_cases(program, options.filter)) {
    if (!options.quick || std::regex_match(name, quick)) chosen.push_back({name, {}});
  }
  if (!chosen.empty()) return chosen;
  throw BadInput("--filter: expected to match a micro case, found none for '" + options.filter +
                 "' (drey-bench list shows them)");
}
}  // namespace

std::vector<std::string> list_micro_cases(const std::filesystem::path& program,
                                          const std::string& filter) {
  ChildCommand command;
  command.arguments = {program.string(), "--benchmark_list_tests=true"};
  const ChildResult result = run_child(command);
  if (!result.succeeded()) throw RaceFailed(program.string() + ": " + result.last_words());
  std::istringstream lines(result.standard_output);
  const std::regex wanted(filter);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = plain_name(line);
    if (!name.empty() && std::regex_search(name, wanted)) names.push_back(name);
  }
  return names;
}

void race_micro(RaceResults& results) {
  const RaceOptions& options = results.options;
  std::vector<std::size_t> admitted;
  for (std::size_t place = 0; place < results.racers.size(); ++place) {
    if (is_admitted(results, results.racers[place])) admitted.push_back(place);
  }
  if (admitted.empty()) return;

  results.micro = choose_cases(options, results.racers[admitted.front()].micro);
  for (int round = 0; round < options.rounds; ++round) {
    for (MicroCase& one : results.micro) {
      show_progress("micro cases, round " + std::to_string(round + 1) + " of " +
                    std::to_string(options.rounds) + ": " + one.name);
      for (const std::size_t place : order_of_round(admitted.size(), round)) {
        run_sample(options, results.racers[admitted[place]], one);
      }
    }
  }
  show_progress("");
}
}  // namespace drey::bench
