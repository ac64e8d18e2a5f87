// options.cpp: the command line, by CLI11. Its messages are cut to one line.
// Read next: options.hpp.
// SPDX-License-Identifier: MIT
#include "race/options.hpp"

#include "race/error.hpp"

#include <drey/base/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <regex>

#include <unistd.h>

namespace drey::bench {
namespace {
/// The folder this program lies in: its siblings are there.
std::filesystem::path own_folder() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path(".") : self.parent_path();
}

void add_race(CLI::App& app, RaceOptions& race, std::string& only) {
  CLI::App* const command = app.add_subcommand("race", "Trainer and micro cases, head to head");
  command->add_option("--rounds", race.rounds, "Rounds, interleaved (5; 3 with --quick)")
      ->check(CLI::Range(1, 1000));
  command->add_option("--data", race.data, "Bars for the trainer: a file, or synthetic:ROWS:SEED");
  command->add_option("--epochs", race.epochs, "Passed to the trainer (1)")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--max-steps", race.max_steps,
                   "Passed to the trainer: it ends there at the latest")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", race.seed, "Passed to the trainer (1)");
  command->add_flag("--quick", race.quick, "Fewer rounds and cases: a first impression");
  command->add_option("--json", race.json, "Write every sample and summary here");
  command->add_option("--html", race.html, "Write one self-contained page with plots here");
  command->add_option("--only", only, "trainer or micro")
      ->check(CLI::IsMember({"trainer", "micro"}));
  command->add_option("--filter", race.filter, "Regular expression of micro cases");
  command
      ->add_option("--case-seconds", race.case_seconds, "Time for each micro case and round (0.05)")
      ->check(CLI::Range(0.001, 60.0));
  command->add_option("--bin-dir", race.bin_dir, "Where the racers are (beside drey-bench)")
      ->check(CLI::ExistingDirectory);
  command->add_option("--allocators", race.allocators, "Who races (drey,system,mimalloc)")
      ->delimiter(',')
      ->check(CLI::IsMember({"drey", "system", "mimalloc"}));
}

void add_footprint(CLI::App& app, FootprintOptions& footprint) {
  CLI::App* const command = app.add_subcommand(
      "footprint", "Resting memory of a trivial program, and what 64 MiB of 900-byte blocks cost");
  command->add_option("--rounds", footprint.rounds, "Runs of each; medians are shown (3)")
      ->check(CLI::Range(1, 1000));
  command->add_option("--json", footprint.json, "Write every sample here");
  command->add_option("--bin-dir", footprint.bin_dir, "Where drey-footprint-probe is")
      ->check(CLI::ExistingDirectory);
}

/// CLI11 writes some messages over several lines.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

void check_filter(const std::string& filter) {
  try {
    const std::regex compiled(filter);
  } catch (const std::regex_error& error) {
    throw BadInput("--filter: expected a regular expression, found '" + filter +
                   "': " + error.what());
  }
}

/// Trainers run in a folder of their own: makes a file's path absolute, and looks for it now.
void complete_data(std::string& data) {
  if (data.empty()) {
    throw BadInput("race: expected --data FILE.csv for the trainer (or --only micro), found none");
  }
  if (data.rfind("synthetic:", 0) == 0) return;  // bars the trainer makes itself
  if (access(data.c_str(), R_OK) != 0) {
    throw BadInput("--data: expected a readable file, found '" + data +
                   "': " + std::strerror(errno));
  }
  data = std::filesystem::absolute(data).string();
}

/// What depends on several options together.
void complete(const CLI::App& app, const std::string& only, RaceOptions& race) {
  const CLI::App* const command = app.get_subcommand("race");
  race.trainer = only != "micro";
  race.micro = only != "trainer";
  if (race.quick && command->count("--rounds") == 0) race.rounds = 3;
  if (race.quick && command->count("--case-seconds") == 0) race.case_seconds = 0.02;
  check_filter(race.filter);
  std::sort(race.allocators.begin(), race.allocators.end());  // drey, mimalloc, system
  const auto end = std::unique(race.allocators.begin(), race.allocators.end());
  race.allocators.erase(end, race.allocators.end());
  if (command->parsed() && race.trainer) complete_data(race.data);
}
}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  options.race.bin_dir = own_folder();
  options.footprint.bin_dir = own_folder();
  options.peers.common.bin_dir = own_folder();
  options.pools.common.bin_dir = own_folder();
  options.programs.common.bin_dir = own_folder();
  options.replay.bin_dir = own_folder();
  std::string only;
  CLI::App app("Races drey against the system's malloc and mimalloc, each in its own program.");
  app.set_version_flag("--version", std::string("drey-bench ") + kVersionText);
  app.require_subcommand(1);
  add_race(app, options.race, only);
  add_footprint(app, options.footprint);
  add_peers(app, options.peers);
  add_pools(app, options.pools);
  add_programs(app, options.programs);
  add_replay(app, options.replay);
  app.add_subcommand("list", "The racers, whose malloc each really has, and the micro cases");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      std::exit(app.exit(error));
    }
    throw BadInput(one_line(error.what()));
  }
  complete(app, only, options.race);
  check_filter(options.peers.common.filter);
  check_filter(options.pools.common.filter);
  check_filter(options.programs.common.filter);
  if (app.got_subcommand("footprint")) options.verb = Verb::kFootprint;
  if (app.got_subcommand("list")) options.verb = Verb::kList;
  if (app.got_subcommand("peers")) options.verb = Verb::kPeers;
  if (app.got_subcommand("pools")) options.verb = Verb::kPools;
  if (app.got_subcommand("programs")) options.verb = Verb::kPrograms;
  if (app.got_subcommand("replay")) options.verb = Verb::kReplay;
  return options;
}
}  // namespace drey::bench
