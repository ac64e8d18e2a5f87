// options.hpp: what the user asked for. Defaults and their reasons stand beside each.
// Read next: options.cpp, main.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/peer_options.hpp"
#include "replay/replay_options.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace drey::bench {
/// `drey-bench race`.
struct RaceOptions {
  int rounds = 5;    ///< five show a spread; three with --quick
  std::string data;  ///< bars for the trainer: a path, absolute, or "synthetic:ROWS:SEED"
  int epochs = 1;
  std::optional<std::int64_t> max_steps;

  std::uint64_t seed = 1;
  bool quick = false;
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> html;
  bool trainer = true;
  bool micro = true;
  std::string filter = ".*";      ///< of micro cases
  double case_seconds = 0.05;     ///< at least this long a case and round; 0.02 with --quick
  std::filesystem::path bin_dir;  ///< where the racers are; drey-bench's own folder
  std::vector<std::string> allocators = {"drey", "system", "mimalloc"};
};

/// `drey-bench footprint`.
struct FootprintOptions {
  int rounds = 3;
  std::optional<std::filesystem::path> json;
  std::filesystem::path bin_dir;
};

enum class Verb { kRace, kFootprint, kList, kPeers, kPools, kPrograms, kReplay };

struct Options {
  Verb verb = Verb::kRace;
  RaceOptions race;
  FootprintOptions footprint;
  CaseRaceOptions peers;
  CaseRaceOptions pools;
  ProgramRaceOptions programs;
  ReplayOptions replay;
};

/// Prints help or the version and exits with 0 when asked to.
/// Fails: BadInput with one line naming the option, what was expected and what was found.
[[nodiscard]] Options parse_options(int argc, char** argv);
}  // namespace drey::bench
