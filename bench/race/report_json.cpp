// report_json.cpp: every raw sample and every summary, for machines and for docs/results.
// Read next: report.hpp.
// SPDX-License-Identifier: MIT
#include "race/comparisons.hpp"
#include "race/report.hpp"

#include <nlohmann/json.hpp>

namespace drey::bench {
namespace {
using Json = nlohmann::ordered_json;
constexpr int kFormat = 1;

Json summary_json(const Summary& summary) {
  return {{"median", summary.median},
          {"lower_quartile", summary.lower_quartile},
          {"upper_quartile", summary.upper_quartile},
          {"count", summary.count}};
}

Json comparison_json(const Comparison& comparison) {
  Json json = summary_json(comparison.ratio);
  json["tie"] = comparison.is_tie;
  return json;
}

Json allocators_json(const RaceResults& results) {
  Json json = Json::array();
  for (const Racer& racer : results.racers) {
    Json entry = {{"key", racer.key}, {"claim", racer.claim}};
    if (racer.answer) {
      entry["active"] = {{"name", racer.answer->name},
                         {"version", racer.answer->version},
                         {"how", racer.answer->how}};
    }
    json.push_back(entry);
  }
  return json;
}

Json options_json(const RaceOptions& options) {
  Json json = {{"rounds", options.rounds},
               {"epochs", options.epochs},
               {"seed", options.seed},
               {"quick", options.quick},
               {"case_seconds", options.case_seconds},
               {"filter", options.filter}};
  if (options.max_steps) json["max_steps"] = *options.max_steps;
  if (!options.data.empty()) json["data"] = data_name(options);
  return json;
}

Json run_json(const TrainerRun& run) {
  return {{"round", run.round},
          {"wall_seconds", run.wall_seconds},
          {"cpu_seconds", run.cpu_seconds},
          {"train_seconds", run.train_seconds},
          {"gradient_steps", run.gradient_steps},
          {"gradient_steps_per_second", run.steps_per_second},
          {"peak_rss_bytes", run.peak_rss_bytes},
          {"weights_hash", run.weights_hash}};
}

Json trainer_entry_json(const TrainerEntry& entry) {
  Json json;
  for (const TrainerRun& run : entry.runs) json["runs"].push_back(run_json(run));
  if (entry.heap_calls) {
    json["heap_calls"] = {{"total", entry.heap_calls->total},
                          {"in_steps_after_warmup", entry.heap_calls->in_steps_after_warmup}};
  }
  json["cpu_seconds"] = summary_json(summarise(entry.column(&TrainerRun::cpu_seconds)));
  json["wall_seconds"] = summary_json(summarise(entry.column(&TrainerRun::wall_seconds)));
  json["gradient_steps_per_second"] =
      summary_json(summarise(entry.column(&TrainerRun::steps_per_second)));
  json["peak_rss_bytes"] = summary_json(summarise(entry.column(&TrainerRun::peak_rss_bytes)));
  return json;
}

Json trainer_json(const RaceResults& results) {
  const auto racers = results.trainer_racers();
  Json json;
  for (const Racer* racer : racers) {
    json["allocators"][racer->key] = trainer_entry_json(results.trainer.at(racer->key));
  }
  for (const Pairing& pair : pairings(racers)) {
    json["cpu_ratio"][pair.title()] = comparison_json(compare_trainers(results, pair));
  }
  json["weights_hash"] = results.common_weights_hash();
  return json;
}

Json micro_json(const RaceResults& results) {
  const auto pairs = pairings(results.micro_racers());
  Json json;
  for (const MicroCase& one : results.micro) {
    Json entry = {{"name", one.name}};
    for (const auto& [key, samples] : one.samples_ns) {
      entry["pair_ns"][key] = summary_json(summarise(samples));
      entry["pair_ns"][key]["samples"] = samples;
    }
    for (const Pairing& pair : pairs) {
      if (const auto comparison = compare_case(one, pair)) {
        entry["ratio"][pair.title()] = comparison_json(*comparison);
      }
    }
    json["cases"].push_back(entry);
  }
  for (const Pairing& pair : pairs) {
    json["geometric_mean_ratio"][pair.title()] = mean_ratio(results, pair);
  }
  return json;
}
}  // namespace

Json machine_json(const Machine& machine) {
  return {{"cpu", machine.cpu},
          {"cores", machine.cores},
          {"memory_gib", machine.memory_gib},
          {"distribution", machine.distribution},
          {"kernel", machine.kernel},
          {"compiler", machine.compiler},
          {"transparent_huge_pages", machine.transparent_huge_pages},
          {"load_before", machine.load}};
}

std::string report_json(const RaceResults& results) {
  Json json = {{"format", kFormat},
               {"kind", "race"},
               {"date", results.machine.date},
               {"command", results.machine.command},
               {"machine", machine_json(results.machine)},
               {"options", options_json(results.options)},
               {"allocators", allocators_json(results)}};
  json["refusals"] = Json::array();
  for (const Refusal& refusal : results.refusals) {
    json["refusals"].push_back({{"program", refusal.program}, {"reason", refusal.reason}});
  }
  if (!results.trainer_racers().empty()) json["trainer"] = trainer_json(results);
  if (!results.micro_racers().empty()) json["micro"] = micro_json(results);
  return json.dump(2) + "\n";
}
}  // namespace drey::bench
