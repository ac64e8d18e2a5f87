// step_report.cpp: the race of step_race.hpp as a table and as JSON.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "race/statistics.hpp"
#include "steps/step_race.hpp"

namespace drey::bench {
namespace {
double median_of(const StepRacer& racer) {
  return summarise(racer.steps_per_second).median;
}

/// Median of the rounds' ratios; the naive trainer is the last one.
double ratio_to_naive(const StepRacer& racer, const std::vector<StepRacer>& racers) {
  return summarise(paired_ratios(racer.steps_per_second, racers.back().steps_per_second)).median;
}

std::string phases_text(const StepRacer& racer) {
  if (!racer.has_phases) return "";
  char text[120];
  std::snprintf(text, sizeof text, "%7.1f %8.1f %6.1f %9.1f %7.1f %6.2f", racer.phases.gather,
                racer.phases.forward, racer.phases.loss, racer.phases.backward, racer.phases.update,
                racer.act);
  return text;
}
}  // namespace

std::string step_race_text(const std::vector<StepRacer>& racers) {
  std::string text =
      "gradient steps, network 225-128-64-3, batch 128, one thread; phases in microseconds\n"
      "                         steps/s  x naive  heap/step   gather  forward   loss  backward  "
      "update    act\n";
  for (const StepRacer& racer : racers) {
    char heap[24] = "-";
    if (racer.heap_calls >= 0) std::snprintf(heap, sizeof heap, "%.1f", racer.heap_calls);
    char line[240];
    std::snprintf(line, sizeof line, "%-23s %8.0f %8.1f %10s  %s\n", racer.name.c_str(),
                  median_of(racer), ratio_to_naive(racer, racers), heap,
                  phases_text(racer).c_str());
    text += line;
  }
  return text;
}

std::string step_race_json(const std::vector<StepRacer>& racers, const StepRaceOptions& options) {
  nlohmann::json rows = nlohmann::json::array();
  for (const StepRacer& racer : racers) {
    nlohmann::json row = {{"name", racer.name},
                          {"steps_per_second", racer.steps_per_second},
                          {"median", median_of(racer)},
                          {"times_naive", ratio_to_naive(racer, racers)},
                          {"heap_calls_per_step", nullptr}};
    if (racer.heap_calls >= 0) row["heap_calls_per_step"] = racer.heap_calls;
    if (racer.has_phases) {
      row["microseconds"] = {{"gather", racer.phases.gather}, {"forward", racer.phases.forward},
                             {"loss", racer.phases.loss},     {"backward", racer.phases.backward},
                             {"update", racer.phases.update}, {"act", racer.act}};
    }
    rows.push_back(row);
  }
  const nlohmann::json json = {{"network", {225, 128, 64, 3}},
                               {"batch", 128},
                               {"rounds", options.rounds},
                               {"seconds", options.seconds},
                               {"racers", rows}};
  return json.dump(2) + "\n";
}
}  // namespace drey::bench
