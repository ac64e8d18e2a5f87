// report_text.cpp: the tables on the terminal.
// Read next: report.hpp, comparisons.hpp.
// SPDX-License-Identifier: MIT
#include "race/comparisons.hpp"
#include "race/format.hpp"
#include "race/report.hpp"
#include "race/text_table.hpp"

namespace drey::bench {
namespace {
std::string machine_lines(const RaceResults& results) {
  const Machine& machine = results.machine;
  std::string text = machine.cpu + ", " + plural(machine.cores, "core") + ", " +
                     fixed(machine.memory_gib, 1) + " GiB; " + machine.distribution + ", " +
                     machine.kernel + "\n" + machine.compiler +
                     "; huge pages: " + machine.transparent_huge_pages +
                     "; load before: " + machine.load + "; " + machine.date + "\n";
  for (const Racer& racer : results.racers) {
    if (!racer.answer) continue;
    text += "  " + racer.key + ": " + racer.answer->name + " " + racer.answer->version + ", " +
            racer.answer->how + "\n";
  }
  return text;
}

std::string trainer_title(const RaceResults& results) {
  const RaceOptions& options = results.options;
  std::string text = "Trainer: " + data_name(options) + ", " + plural(options.epochs, "epoch");
  if (options.max_steps) text += ", at most " + std::to_string(*options.max_steps) + " steps";
  return text + ", seed " + std::to_string(options.seed) + ", one core; medians of " +
         plural(options.rounds, "round") + "\n";
}

std::vector<std::string> trainer_row(const RaceResults& results, const Racer& racer,
                                     const std::vector<Pairing>& pairs) {
  const TrainerEntry& entry = results.trainer.at(racer.key);
  const auto median_of = [&](auto field) { return summarise(entry.column(field)).median; };
  std::vector<std::string> row = {
      racer.title(),
      fixed(median_of(&TrainerRun::wall_seconds), 2),
      fixed(median_of(&TrainerRun::cpu_seconds), 2),
      grouped(static_cast<std::uint64_t>(median_of(&TrainerRun::steps_per_second))),
      fixed(mebibytes(median_of(&TrainerRun::peak_rss_bytes)), 1),
      entry.heap_calls ? grouped(entry.heap_calls->total) : "-",
      entry.heap_calls ? grouped(entry.heap_calls->in_steps_after_warmup) : "-"};
  for (const Pairing& pair : pairs) {
    if (&racer == pair.reference) row.push_back(ratio_text(compare_trainers(results, pair)));
  }
  return row;
}

std::string trainer_table(const RaceResults& results) {
  const auto racers = results.trainer_racers();
  if (racers.empty()) return "";
  std::vector<std::string> header = {"allocator",    "seconds",    "CPU s",      "steps/s",
                                     "peak RSS MiB", "heap calls", "in the step"};
  const auto pairs = pairings(racers);
  if (!pairs.empty()) header.push_back("CPU of " + racers.front()->key + " / its");
  TextTable table(header);
  for (const Racer* racer : racers) table.add_row(trainer_row(results, *racer, pairs));
  return "\n" + trainer_title(results) + table.text() +
         "Weights after training: " + results.common_weights_hash() + ", equal under " +
         (racers.size() == 1 ? "the one that ran" : "all " + std::to_string(racers.size())) +
         ". Heap calls are counted in a run of their own.\n";
}

std::string micro_table(const RaceResults& results) {
  const auto racers = results.micro_racers();
  if (racers.empty()) return "";
  std::vector<std::string> header = {"case"};
  for (const Racer* racer : racers) header.push_back(racer->key);
  const auto pairs = pairings(racers);
  for (const Pairing& pair : pairs) header.push_back(pair.title());
  TextTable table(header);
  for (const MicroCase& one : results.micro) {
    std::vector<std::string> row = {one.name};
    for (const Racer* racer : racers) {
      row.push_back(duration(summarise(samples_of(one, *racer)).median));
    }
    for (const Pairing& pair : pairs) {
      const auto comparison = compare_case(one, pair);
      row.push_back(comparison ? ratio_text(*comparison) : "");
    }
    table.add_row(row);
  }
  table.add_rule();
  std::vector<std::string> sum(1 + racers.size());
  sum.front() = "geometric mean of the ratios";
  for (const Pairing& pair : pairs) sum.push_back(ratio_number(mean_ratio(results, pair)));
  table.add_row(sum);
  return "\nMicro cases: time of one malloc with its free; medians of " +
         plural(results.options.rounds, "round") + "\n" + table.text();
}
}  // namespace

std::string data_name(const RaceOptions& options) {
  return std::filesystem::path(options.data).filename().string();
}

std::string report_text(const RaceResults& results) {
  std::string text = machine_lines(results) + trainer_table(results) + micro_table(results) +
                     "\nRatios: median and quartiles of the rounds' own; below 1 is faster. "
                     "tie: the difference is not larger than the spread.\n";
  for (const Refusal& refusal : results.refusals) {
    text += "REFUSED " + refusal.program + ": " + refusal.reason + "; its numbers are not shown\n";
  }
  return text;
}
}  // namespace drey::bench
