// head_to_head.hpp: what was measured of drey beside any number of allocators, every sample of it;
// table, JSON and Markdown are made from this, for cases and for whole programs alike.
//
// Invariants: contenders[0] is drey, the second the system's malloc; samples of a contender are in
// the order of the rounds; less is better in every row.
// Read next: case_race.hpp, program_race.hpp, verdict.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/machine.hpp"
#include "race/results.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace drey::bench {
inline constexpr const char* kSubject = "drey";
inline constexpr const char* kSystem = "system";

/// One allocator, preloaded into the programs that measure.
struct Contender {
  std::string name;
  std::filesystem::path library;  ///< empty: the C library's malloc
  std::string version;            ///< as the user gave it: not every library says its own
  AllocatorAnswer answer;         ///< what a program with it preloaded said
};

/// What a row of drey's is held against.
struct Target {
  enum class Kind {
    kNone,        ///< shown, not judged
    kBestPeer,    ///< at most `limit` times the least of the others
    kAtMost,      ///< at most `limit`
    kOverSystem,  ///< at most `limit` more than the system's malloc
  };
  Kind kind = Kind::kNone;
  double limit = 0;
};

/// One figure of one case or program.
struct Row {
  std::string group;
  std::string name;  ///< of the case or program
  std::string unit;  ///< "ns", "s", "bytes", "%", "faults", "faults/page"
  Target target;
  bool is_shown = true;                                ///< else only in the JSON
  std::map<std::string, std::vector<double>> samples;  ///< by contender's name

  /// Ratios of it mean something: time and bytes, not percents or counts that may be zero.
  [[nodiscard]] bool has_ratios() const {
    return unit == "ns" || unit == "s" || unit == "MiB" || unit == "bytes";
  }
};

/// A sentence about many rows at once.
struct Goal {
  std::string sentence;
  std::string figure;
  bool is_met = false;
};

/// Geometric means of a set of rows, relative to the reference, by contender.
struct Mean {
  std::string title;
  std::map<std::string, double> ratios;
};

struct HeadToHead {
  std::string kind;  ///< "peers", "programs" or "pools"
  Machine machine;
  int rounds = 0;
  std::string reference;
  std::vector<std::pair<std::string, std::string>>
      settings;  ///< DREY_* of the environment, options
  std::vector<Contender> contenders;
  std::vector<Row> rows;
  std::vector<Mean> means;
  std::vector<Goal> goals;
  std::vector<Refusal> failures;  ///< what a contender could not do, and why
};
}  // namespace drey::bench
