// results.cpp: see results.hpp.
// SPDX-License-Identifier: MIT
#include "race/results.hpp"

#include "race/error.hpp"

#include <algorithm>

namespace drey::bench {
std::string Racer::title() const {
  if (!answer) return key;
  const std::string real = answer->name + (answer->version.empty() ? "" : " " + answer->version);
  return key == answer->name ? real : key + " (" + real + ")";
}

std::vector<const Racer*> RaceResults::trainer_racers() const {
  std::vector<const Racer*> found;
  for (const Racer& racer : racers) {
    const auto entry = trainer.find(racer.key);
    if (entry != trainer.end() && !entry->second.runs.empty()) found.push_back(&racer);
  }
  return found;
}

std::vector<const Racer*> RaceResults::micro_racers() const {
  std::vector<const Racer*> found;
  for (const Racer& racer : racers) {
    const auto has_samples = [&](const MicroCase& one) {
      return one.samples_ns.find(racer.key) != one.samples_ns.end();
    };
    if (std::any_of(micro.begin(), micro.end(), has_samples)) found.push_back(&racer);
  }
  return found;
}

std::string RaceResults::common_weights_hash() const {
  std::string common;
  std::string first_key;
  for (const auto& [key, entry] : trainer) {
    for (const TrainerRun& run : entry.runs) {
      if (common.empty()) {
        common = run.weights_hash;
        first_key = key;
      }
      if (run.weights_hash == common) continue;
      std::string what = "weights differ: ";
      what += first_key;
      what.append(" ended with ").append(common).append(", ").append(key).append(" with ");
      what.append(run.weights_hash).append(" in round ").append(std::to_string(run.round));
      throw RaceFailed(what + "; the trainers did not do the same work");
    }
  }
  return common;
}
}  // namespace drey::bench
