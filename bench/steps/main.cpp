// main.cpp: drey-step-race [--rounds N] [--seconds X] [--json FILE]; see step_race.hpp.
// The program that has this one's name with -torch behind it, if there is one, races too: guest.hpp.
// Exit code 1: that one failed and has no row. The others have.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "steps/guest.hpp"
#include "steps/step_race.hpp"
#include "trainer/data/error.hpp"
#include "trainer/files/output_file.hpp"

int main(int argc, char** argv) {
  drey::bench::StepRaceOptions options;
  CLI::App app("Races gradient steps: drey on every instruction set, and a naive trainer.",
               "drey-step-race");
  app.add_option("--rounds", options.rounds, "Rounds, every racer once in each.")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", options.seconds, "Of each racer in a round.")
      ->check(CLI::Range(0.001, 60.0));
  app.add_option("--json", options.json, "Write the figures there.");
  try {
    app.parse(argc, argv);
    if (!options.json.empty()) drey::trainer::check_writable(options.json);
    options.guest = drey::bench::guest_of(std::filesystem::read_symlink("/proc/self/exe")).string();
    const drey::bench::Machine machine = drey::bench::describe_machine(argc, argv);
    const drey::bench::StepRace race = drey::bench::race_steps(options);
    std::fputs(drey::bench::step_race_text(race.racers).c_str(), stdout);
    if (!options.json.empty()) {
      drey::trainer::write_file(options.json,
                                drey::bench::step_race_json(race.racers, options, machine));
    }
    for (const std::string& refusal : race.refusals) {
      std::fprintf(stderr, "drey-step-race: no row: %s\n", refusal.c_str());
    }
    return race.refusals.empty() ? 0 : 1;
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "drey-step-race: command line: %s\n", error.what());
    return 2;
  } catch (const drey::trainer::Error& error) {
    std::fprintf(stderr, "drey-step-race: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drey-step-race: %s\n", error.what());
    return 1;
  }
}
