// command_line.hpp: argv to Config, or one line that says what is wrong with it.
// Read next: config.hpp, session.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include "trainer/program/config.hpp"

namespace drey::trainer {
enum class Request : std::uint8_t { kRun, kHelp, kVersion };

struct CommandLine {
  Request request = Request::kRun;
  Config config;
  std::set<std::string> given;  ///< hyperparameters that were on the command line, as "--lr"
  std::string help;             ///< text for Request::kHelp
};

/// Fails: ConfigError naming the option, what was expected and what was found, for every unknown,
/// repeated, missing or contradictory option and every value out of its limits.
[[nodiscard]] CommandLine parse_command_line(int argument_count, const char* const* arguments);

/// Throws ConfigError unless the options fit each other. Called again once a checkpoint has filled
/// in what the command line left out.
void check_together(const Config& config);
}  // namespace drey::trainer
