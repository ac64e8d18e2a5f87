// trainer_race.cpp: the three trainers on the same bars, seed and steps, each bound to the same
// core, in an empty folder of its own; then once each with their heap calls counted.
// Read next: race.hpp, micro_race.cpp.
// SPDX-License-Identifier: MIT
#include "race/child.hpp"
#include "race/claim.hpp"
#include "race/error.hpp"
#include "race/race.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include <unistd.h>

namespace drey::bench {
namespace {
/// Removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "drey-bench.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw BadInput(name + ": cannot be made");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// What a trainer's run gave: its cost as we saw it, its report as it wrote it.
struct TrainerReport {
  ChildResult cost;
  nlohmann::json json;
};

TrainerReport run_trainer(const std::filesystem::path& program, const RaceOptions& options) {
  const TemporaryFolder folder;
  const std::filesystem::path report_path = folder.path() / "stats.json";
  ChildCommand command;
  command.arguments = {program.string(),
                       "--data",
                       options.data,
                       "--epochs",
                       std::to_string(options.epochs),
                       "--seed",
                       std::to_string(options.seed),
                       "--stats-json",
                       report_path.string()};
  if (options.max_steps) {
    command.arguments.insert(command.arguments.end(),
                             {"--max-steps", std::to_string(*options.max_steps)});
  }
  command.folder = folder.path();
  command.bind_to_one_core = true;
  TrainerReport report;
  report.cost = run_child(command);
  const std::string name = program.filename().string();
  if (report.cost.exit_code == 2) throw BadInput(name + " failed: " + report.cost.last_words());
  if (!report.cost.succeeded()) {
    throw RaceFailed(name + " failed with exit code " + std::to_string(report.cost.exit_code) +
                     ": " + report.cost.last_words());
  }
  std::ifstream file(report_path);
  report.json = nlohmann::json::parse(file, nullptr, false);
  if (!report.json.is_object()) {
    throw RaceFailed(name + ": expected a JSON object from --stats-json, found something else");
  }
  return report;
}

TrainerRun read_run(const std::string& program, int round, const TrainerReport& report) {
  try {
    TrainerRun run;
    run.round = round;
    run.wall_seconds = report.cost.wall_seconds;
    run.cpu_seconds = report.cost.cpu_seconds;
    run.train_seconds = report.json.at("train_seconds").get<double>();
    run.steps_per_second = report.json.at("gradient_steps_per_second").get<double>();
    run.gradient_steps = report.json.at("gradient_steps").get<std::uint64_t>();
    run.peak_rss_bytes = report.json.at("peak_rss_bytes").get<std::uint64_t>();
    run.weights_hash = report.json.at("weights_hash").get<std::string>();
    return run;
  } catch (const nlohmann::json::exception& error) {
    throw RaceFailed(program + ": its --stats-json lacks a figure: " + error.what());
  }
}

HeapCalls read_heap_calls(const std::string& program, const TrainerReport& report) {
  try {
    const nlohmann::json& calls = report.json.at("heap_calls");
    return {calls.at("total").get<std::uint64_t>(),
            calls.at("in_steps_after_warmup").get<std::uint64_t>()};
  } catch (const nlohmann::json::exception&) {
    throw RaceFailed(program +
                     ": expected heap_calls {total, in_steps_after_warmup}, found none: "
                     "it was linked without the counter");
  }
}

/// Checks the report's allocator; on a lie records the refusal and strikes the racer out.
bool is_honest(RaceResults& results, Racer& racer, const std::filesystem::path& program,
               const TrainerReport& report, std::set<std::string>& struck_out) {
  const std::string name = program.filename().string();
  const auto found = report.json.find("allocator");
  const AllocatorAnswer answer =
      parse_answer(name, found == report.json.end() ? nlohmann::json() : *found);
  if (const auto lie = find_lie(racer.claim, answer)) {
    results.refusals.push_back({name, *lie});
    results.trainer.erase(racer.key);
    struck_out.insert(racer.key);
    return false;
  }
  if (!racer.answer) racer.answer = answer;
  return true;
}

void run_rounds(RaceResults& results, std::set<std::string>& struck_out) {
  const int rounds = results.options.rounds;
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t place : order_of_round(results.racers.size(), round)) {
      Racer& racer = results.racers[place];
      if (struck_out.count(racer.key) != 0) continue;
      const std::string name = racer.trainer.filename().string();
      show_progress("trainer, round " + std::to_string(round + 1) + " of " +
                    std::to_string(rounds) + ": " + name);
      const TrainerReport report = run_trainer(racer.trainer, results.options);
      if (!is_honest(results, racer, racer.trainer, report, struck_out)) continue;
      results.trainer[racer.key].runs.push_back(read_run(name, round + 1, report));
    }
  }
}

void count_calls(RaceResults& results, std::set<std::string>& struck_out) {
  for (Racer& racer : results.racers) {
    if (struck_out.count(racer.key) != 0) continue;
    const std::string name = racer.counted_trainer.filename().string();
    show_progress("counting heap calls: " + name);
    const TrainerReport report = run_trainer(racer.counted_trainer, results.options);
    if (!is_honest(results, racer, racer.counted_trainer, report, struck_out)) continue;
    TrainerEntry& entry = results.trainer[racer.key];
    entry.heap_calls = read_heap_calls(name, report);
    const TrainerRun run = read_run(name, 0, report);
    if (run.weights_hash == entry.runs.front().weights_hash) continue;
    throw RaceFailed(name + " ended with weights " + run.weights_hash +
                     ", the uncounted one with " + entry.runs.front().weights_hash);
  }
}
}  // namespace

std::vector<std::size_t> order_of_round(std::size_t racer_count, int round) {
  std::vector<std::size_t> order(racer_count);
  for (std::size_t place = 0; place < racer_count; ++place) {
    order[place] = (place + static_cast<std::size_t>(round)) % racer_count;
  }
  return order;
}

void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());  // back to the start, clear the line
  std::fflush(stderr);
}

void race_trainers(RaceResults& results) {
  std::set<std::string> struck_out;
  run_rounds(results, struck_out);
  count_calls(results, struck_out);
  show_progress("");
  static_cast<void>(results.common_weights_hash());  // throws when they differ
}
}  // namespace drey::bench
