// comparisons.cpp: see comparisons.hpp.
// SPDX-License-Identifier: MIT
#include "race/comparisons.hpp"

namespace drey::bench {
std::vector<Pairing> pairings(const std::vector<const Racer*>& racers) {
  std::vector<Pairing> found;
  for (std::size_t place = 1; place < racers.size(); ++place) {
    found.push_back({racers.front(), racers[place]});
  }
  return found;
}

const std::vector<double>& samples_of(const MicroCase& one, const Racer& racer) {
  static const std::vector<double> none;
  const auto found = one.samples_ns.find(racer.key);
  return found == one.samples_ns.end() ? none : found->second;
}

std::optional<Comparison> compare_case(const MicroCase& one, const Pairing& pairing) {
  const auto& ours = samples_of(one, *pairing.subject);
  const auto& theirs = samples_of(one, *pairing.reference);
  if (ours.empty() || theirs.empty()) return std::nullopt;
  return compare(ours, theirs, kCaseDifferenceMin);
}

double mean_ratio(const RaceResults& results, const Pairing& pairing) {
  std::vector<double> ratios;
  for (const MicroCase& one : results.micro) {
    if (const auto comparison = compare_case(one, pairing)) {
      ratios.push_back(comparison->ratio.median);
    }
  }
  return geometric_mean(ratios);
}

Comparison compare_trainers(const RaceResults& results, const Pairing& pairing) {
  const auto cpu_of = [&](const Racer* racer) {
    return results.trainer.at(racer->key).column(&TrainerRun::cpu_seconds);
  };
  return compare(cpu_of(pairing.subject), cpu_of(pairing.reference));
}
}  // namespace drey::bench
