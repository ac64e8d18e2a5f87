// comparisons.hpp: who is compared with whom, once for table, JSON and page.
//
// The subject is the first racer with numbers (drey, if it races); each other racer is a reference;
// ratios are subject / reference, so below 1 is better for the subject where less is better.
// Read next: comparisons.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/results.hpp"
#include "race/statistics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace drey::bench {
struct Pairing {
  const Racer* subject;
  const Racer* reference;

  /// "drey/system"
  [[nodiscard]] std::string title() const { return subject->key + "/" + reference->key; }
};

/// Subject and each reference; empty with fewer than two racers.
[[nodiscard]] std::vector<Pairing> pairings(const std::vector<const Racer*>& racers);

/// Samples of one case; empty if the racer has none.
[[nodiscard]] const std::vector<double>& samples_of(const MicroCase& one, const Racer& racer);

/// Nothing where one side has no samples.
[[nodiscard]] std::optional<Comparison> compare_case(const MicroCase& one, const Pairing& pairing);

/// Geometric mean of the cases' median ratios.
[[nodiscard]] double mean_ratio(const RaceResults& results, const Pairing& pairing);

/// CPU time of the trainers.
[[nodiscard]] Comparison compare_trainers(const RaceResults& results, const Pairing& pairing);
}  // namespace drey::bench
