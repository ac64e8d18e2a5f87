// command_line.hpp: argv to Config, or one line that says what is wrong with it.
// Read next: config.hpp, config_file.hpp, session.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include "trainer/program/config.hpp"

namespace drey::trainer {
enum class Request : std::uint8_t { kRun, kHelp, kVersion, kDumpConfig };

struct CommandLine {
  Request request = Request::kRun;
  Config config;
  /// Options that were on the command line or in the file of --config, as "--lr".
  std::set<std::string> given;
  std::string help;  ///< text for Request::kHelp
};

/// Fails: ConfigError naming the option, what was expected and what was found, for every unknown,
/// repeated, missing or contradictory option and every value out of its limits; ConfigError or
/// SystemError naming the file of --config. What the command line says wins over that file.
[[nodiscard]] CommandLine parse_command_line(int argument_count, const char* const* arguments);

/// Throws ConfigError unless the options fit each other. Called again once a checkpoint has filled
/// in what the command line left out.
void check_together(const Config& config);

/// Throws a ConfigError: "option O: expected E, found F".
[[noreturn]] void refuse_option(const std::string& option, const std::string& expected,
                                const std::string& found);
}  // namespace drey::trainer
