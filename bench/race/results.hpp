// results.hpp: what a race measured, every sample of it; tables, JSON and page are made from this.
//
// Invariants: samples of a racer are in the order of the rounds; a refused racer has no samples.
// Read next: race.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/machine.hpp"
#include "race/options.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace drey::bench {
/// What a process said of its own malloc.
struct AllocatorAnswer {
  std::string name;
  std::string version;
  std::string how;
};

/// One allocator in the race, with the programs that carry it.
struct Racer {
  std::string key;    ///< "drey", "system" or "mimalloc"
  std::string claim;  ///< the name its programs must give: "drey", "glibc" or "mimalloc"
  std::filesystem::path trainer;
  std::filesystem::path counted_trainer;
  std::filesystem::path micro;
  std::optional<AllocatorAnswer> answer;

  /// "drey 0.1.0", "system (glibc 2.36)"
  [[nodiscard]] std::string title() const;
};

/// A program whose numbers are not shown, and why.
struct Refusal {
  std::string program;
  std::string reason;
};

/// One run of a trainer.
struct TrainerRun {
  int round = 0;
  double wall_seconds = 0;  ///< of the whole process
  double cpu_seconds = 0;   ///< of the whole process, user and system
  double train_seconds = 0;
  double steps_per_second = 0;
  std::uint64_t gradient_steps = 0;
  std::uint64_t peak_rss_bytes = 0;  ///< VmHWM as the trainer reads it
  std::string weights_hash;
};

struct HeapCalls {
  std::uint64_t total = 0;
  std::uint64_t in_steps_after_warmup = 0;
};

struct TrainerEntry {
  std::vector<TrainerRun> runs;
  std::optional<HeapCalls> heap_calls;

  /// One field of every run, as numbers.
  template <typename Field>
  [[nodiscard]] std::vector<double> column(Field TrainerRun::*field) const {
    std::vector<double> values;
    for (const TrainerRun& run : runs) values.push_back(static_cast<double>(run.*field));
    return values;
  }
};

/// A micro case: nanoseconds a pair, by racer's key, a sample a round.
struct MicroCase {
  std::string name;
  std::map<std::string, std::vector<double>> samples_ns;
};

struct RaceResults {
  Machine machine;
  RaceOptions options;
  std::vector<Racer> racers;
  std::vector<Refusal> refusals;
  std::map<std::string, TrainerEntry> trainer;  ///< by racer's key
  std::vector<MicroCase> micro;                 ///< in the order of the program

  /// Racers with numbers in the trainer's race, in order.
  [[nodiscard]] std::vector<const Racer*> trainer_racers() const;
  /// Racers with numbers in the micro cases, in order.
  [[nodiscard]] std::vector<const Racer*> micro_racers() const;
  /// The hash all trainers ended with; empty if none ran. Fails: RaceFailed if they differ.
  [[nodiscard]] std::string common_weights_hash() const;
};
}  // namespace drey::bench
