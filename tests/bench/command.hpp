// command.hpp: runs drey-bench or drey-run as a user does, and keeps what it said.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/child.hpp"

#include <string>
#include <utility>
#include <vector>

namespace drey::bench {
inline ChildResult run_command(std::vector<std::string> arguments,
                               std::vector<std::pair<std::string, std::string>> environment = {}) {
  ChildCommand command;
  command.arguments = std::move(arguments);
  command.environment = std::move(environment);
  command.limit_seconds = 100;
  return run_child(command);
}

/// True if `text` is one line of it.
inline bool is_one_line(const std::string& text) {
  return !text.empty() && text.find('\n') == text.size() - 1;
}
}  // namespace drey::bench
