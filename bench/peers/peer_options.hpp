// peer_options.hpp: what the user asked of `drey-bench peers` and `drey-bench programs`.
// Read next: peer_options.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace drey::bench {
/// What both verbs share.
struct PeerOptions {
  std::vector<std::string> peers;  ///< "NAME=LIBRARY" or "NAME=LIBRARY,VERSION", as typed
  std::string reference = "system";
  int rounds = 7;
  std::string filter = ".*";  ///< of the cases' or programs' names
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> markdown;
  std::filesystem::path bin_dir;  ///< where drey-peer-cases and drey-launcher are
};

/// `drey-bench peers` and `drey-bench pools`.
struct CaseRaceOptions {
  PeerOptions common;
  std::vector<std::string> groups;  ///< empty: all
  bool big = false;                 ///< with the cases that need gigabytes
  double case_seconds = 0.1;        ///< CPU time a case, round and contender, about
};

/// `drey-bench programs`.
struct ProgramRaceOptions {
  PeerOptions common;
  std::filesystem::path folder;    ///< the programs run in it and are looked for in it
  std::filesystem::path commands;  ///< the list of them; empty: programs.txt in the folder
};

void add_peers(CLI::App& app, CaseRaceOptions& options);
void add_pools(CLI::App& app, CaseRaceOptions& options);
void add_programs(CLI::App& app, ProgramRaceOptions& options);
}  // namespace drey::bench
