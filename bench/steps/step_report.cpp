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

/// Whose steps `racer` is compared to besides; null if no guest makes steps of that kind.
const StepRacer* guest_beside(const StepRacer& racer, const std::vector<StepRacer>& racers) {
  for (const StepRacer& other : racers) {
    if (other.is_guest && other.double_dqn == racer.double_dqn) return &other;
  }
  return nullptr;
}

double ratio_to(const StepRacer& guest, const StepRacer& racer) {
  return summarise(paired_ratios(racer.steps_per_second, guest.steps_per_second)).median;
}

bool has_guests(const std::vector<StepRacer>& racers) {
  return std::any_of(racers.begin(), racers.end(),
                     [](const StepRacer& one) { return one.is_guest; });
}

/// The column "x torch"; nothing at all where none races.
std::string guest_text(const StepRacer& racer, const std::vector<StepRacer>& racers) {
  if (!has_guests(racers)) return "";
  char text[24] = "       -";
  const StepRacer* const guest = guest_beside(racer, racers);
  if (guest != nullptr) std::snprintf(text, sizeof text, "%8.2f", ratio_to(*guest, racer));
  return text;
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
      "                         steps/s  x naive";
  if (has_guests(racers)) text += " x torch";
  text += "  heap/step   gather  forward   loss  backward  update    act\n";
  for (const StepRacer& racer : racers) {
    char heap[24] = "-";
    if (racer.heap_calls >= 0) std::snprintf(heap, sizeof heap, "%.1f", racer.heap_calls);
    char line[240];
    std::snprintf(line, sizeof line, "%-23s %8.0f %8.1f%s %10s  %s\n", racer.name.c_str(),
                  median_of(racer), ratio_to_naive(racer, racers),
                  guest_text(racer, racers).c_str(), heap, phases_text(racer).c_str());
    text += line;
  }
  for (const StepRacer& racer : racers) {
    if (racer.is_guest) text += racer.name + ": " + racer.how + "\n";
  }
  return text;
}

std::string step_race_json(const std::vector<StepRacer>& racers, const StepRaceOptions& options,
                           const Machine& machine) {
  nlohmann::json rows = nlohmann::json::array();
  for (const StepRacer& racer : racers) {
    nlohmann::json row = {{"name", racer.name},
                          {"steps_per_second", racer.steps_per_second},
                          {"median", median_of(racer)},
                          {"times_naive", ratio_to_naive(racer, racers)},
                          {"heap_calls_per_step", nullptr}};
    if (racer.heap_calls >= 0) row["heap_calls_per_step"] = racer.heap_calls;
    const StepRacer* const guest = guest_beside(racer, racers);
    if (guest != nullptr) row["times_libtorch"] = ratio_to(*guest, racer);
    if (racer.is_guest) row["how"] = racer.how;
    if (racer.has_phases) {
      row["microseconds"] = {{"gather", racer.phases.gather}, {"forward", racer.phases.forward},
                             {"loss", racer.phases.loss},     {"backward", racer.phases.backward},
                             {"update", racer.phases.update}, {"act", racer.act}};
    }
    rows.push_back(row);
  }
  const nlohmann::json json = {{"format", 1},
                               {"kind", "steps"},
                               {"date", machine.date},
                               {"command", machine.command},
                               {"machine",
                                {{"cpu", machine.cpu},
                                 {"cores", machine.cores},
                                 {"compiler", machine.compiler},
                                 {"load_before", machine.load}}},
                               {"network", {225, 128, 64, 3}},
                               {"batch", 128},
                               {"rounds", options.rounds},
                               {"seconds", options.seconds},
                               {"racers", rows}};
  return json.dump(2) + "\n";
}
}  // namespace drey::bench
