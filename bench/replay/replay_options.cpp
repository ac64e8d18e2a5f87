// replay_options.cpp: see replay_options.hpp.
// SPDX-License-Identifier: MIT
#include "replay/replay_options.hpp"

#include "drey_library.hpp"
#include "race/error.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace drey::bench {
namespace {
ReplayAllocator parse_allocator(const std::string& text) {
  if (text == "system") return {text, "", false};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw BadInput("--allocator: expected NAME=LIBRARY or system, found '" + text + "'");
  }
  std::string library = text.substr(equals + 1);
  if (library.find_first_of(" :") != std::string::npos) {
    throw BadInput("--allocator: expected a library path without spaces and colons, found '" +
                   library + "'");
  }
  if (library.find('/') != std::string::npos) {
    if (access(library.c_str(), R_OK) != 0) {
      throw BadInput("--allocator: " + library + ": " + std::strerror(errno));
    }
    library = std::filesystem::absolute(library).string();
  }
  return {text.substr(0, equals), library, false};
}
}  // namespace

void add_replay(CLI::App& app, ReplayOptions& options) {
  CLI::App* const command = app.add_subcommand(
      "replay", "A recorded trace (drey-run --trace FILE) against each allocator: time and memory");
  command->add_option("TRACE", options.trace, "The trace")->required();
  command->add_option(
      "--allocator", options.allocators,
      "NAME=LIBRARY to preload, or system; again for more (drey, system, mimalloc)");
  command->add_option("--rounds", options.rounds, "Timed replays of each, interleaved (3)")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--sequential", options.sequential,
                    "All in one thread, in the order of the stamps");
  command->add_option("--json", options.json, "Write every sample and summary here");
  command->add_option("--curve", options.curve, "Write memory over the replay here, as CSV");
  command->add_option("--html", options.html, "Draw memory over the replay here");
  command->add_option("--bin-dir", options.bin_dir, "Where drey-replay is")
      ->check(CLI::ExistingDirectory);
}

std::vector<ReplayAllocator> find_allocators(const ReplayOptions& options) {
  std::vector<ReplayAllocator> allocators;
  for (const std::string& text : options.allocators) {
    allocators.push_back(parse_allocator(text));
    for (std::size_t other = 0; other + 1 < allocators.size(); ++other) {
      if (allocators[other].name == allocators.back().name) {
        throw BadInput("--allocator: expected a name once, found " + allocators[other].name +
                       " twice");
      }
    }
  }
  if (allocators.empty()) {
    allocators = {{"drey", drey_library(options.bin_dir).string(), true},
                  {"system", "", false},
                  {"mimalloc", "libmimalloc.so.2", true}};
  }
  return allocators;
}
}  // namespace drey::bench
