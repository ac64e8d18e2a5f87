// peer_options.cpp: see peer_options.hpp.
// SPDX-License-Identifier: MIT
#include "peers/peer_options.hpp"

#include <CLI/CLI.hpp>

namespace drey::bench {
namespace {
void add_common(CLI::App* command, PeerOptions& options) {
  command->add_option("--peer", options.peers,
                      "NAME=LIBRARY.so[,VERSION]: one more allocator; repeatable");
  command->add_option("--reference", options.reference,
                      "Whose figures geometric means are relative to (system)");
  command->add_option("--rounds", options.rounds, "Rounds, interleaved (7)")
      ->check(CLI::Range(1, 1000));
  command->add_option("--filter", options.filter, "Regular expression of names");
  command->add_option("--json", options.json, "Write every sample and verdict here");
  command->add_option("--markdown", options.markdown, "Write the tables here, as Markdown");
  command->add_option("--bin-dir", options.bin_dir, "Where the programs are (beside drey-bench)")
      ->check(CLI::ExistingDirectory);
}

void add_choice_of_cases(CLI::App* command, CaseRaceOptions& options, const char* help) {
  command->add_option("--group", options.groups, help)->delimiter(',');
  command->add_option("--case-seconds", options.case_seconds, "CPU time a case and round (0.1)")
      ->check(CLI::Range(0.001, 60.0));
}
}  // namespace

void add_peers(CLI::App& app, CaseRaceOptions& options) {
  CLI::App* const command = app.add_subcommand(
      "peers", "drey, the system's malloc and any allocator library, case by case");
  add_common(command, options.common);
  add_choice_of_cases(command, options, "Only these groups of cases: pair,large,...");
  command->add_flag("--big", options.big, "With the cases that need gigabytes");
}

void add_pools(CLI::App& app, CaseRaceOptions& options) {
  CLI::App* const command = app.add_subcommand(
      "pools", "drey's pools, other libraries' pools and plain malloc, case by case");
  add_common(command, options.common);
  add_choice_of_cases(command, options, "Only these groups of cases: vector,...");
}

void add_programs(CLI::App& app, ProgramRaceOptions& options) {
  CLI::App* const command = app.add_subcommand(
      "programs", "Whole programs under drey, the system's malloc and any allocator library");
  add_common(command, options.common);
  command->add_option("--programs", options.folder, "The folder the programs are in")
      ->required()
      ->check(CLI::ExistingDirectory);
  command->add_option("--commands", options.commands,
                      "The list of programs (programs.txt in that folder)");
}
}  // namespace drey::bench
