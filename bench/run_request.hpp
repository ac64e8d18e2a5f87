// run_request.hpp: what drey-run was asked for.
// Read next: run_request.cpp for the switches, drey_run.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drey::bench {
/// The command line makes no sense; the text is one line.
struct Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class RunVerb { kRun, kHelp, kVersion };

struct RunRequest {
  RunVerb verb = RunVerb::kRun;
  bool verbose = false;
  std::string library;  ///< a file beside libdrey.so to preload instead; empty: itself
  std::vector<std::pair<std::string, std::string>> variables;  ///< to set for the program
  char** program = nullptr;                                    ///< its arguments follow, then null
};

/// Reads drey-run's own switches up to the program's name. Throws Misuse.
[[nodiscard]] RunRequest parse_run_request(char** arguments);

/// "usage: ..." and a line a switch.
[[nodiscard]] std::string run_usage();
}  // namespace drey::bench
