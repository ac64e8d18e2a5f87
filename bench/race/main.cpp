// main.cpp: drey-bench: parse, run, report; the one place where errors end.
// Exit codes: 0; 1 if a racer was refused or a measurement failed; 2 if the user can mend it.
// Read next: options.hpp, race.hpp, report.hpp.
// SPDX-License-Identifier: MIT
#include "peers/peer_verbs.hpp"
#include "race/claim.hpp"
#include "race/error.hpp"
#include "race/footprint.hpp"
#include "race/format.hpp"
#include "race/options.hpp"
#include "race/output_file.hpp"
#include "race/race.hpp"
#include "race/report.hpp"
#include "replay/replay.hpp"

#include <cstdio>
#include <exception>
#include <memory>

#include <unistd.h>

namespace drey::bench {
namespace {
using MaybeFile = std::unique_ptr<OutputFile>;

MaybeFile open_output(const char* option, const std::optional<std::filesystem::path>& path) {
  return path ? std::make_unique<OutputFile>(option, *path) : nullptr;
}

int race(const RaceOptions& options, Machine machine) {
  const MaybeFile json = open_output("--json", options.json);
  const MaybeFile html = open_output("--html", options.html);
  RaceResults results;
  results.machine = std::move(machine);
  results.options = options;
  results.racers = find_racers(options);
  if (options.trainer) race_trainers(results);
  if (options.micro) race_micro(results);
  std::fputs(report_text(results).c_str(), stdout);
  if (json != nullptr) json->commit(report_json(results));
  if (html != nullptr) html->commit(report_html(results));
  return results.refusals.empty() ? 0 : 1;
}

int footprint(const FootprintOptions& options, const Machine& machine) {
  const MaybeFile json = open_output("--json", options.json);
  const Footprint measured = measure_footprint(options);
  std::fputs(footprint_text(measured, machine).c_str(), stdout);
  if (json != nullptr) json->commit(footprint_json(measured, machine));
  return 0;
}

/// Racers that are there, what they say of themselves, and the cases; nothing is an error here.
int list(const RaceOptions& options) {
  std::string program_with_cases;
  for (const char* key : {"drey", "system", "mimalloc"}) {
    const auto program = options.bin_dir / (std::string("drey-micro-") + key);
    if (access(program.c_str(), X_OK) != 0) {
      std::printf("%-20s not built\n", program.filename().c_str());
      continue;
    }
    const AllocatorAnswer answer = ask(program);
    std::printf("%-20s %s %s, %s\n", program.filename().c_str(), answer.name.c_str(),
                answer.version.c_str(), answer.how.c_str());
    program_with_cases = program.string();
  }
  for (const char* name :
       {"drey-train", "drey-train-system", "drey-train-mimalloc", "drey-train-counted-drey",
        "drey-train-counted-system", "drey-train-counted-mimalloc", "drey-footprint-probe"}) {
    const bool is_there = access((options.bin_dir / name).c_str(), X_OK) == 0;
    std::printf("%-28s %s\n", name, is_there ? "built" : "not built");
  }
  if (program_with_cases.empty()) return 0;
  std::puts("\nmicro cases:");
  for (const std::string& name : list_micro_cases(program_with_cases, options.filter)) {
    std::printf("  %s\n", name.c_str());
  }
  return 0;
}

int run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  switch (options.verb) {
    case Verb::kRace:
      return race(options.race, describe_machine(argc, argv));
    case Verb::kFootprint:
      return footprint(options.footprint, describe_machine(argc, argv));
    case Verb::kList:
      return list(options.race);
    case Verb::kPeers:
      return run_peers(options.peers, describe_machine(argc, argv));
    case Verb::kPools:
      return run_pools(options.pools, describe_machine(argc, argv));
    case Verb::kPrograms:
      return run_programs(options.programs, describe_machine(argc, argv));
    case Verb::kReplay:
      return run_replay(options.replay, describe_machine(argc, argv));
  }
  return 0;
}
}  // namespace
}  // namespace drey::bench

int main(int argc, char** argv) {
  const auto end_with = [](int code, const char* message) {
    drey::bench::show_progress("");
    std::fprintf(stderr, "drey-bench: %s\n", message);
    return code;
  };
  try {
    return drey::bench::run(argc, argv);
  } catch (const drey::bench::BadInput& error) {
    return end_with(2, error.what());
  } catch (const std::exception& error) {
    return end_with(1, error.what());
  }
}
