// micro_race.cpp: the micro programs, round by round. Cases of one thread run bound to one core, in
// a process that never starts a thread; those of several run apart, on all cores. Read next:
// race.hpp. SPDX-License-Identifier: MIT
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

/// "^(a|b|c)(/real_time)?$": names hold letters, digits, '_' and '/' only.
std::string exactly(const std::vector<std::string>& names) {
  std::string pattern = "^(";
  for (const std::string& name : names) pattern += (pattern.size() > 2 ? "|" : "") + name;
  return pattern + ")(" + kRealTimeSuffix + ")?$";
}

bool needs_threads(const std::string& name) {
  return name.rfind(kThreadsPrefix, 0) == 0;
}

/// A program's report on the given cases.
nlohmann::json run_cases(const Racer& racer, const std::vector<std::string>& cases,
                         bool bind_to_one_core, double case_seconds) {
  ChildCommand command;
  command.arguments = {racer.micro.string(), "--benchmark_format=json",
                       "--benchmark_filter=" + exactly(cases),
                       "--benchmark_min_time=" + std::to_string(case_seconds)};
  command.bind_to_one_core = bind_to_one_core;
  const ChildResult result = run_child(command);
  const std::string name = racer.micro.filename().string();
  if (!result.succeeded()) {
    throw RaceFailed(name + " failed with exit code " + std::to_string(result.exit_code) + ": " +
                     result.last_words());
  }
  auto report = nlohmann::json::parse(result.standard_output, nullptr, false);
  if (!report.is_object())
    throw RaceFailed(name + ": expected a JSON report, found something else");
  return report;
}

/// The answer the program put into its own report: of the very process that measured.
AllocatorAnswer answer_in(const std::string& program, const nlohmann::json& report) {
  const std::string text = report.value("/context/active_allocator"_json_pointer, std::string());
  return parse_answer(program, nlohmann::json::parse(text, nullptr, false));
}

void read_samples(RaceResults& results, const Racer& racer, const nlohmann::json& report) {
  for (const auto& entry : report.at("benchmarks")) {
    const std::string name = plain_name(entry.at("name").get<std::string>());
    const double nanoseconds = entry.value("pair_seconds", 0.0) * kNanosecondsPerSecond;
    if (!(nanoseconds > 0)) {
      throw RaceFailed(racer.micro.filename().string() + ": case " + name +
                       ": expected a time above 0, found " + std::to_string(nanoseconds) + " ns");
    }
    const auto same_name = [&](const MicroCase& one) { return one.name == name; };
    const auto found = std::find_if(results.micro.begin(), results.micro.end(), same_name);
    if (found != results.micro.end()) found->samples_ns[racer.key].push_back(nanoseconds);
  }
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

/// Both parts of a round for one racer.
void run_round(RaceResults& results, const Racer& racer, const std::vector<std::string>& single,
               const std::vector<std::string>& threaded) {
  const std::string name = racer.micro.filename().string();
  for (const bool bound : {true, false}) {
    const std::vector<std::string>& cases = bound ? single : threaded;
    if (cases.empty()) continue;
    const auto report = run_cases(racer, cases, bound, results.options.case_seconds);
    // It refuses by itself; a program that measured and says otherwise is not ours.
    if (const auto lie = find_lie(racer.claim, answer_in(name, report))) {
      throw RaceFailed(name + ": " + *lie + " while it measured");
    }
    read_samples(results, racer, report);
  }
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

  std::vector<std::string> single;
  std::vector<std::string> threaded;
  const std::regex quick(kQuickCases);
  for (const auto& name :
       list_micro_cases(results.racers[admitted.front()].micro, options.filter)) {
    if (options.quick && !std::regex_match(name, quick)) continue;
    (needs_threads(name) ? threaded : single).push_back(name);
    results.micro.push_back({name, {}});
  }
  if (results.micro.empty()) {
    throw BadInput("--filter: expected to match a micro case, found none for '" + options.filter +
                   "' (drey-bench list shows them)");
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (const std::size_t place : order_of_round(admitted.size(), round)) {
      const Racer& racer = results.racers[admitted[place]];
      show_progress("micro cases, round " + std::to_string(round + 1) + " of " +
                    std::to_string(options.rounds) + ": " + racer.micro.filename().string());
      run_round(results, racer, single, threaded);
    }
  }
  show_progress("");
}
}  // namespace drey::bench
